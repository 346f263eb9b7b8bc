# SPDX-License-Identifier: Apache-2.0
"""replay_lib - captures and export datagrams for the end-to-end tests of `whoflow replay`. Stdlib only."""
import gzip
import json
import os
import struct
import subprocess

V4_EXPORTER, V4_COLLECTOR = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
START = 1700000000


# ---- export datagrams ----
def v9(sequence, sets, domain=7, count=1):
    return struct.pack('!HHIIII', 9, count, 60000, START, sequence, domain) + b''.join(sets)


def flow_set(ident, body):
    return struct.pack('!HH', ident, 4 + len(body)) + body


def template(ident, fields):
    return flow_set(0, struct.pack('!HH', ident, len(fields)) + b''.join(struct.pack('!HH', *f) for f in fields))


FIELDS = [(8, 4), (12, 4), (7, 2), (11, 2), (4, 1), (1, 4), (2, 4)]


def record(n):
    return struct.pack('!4s4sHHBII', bytes([10, 0, n >> 8 & 255, n & 255]), bytes([10, 1, 0, 1]), 40000 + n % 20000, 443, 6,
                       n * 100, n)


def data(ident, first, n):
    return flow_set(ident, b''.join(record(first + i) for i in range(n)))


def export(n_datagrams, n_records=10, ident=256):
    """Template first, then datagrams of n_records each."""
    datagrams = [v9(0, [template(ident, FIELDS)])]
    for i in range(n_datagrams):
        datagrams.append(v9(i + 1, [data(ident, i * n_records, n_records)], count=n_records))
    return datagrams


# ---- frames ----
def udp(payload, sport=50000, dport=2055):
    return struct.pack('!HHHH', sport, dport, 8 + len(payload), 0) + payload


def ipv4(body, protocol=17, ident=1, offset=0, more=False):
    return struct.pack('!BBHHHBBH4s4s', 0x45, 0, 20 + len(body), ident, offset // 8 | (0x2000 if more else 0), 64, protocol, 0,
                       V4_EXPORTER, V4_COLLECTOR) + body


def ethernet(packet, ether_type=0x0800, tags=b''):
    return b'\x02\0\0\0\0\x02\x02\0\0\0\0\x01' + tags + struct.pack('!H', ether_type) + packet


def frames_of(datagrams, **kw):
    return [ethernet(ipv4(udp(d, **kw))) for d in datagrams]


def fragments(datagram, ident, size=1000):
    body = udp(datagram)
    pieces = range(0, len(body), size)
    return [ethernet(ipv4(body[at:at + size], ident=ident, offset=at, more=at + size < len(body))) for at in pieces]


# ---- capture files ----
def pcap(frames, link=1, order='<', nanoseconds=False, gap_ns=1000000, snap=None):
    out = [struct.pack(order + 'IHHIIII', 0xa1b23c4d if nanoseconds else 0xa1b2c3d4, 2, 4, 0, 0, 262144, link)]
    for i, frame in enumerate(frames):
        seconds, ns = divmod(i * gap_ns, 10 ** 9)
        kept = frame[:snap]
        out.append(struct.pack(order + 'IIII', START + seconds, ns if nanoseconds else ns // 1000, len(kept), len(frame)) + kept)
    return b''.join(out)


def pcapng(frames, gap_ns=1000000):
    def block(kind, body):
        return struct.pack('<II', kind, 12 + len(body)) + body + struct.pack('<I', 12 + len(body))
    out = [block(0x0a0d0d0a, struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1)),
           block(1, struct.pack('<HHI', 1, 0, 262144) + struct.pack('<HHB3xHH', 9, 1, 9, 0, 0))]
    for i, frame in enumerate(frames):
        ns = START * 10 ** 9 + i * gap_ns
        body = struct.pack('<IIIII', 0, ns >> 32, ns & 0xffffffff, len(frame), len(frame)) + frame
        out.append(block(6, body + b'\0' * (-len(body) % 4)))
    return b''.join(out)


def lz4(octets):
    """A frame of stored blocks of 64 KiB."""
    out = [bytes.fromhex('04224d18604082')]
    for at in range(0, len(octets), 65536):
        block = octets[at:at + 65536]
        out.append(struct.pack('<I', len(block) | 0x80000000) + block)
    return b''.join(out) + b'\0\0\0\0'


def packed(octets):
    return gzip.compress(octets, mtime=0)


# ---- the program ----
class Whoflow:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, octets):
        with open(self.path(name), 'wb') as f:
            f.write(octets)
        return self.path(name)

    def command(self, *args):
        return [self.program, 'replay', '--format', 'flat', *args]

    def replay(self, *args, stdin=b'', timeout=120):
        """(exit code, stdout, stderr)"""
        run = subprocess.run(self.command(*args), input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                             check=False)
        return run.returncode, run.stdout, run.stderr.decode()

    def stats(self, *args):
        """(exit code, stdout, the ledger)"""
        code, out, _ = self.replay('--stats-file', self.path('stats.json'), *args)
        with open(self.path('stats.json'), encoding='utf-8') as f:
            return code, out, json.load(f)
