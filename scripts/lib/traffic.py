#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traffic - writes a small capture of everyday traffic between documentation addresses, for exporters to watch.

    traffic.py OUT.pcap                       DNS look-ups, web pages, SSH, NTP, ping; IPv4 and IPv6
    traffic.py --late IN.pcap OUT.pcap        the same frames, the export datagrams with templates (v9, IPFIX) moved to the end

Deterministic; packet times start at 2024-01-15 09:00 UTC. Stdlib only.
"""
import ipaddress
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tests', 'corpus'))
from pcapfile import Pcap  # noqa: E402

START = 1705309200.0


def checksum(data):
    if len(data) & 1:
        data += b'\0'
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Writer:
    def __init__(self, path):
        self.file = open(path, 'wb')
        self.file.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        self.frames = []

    def ip(self, when, src, dst, proto, segment, offset):
        """One packet; the checksum of the segment goes to offset (None: none)."""
        a, b = ipaddress.ip_address(src), ipaddress.ip_address(dst)
        pseudo = a.packed + b.packed
        if a.version == 4:
            pseudo += struct.pack('!BBH', 0, proto, len(segment))
        else:
            pseudo += struct.pack('!IBBBB', len(segment), 0, 0, 0, proto)
        if offset is not None:
            covered = segment if proto == 1 else pseudo + segment
            segment = segment[:offset] + struct.pack('!H', checksum(covered)) + segment[offset + 2:]
        if a.version == 4:
            head = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 20 + len(segment), 1, 0x4000, 64, proto, 0, a.packed, b.packed)
            head = head[:10] + struct.pack('!H', checksum(head)) + head[12:]
            kind = 0x0800
        else:
            head = struct.pack('!IHBB16s16s', 0x60000000, len(segment), proto, 64, a.packed, b.packed)
            kind = 0x86dd
        self.frames.append((when, struct.pack('!6s6sH', b'\x02\0\0\0\0\x01', b'\x02\0\0\0\0\x02', kind) + head + segment))

    def udp(self, when, src, sport, dst, dport, size):
        self.ip(when, src, dst, 17, struct.pack('!HHHH', sport, dport, 8 + size, 0) + bytes(size), 6)

    def tcp(self, when, src, sport, dst, dport, flags, size=0):
        self.ip(when, src, dst, 6, struct.pack('!HHIIBBHHH', sport, dport, 1, 1, 0x50, flags, 65535, 0, 0) + bytes(size), 16)

    def ping(self, when, src, dst, sequence):
        six = ':' in src
        for kind, (a, b) in (((128 if six else 8), (src, dst)), ((129 if six else 0), (dst, src))):
            self.ip(when, a, b, 58 if six else 1, struct.pack('!BBHHH', kind, 0, 0, 7, sequence) + bytes(56), 2)
            when += 0.011

    def session(self, when, client, sport, server, dport, exchanges):
        """A TCP connection: handshake, (request, response) sizes, end."""
        self.tcp(when, client, sport, server, dport, 0x02)
        self.tcp(when + .01, server, dport, client, sport, 0x12)
        self.tcp(when + .02, client, sport, server, dport, 0x10)
        at = when + .03
        for request, response in exchanges:
            self.tcp(at, client, sport, server, dport, 0x18, request)
            at += .02
            while response > 0:
                self.tcp(at, server, dport, client, sport, 0x18, min(response, 1400))
                response -= 1400
                at += .002
            at += .15
        self.tcp(at, client, sport, server, dport, 0x11)
        self.tcp(at + .01, server, dport, client, sport, 0x11)

    def close(self):
        for when, frame in sorted(self.frames, key=lambda f: f[0]):
            self.file.write(struct.pack('<IIII', int(when), int(when % 1 * 1000000), len(frame), len(frame)) + frame)
        self.file.close()


def everyday(path):
    w = Writer(path)
    laptop, phone, resolver, web, git = '192.0.2.20', '192.0.2.21', '192.0.2.53', '198.51.100.80', '203.0.113.22'
    laptop6, web6, resolver6 = '2001:db8:1::20', '2001:db8:2::80', '2001:db8:1::53'
    t = START
    for i in range(12):
        w.udp(t + i * 1.3, laptop, 40000 + i, resolver, 53, 31 + i)
        w.udp(t + i * 1.3 + .02, resolver, 53, laptop, 40000 + i, 90 + 7 * i)
    for i in range(3):
        w.udp(t + i * 3.3, laptop6, 41000 + i, resolver6, 53, 33)
        w.udp(t + i * 3.3 + .02, resolver6, 53, laptop6, 41000 + i, 120)
    w.session(t + 1, laptop, 51000, web, 443, [(517, 4200), (380, 14000), (410, 52000)])
    w.session(t + 2, laptop, 51001, web, 443, [(517, 4200), (350, 9000)])
    w.session(t + 4, phone, 52000, web, 80, [(210, 3100)])
    w.session(t + 3, laptop6, 51100, web6, 443, [(517, 4300), (390, 22000)])
    w.session(t + 5, laptop, 51002, git, 22, [(48, 64)] * 12)
    for i in range(4):
        w.ping(t + 6 + i, laptop, web, i)
    w.ping(t + 7, laptop6, web6, 1)
    w.udp(t + 9, laptop, 123, '198.51.100.123', 123, 48)
    w.udp(t + 9.03, '198.51.100.123', 123, laptop, 123, 48)
    w.close()


def carries_templates(payload):
    version = struct.unpack_from('!H', payload)[0]
    at = {9: 20, 10: 16}.get(version)
    while at is not None and at + 4 <= len(payload):
        ident, length = struct.unpack_from('!HH', payload, at)
        if ident < 4:
            return True
        if length < 4:
            break
        at += length
    return False


def late(path_in, path_out):
    """Data datagrams that share a frame with their template can not be told apart, so only pure data moves ahead."""
    capture = Pcap(path_in)
    link = struct.unpack(capture.endian + 'I', capture.head[20:24])[0]
    skip = {1: 14, 113: 16, 276: 20, 101: 0}[link] + 28
    order = sorted(range(len(capture.frames)), key=lambda i: carries_templates(capture.frames[i][1][skip:]))
    capture.write(path_out, order)


if __name__ == '__main__':
    if sys.argv[1] == '--late':
        late(sys.argv[2], sys.argv[3])
    else:
        everyday(sys.argv[1])
