#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replay - `whoflow replay` from the outside: exit codes, formats, order, signals, --send.

    replay.py PROGRAM [CASE...]

Each function case_NAME is one test. Prints `N passed, N failed`; exit 1 when one failed. Stdlib only.
"""
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay_lib import (FIELDS, START, Whoflow, data, ethernet, export, flow_set, fragments, frames_of, ipv4, lz4, packed,  # noqa: E402
                        pcap, pcapng, template, udp, v9)


def equal(got, want, what=''):
    if got != want:
        raise AssertionError('%s: got %.300r, expected %.300r' % (what, got, want))


def holds(text, part):
    if part not in text:
        raise AssertionError('%r is not in %r' % (part, text))


def frames_add_up(stats):
    equal(stats['frames'], stats['datagrams_received'] + stats['frames_other'] + stats['frames_broken'] +
          stats['fragments_joined'] + stats['fragments_lost'], 'frames')


def wait_for(what, seconds=30):
    """Polls; a bound against hanging, no statement on speed."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError('waited in vain')
        time.sleep(0.02)


# ---- exit codes, each with its message ----
def case_good_capture_is_0_and_quiet(w):
    path = w.file('good.pcap', pcap(frames_of(export(5))))
    code, out, err = w.replay(path)
    equal((code, out.count(b'\n')), (0, 50))
    holds(err, '50')
    equal(w.replay('--no-summary', path), (0, out, ''))


def case_no_file_is_a_usage_error(w):
    code, out, err = w.replay()
    equal((code, out), (2, b''))
    holds(err, 'whoflow replay')


def case_what_is_no_capture_is_65(w):
    for name, octets, word in (('text.pcap', b'this is no capture, whatever its name says\n' * 10, 'pcap'),
                               ('empty.pcap', b'', 'empty'),
                               ('text.pcap.gz', packed(b'no capture in here either\n' * 10), 'pcap'),
                               ('other.pcap.zst', bytes.fromhex('28b52ffd') + bytes(60), 'zstd -dc')):
        code, out, err = w.replay(w.file(name, octets))
        equal((code, out), (65, b''), name)
        holds(err, name)
        holds(err, word)
    code, _, err = w.replay(w.path('missing.pcap'))
    equal((code, err), (65, 'whoflow: %s: can not be read: No such file or directory\n' % w.path('missing.pcap')))  # no account
    code, _, err = w.replay(w.folder)
    equal(code, 65)
    holds(err, 'directory')
    code, _, err = w.replay(w.file('wifi.pcap', pcap(frames_of(export(1)), link=105)))
    equal(code, 65)
    holds(err, 'link type')


def case_unreadable_file_is_77(w):
    path = w.file('secret.pcap', pcap(frames_of(export(1))))
    os.chmod(w.folder, 0o755)
    os.chmod(path, 0)
    user = 65534 if os.geteuid() == 0 else None  # root may read everything
    run = subprocess.run(w.command(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, user=user)
    equal((run.returncode, run.stdout), (77, b''))
    holds(run.stderr.decode(), 'secret.pcap')


def case_capture_without_flows_is_1_and_tells_what_was_seen(w):
    dns = ethernet(ipv4(udp(b'\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03www\0\0\x01\0\x01', dport=53)))
    arp = ethernet(bytes(28), ether_type=0x0806)
    code, out, err = w.replay('--no-summary', w.file('dns.pcap', pcap([dns] * 3 + [arp] * 2)))
    equal((code, out), (1, b''))
    for part in ('5 frames', '3 UDP', 'port 53', '--port'):
        holds(err, part)
    code, _, err = w.replay('--port', '9999', w.file('good.pcap', pcap(frames_of(export(2)))))
    equal(code, 1)
    holds(err, '9999')
    holds(err, '2055')
    code, _, err = w.replay(w.file('only.pcap', pcap(frames_of(export(0)))))
    equal(code, 1)
    holds(err, 'template')


def case_truncated_capture_is_3_and_keeps_what_was_good(w):
    whole = pcap(frames_of(export(20)))
    for name, octets in (('a.pcap', whole[:-7]), ('b.pcap.gz', packed(whole)[:-9]), ('c.pcap.lz4', lz4(whole)[:-30]),
                         ('d.pcapng', pcapng(frames_of(export(20)))[:-5])):
        code, out, err = w.replay('--no-summary', w.file(name, octets))
        equal(code, 3, name)
        equal(out.count(b'\n') in (190, 200), True, name)
        holds(err, name)
    for name, octets in (('e.pcap', whole[:20]), ('f.pcap.gz', packed(whole)[:14]), ('g.pcap.lz4', lz4(whole)[:9]),
                         ('h.pcap.lz4', lz4(whole)[:40]), ('i.pcap.lz4', lz4(whole)[:5])):
        code, _, err = w.replay(w.file(name, octets))
        equal(code, 3, name)
        holds(err, 'cut short')


def case_sets_without_template_are_3_and_named(w):
    path = w.file('lone.pcap', pcap(frames_of([v9(1, [data(300, 0, 4)], domain=77)])))
    code, out, err = w.replay('--no-summary', path)
    equal((code, out), (3, b''))
    holds(err, '192.0.2.1')
    holds(err, '77')
    holds(err, 'template')


def case_frames_cut_by_the_snap_length_are_3(w):
    path = w.file('snap.pcap', pcap(frames_of(export(3)), snap=120))
    code, _, err = w.replay('--no-summary', path)
    equal(code, 3)
    holds(err, 'cut short')


def case_output_that_can_not_be_opened_is_69_or_77(w):
    path = w.file('good.pcap', pcap(frames_of(export(1))))
    code, _, err = w.replay('-o', 'file:' + w.path('no/such/folder/x'), path)
    equal(code in (69, 77), True, 'exit code %d' % code)
    holds(err, 'no/such/folder')


def case_full_disk_is_3_and_told(w):
    if not os.path.exists('/dev/full'):
        print('   (not checked: no /dev/full)')
        return
    path = w.file('good.pcap', pcap(frames_of(export(10))))
    with open('/dev/full', 'wb') as full:
        run = subprocess.run(w.command('--no-summary', path), stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    equal(run.returncode, 3)
    holds(run.stderr.decode(), 'output stdout: 100 documents could not be written: No space left on device')
    code, _, err = w.replay('--no-summary', '-o', 'file:/dev/full', path)
    equal(code, 3)
    holds(err, 'output /dev/full: 100 documents could not be written: No space left on device; make room or choose another place')


def case_several_files_go_on_and_the_worst_code_wins(w):
    frames = frames_of(export(20))
    first = w.file('1.pcap', pcap(frames[:11]))
    second = w.file('2.pcapng.gz', packed(pcapng(frames[11:])))
    bad = w.file('bad.pcap', b'nonsense of no use')
    cut = w.file('cut.pcap', pcap(frames)[:-3])
    code, out, _ = w.replay(first, second)
    equal((code, out.count(b'\n')), (0, 200))
    code, again, err = w.replay(first, bad, second)
    equal(code, 65)
    equal(len(again.splitlines()), 200)
    holds(err, 'bad.pcap')
    equal(w.replay(bad, cut)[0], 65)
    equal(w.replay(first, second, cut)[0], 3)


def case_octets_behind_an_ipfix_message_are_no_loss(w):
    def message(sequence, *sets):
        body = b''.join(sets)
        return struct.pack('!HHIII', 10, 16 + len(body), START, sequence, 7) + body
    fields = struct.pack('!HH', 256, len(FIELDS)) + b''.join(struct.pack('!HH', *f) for f in FIELDS)
    datagrams = [message(0, flow_set(2, fields), data(256, 0, 10)) + bytes(4)]
    path = w.file('padded.pcap', pcap(frames_of(datagrams)))
    code, out, err = w.replay('--no-summary', path)
    equal((code, out.count(b'\n'), 'not all' in err), (0, 10, False))


# ---- the same capture gives the same octets ----
def case_every_packing_gives_the_same_octets(w):
    frames = frames_of(export(300))
    code, want, _ = w.replay(w.file('plain.pcap', pcap(frames)))
    equal((code, want.count(b'\n')), (0, 3000))
    files = {
        'packed.gz': packed(pcap(frames)), 'members.gz': packed(pcap(frames)[:5000]) + packed(pcap(frames)[5000:]),
        'packed.lz4': lz4(pcap(frames)), 'plain.pcapng': pcapng(frames), 'packed.pcapng.gz': packed(pcapng(frames)),
        'packed.pcapng.lz4': lz4(pcapng(frames)), 'big.pcap': pcap(frames, order='>'),
        'ns.pcap': pcap(frames, nanoseconds=True), 'bigns.pcap': pcap(frames, order='>', nanoseconds=True),
        'vlan.pcap': pcap([f[:12] + b'\x81\0\0\x64' + f[12:] for f in frames]),
        'qinq.pcap': pcap([f[:12] + b'\x88\xa8\0\x64\x81\0\0\xc8' + f[12:] for f in frames]),
        'sll.pcap': pcap([b'\0\0\0\1\0\6' + bytes(8) + b'\x08\0' + f[14:] for f in frames], link=113),
        'sll2.pcap': pcap([b'\x08\0' + bytes(18) + f[14:] for f in frames], link=276),
        'raw.pcap': pcap([f[14:] for f in frames], link=101), 'null.pcap': pcap([b'\2\0\0\0' + f[14:] for f in frames], link=0),
        'loop.pcap': pcap([b'\0\0\0\2' + f[14:] for f in frames], link=108),
    }
    for name, octets in files.items():
        code, out, _ = w.replay(w.file(name, octets))
        equal((code, out == want), (0, True), name)
    for octets in (files['packed.gz'], files['packed.lz4'], pcap(frames)):
        equal(w.replay('-', stdin=octets)[:2], (0, want), 'stdin')


def case_any_number_of_workers_gives_the_same_octets(w):
    datagrams = []
    for i in range(1500):
        # a redefinition with every third datagram: which fields a record has depends on the order
        fields = FIELDS if i % 2 else FIELDS[::-1]
        sets = [template(256, fields)] if i % 3 == 0 else []
        datagrams.append(v9(i, sets + [data(256, i * 10, 10)], count=10))
    path = w.file('redefined.pcap', pcap(frames_of(datagrams)))
    _, want, stats = w.stats('--workers', '1', path)
    equal(want.count(b'\n'), 15000)
    frames_add_up(stats)
    for workers in (2, 8, 8, 8):
        equal(w.replay('--workers', str(workers), path)[1] == want, True, '%d workers' % workers)


def case_late_template_gives_the_same_records(w):
    datagrams = export(50)
    _, want, _ = w.replay(w.file('early.pcap', pcap(frames_of(datagrams))))
    code, out, stats = w.stats(w.file('late.pcap', pcap(frames_of(datagrams[::-1]))))
    equal(code, 0)
    equal(stats['decoder']['sets_released'], 50)

    def without_time(text):
        docs = [json.loads(line) for line in text.splitlines()]
        for d in docs:
            d.pop('received')
        return sorted(json.dumps(d) for d in docs)
    equal(without_time(out) == without_time(want), True)


# ---- accounting ----
def case_every_frame_is_in_the_ledger(w):
    big = v9(1, [data(256, 0, 150)], count=150)
    frames = frames_of(export(4))                                  # 5 datagrams
    frames += fragments(big, 1)[::-1]                              # 1 datagram in 4 frames, back to front
    frames += fragments(big, 2)[:-1]                               # 3 frames that are lost
    frames += [ethernet(bytes(28), ether_type=0x0806)] * 2         # ARP
    frames += [ethernet(ipv4(bytes(20), protocol=6))]              # TCP
    frames += [ethernet(ipv4(udp(b'\0\x09' + bytes(40), dport=53)))]  # DNS
    frames += [ethernet(ipv4(udp(bytes(100))))[:60]] * 3           # cut short
    code, out, stats = w.stats(w.file('mixed.pcap', pcap(frames)))
    equal(code, 3)
    equal(out.count(b'\n'), 40 + 150)
    frames_add_up(stats)
    want = {'frames': 19, 'datagrams_received': 6, 'frames_other': 4, 'frames_broken': 3, 'fragments_joined': 3,
            'fragments_lost': 3, 'documents_written': 190}
    equal({k: stats[k] for k in want}, want)


def case_port_takes_that_port_only(w):
    frames = frames_of(export(3), dport=7001) + frames_of(export(5), dport=7002)
    path = w.file('ports.pcap', pcap(frames))
    equal(w.replay(path)[1].count(b'\n'), 80)
    _, out, stats = w.stats('--port', '7001', path)
    equal(out.count(b'\n'), 30)
    equal(stats['frames_other'], 6)
    frames_add_up(stats)


def case_large_datagrams_are_all_decoded(w):
    # 64 KiB each, many more than fit into memory at once: the reader has to wait for the workers
    datagrams = [v9(0, [template(256, FIELDS)])]
    datagrams += [v9(i, [data(256, i, 2600)], count=2600) for i in range(1, 900)]
    path = w.file('large.pcap', pcap(frames_of(datagrams)))
    code, _, stats = w.stats('-o', 'null', path)
    equal((code, stats['ring_dropped'], stats['decoder']['records_flow']), (0, 0, 899 * 2600))


# ---- clock and signals ----
def case_speed_follows_the_clock_of_the_capture(w):
    path = w.file('slow.pcap', pcap(frames_of(export(6)), gap_ns=100000000))
    began = time.monotonic()
    code, out, _ = w.replay('--speed', '1x', path)
    took = time.monotonic() - began
    equal((code, out.count(b'\n')), (0, 60))
    equal(took >= 0.6, True, '0.6 s of capture took %.2f s' % took)
    code, again, _ = w.replay('--speed', '100x', path)
    equal((code, again), (0, out))


def case_first_signal_drains_and_concludes(w):
    datagrams = [v9(0, [template(256, FIELDS), data(256, 0, 10)], count=11)] + export(20)
    path = w.file('slow.pcap', pcap(frames_of(datagrams), gap_ns=3600 * 10 ** 9))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen(w.command('--speed', '1x', '--no-summary', path), bufsize=0, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            first = run.stdout.readline()  # it runs, and now waits for an hour
            run.send_signal(number)
            out, err = run.communicate(timeout=60)
        equal((run.returncode, (first + out).count(b'\n')), (3, 10))
        equal(err.decode(), 'whoflow: stopped by %s after 1 frame: the rest of the capture was not read\n' % number.name)


def case_usr1_tells_how_far_it_is_and_usr2_nothing(w):
    datagrams = [v9(0, [template(256, FIELDS), data(256, 0, 10)], count=11)] + export(20)
    path = w.file('slow.pcap', pcap(frames_of(datagrams), gap_ns=3600 * 10 ** 9))
    with subprocess.Popen(w.command('--speed', '1x', path), bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.readline()
        run.send_signal(signal.SIGUSR2)
        run.send_signal(signal.SIGUSR1)
        text = run.stderr.readline().decode()
        holds(text, 'so far: ')
        holds(text, ' 10 flow records')
        run.terminate()
        run.communicate(timeout=60)
    equal(run.returncode, 3)


def case_silent_stdin_is_left_at_a_signal_and_what_came_is_written(w):
    capture = pcap(frames_of(export(3)))
    with subprocess.Popen(w.command('-'), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdin.write(capture)
        run.stdin.flush()
        # before the end of the input: nothing waits for a batch to be full
        lines = [run.stdout.readline() for _ in range(30)]
        equal(all(line.endswith(b'}\n') for line in lines), True)
        run.send_signal(signal.SIGTERM)
        equal(run.wait(timeout=60), 3)
        equal(run.stdout.read(), b'')
        holds(run.stderr.read().decode(), 'stopped by SIGTERM after 4 frames')


def case_reader_that_goes_away_is_no_error(w):
    path = w.file('many.pcap', pcap(frames_of(export(3000))))
    with subprocess.Popen(w.command('--log-level', 'error', path), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.readline()
        run.stdout.close()
        err = run.stderr.read()
        equal((run.wait(timeout=60), err), (0, b''))


def case_third_signal_ends_it_whatever_the_output_does(w):
    path = w.file('many.pcap', pcap(frames_of(export(3000))))
    with subprocess.Popen(w.command(path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        run.stdout.readline()
        for _ in range(600):  # nobody reads on: write() never returns
            if run.poll() is not None:
                break
            run.send_signal(signal.SIGINT)
            time.sleep(0.1)
        equal(run.returncode, -signal.SIGINT)
        run.stdout.close()


def case_progress_bar_is_drawn_on_a_terminal_only(w):
    path = w.file('slow.pcap', pcap(frames_of(export(6)), gap_ns=100000000))
    for args, is_drawn in ((['--speed', '1x'], True), (['--speed', '1x', '--no-progress'], False)):
        ours, theirs = pty.openpty()
        with open(w.path('out'), 'wb') as out, subprocess.Popen(w.command(*args, path), stdout=out, stderr=theirs) as run:
            equal(run.wait(timeout=60), 0)
        os.close(theirs)
        text = b''
        try:
            while True:
                piece = os.read(ours, 4096)
                text += piece
                if not piece:
                    break
        except OSError:  # EIO: the other side is closed and all is read
            pass
        os.close(ours)
        equal('\u2591'.encode() in text and b' %  ' in text, is_drawn, text)
        shares = {int(n) for n in re.findall(r'(\d+) %  ', text.decode())}
        equal(any(0 < n < 100 for n in shares), is_drawn, shares)  # it moves while the replay waits for the clock
        if is_drawn:
            holds(text.decode().rsplit('\u2591', 1)[1], '\r\x1b[K')  # the bar is taken off again
    equal(b'\r' in w.replay('--speed', '1x', path)[2].encode(), False)


# ---- --send ----
def case_send_gives_the_datagrams_in_order(w):
    datagrams = export(500)
    path = w.file('good.pcap.gz', packed(pcap(frames_of(datagrams))))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        sock.bind(('127.0.0.1', 0))
        sock.settimeout(20)
        with subprocess.Popen(w.command('--send', '127.0.0.1:%d' % sock.getsockname()[1], path), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            got = [sock.recv(65536) for _ in datagrams]
            out, err = run.communicate(timeout=60)
    equal((run.returncode, out), (0, b''))
    equal(got == datagrams, True)
    holds(err.decode(), '501 datagrams')


def case_send_to_nobody_is_told(w):
    path = w.file('good.pcap', pcap(frames_of(export(50))))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(('127.0.0.1', 0))
        port = sock.getsockname()[1]
    code, _, err = w.replay('--send', '127.0.0.1:%d' % port, path)
    equal(code, 3)
    holds(err, 'nobody listens there; start it with: whoflow run --listen :%d\n' % port)
    code, _, err = w.replay('--send', 'here', path)
    equal(code, 2)
    holds(err, 'HOST:PORT')


def case_send_feeds_a_running_collector(w):
    datagrams = export(200)
    path = w.file('good.pcap', pcap(frames_of(datagrams)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(('127.0.0.1', 0))
        port = sock.getsockname()[1]
    live = w.path('live.ndjson')
    command = [w.program, 'run', '--listen', '127.0.0.1:%d' % port, '-o', 'file:' + live, '--format', 'flat']
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
        udp_table = '/proc/net/udp'
        wait_for(lambda: '0100007F:%04X' % port in open(udp_table, encoding='ascii').read())
        equal(w.replay('--send', '127.0.0.1:%d' % port, path)[0], 0)
        try:
            wait_for(lambda: os.path.exists(live) and open(live, 'rb').read().count(b'\n') >= 2000)
        finally:
            run.terminate()
            run.communicate(timeout=60)
    with open(live, 'rb') as f:
        equal(f.read().count(b'\n'), 2000)


def main():
    program, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    cases = [(n[5:], f) for n, f in sorted(globals().items()) if n.startswith('case_')]
    passed = failed = 0
    for name, case in cases:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(Whoflow(program, folder))
                print('passed  ' + name)
                passed += 1
            except (AssertionError, OSError, ValueError, KeyError, subprocess.TimeoutExpired):
                print('FAILED  ' + name)
                traceback.print_exc(limit=4, file=sys.stdout)
                failed += 1
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
