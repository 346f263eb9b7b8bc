#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_live - `whoflow run` from the outside: receiving, signals, messages and exit codes.

    run_live.py PROGRAM [CASE...]

Each function case_NAME is one test. Prints `N passed, N failed`; exit 1 when one failed. Stdlib only.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay_lib import FIELDS, data, export, template, v9  # noqa: E402


def equal(got, want, what=''):
    if got != want:
        raise AssertionError('%s: got %.300r, expected %.300r' % (what, got, want))


def holds(text, part):
    if part not in text:
        raise AssertionError('%r is not in %r' % (part, text))


def wait_for(what, name, seconds=30):
    """Polls; a bound against hanging, no statement on speed."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError('waited in vain for ' + name)
        time.sleep(0.01)


class Live:
    """One `whoflow run` on a port that the kernel chose; its stderr is read all the time."""

    def __init__(self, program, folder, *args, listen='127.0.0.1:0', output=None, stdout=subprocess.DEVNULL):
        self.folder, self.file = folder, os.path.join(folder, 'out.ndjson')
        self.stats_file = os.path.join(folder, 'stats.json')
        command = [program, 'run', '--listen', listen, '--format', 'flat', '--stats-file', self.stats_file,
                   '-o', output or 'file:' + self.file, *args]
        self.process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.wait_log('listening on UDP')
        self.port = int(re.search(r'listening on UDP \S+:(\d+) ', self.log()).group(1))
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.decode())

    def log(self):
        return ''.join(self.lines)

    def wait_log(self, part):
        wait_for(lambda: part in self.log() or self.process.poll() is not None, repr(part))
        holds(self.log(), part)

    def send(self, datagrams):
        """All have arrived (or were dropped) afterwards: on a busy machine sendto() returns before, and they wait in a queue of
        this CPU. So we stay on it, and send one to ourselves last."""
        before = os.sched_getaffinity(0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as marker:
            marker.bind(('127.0.0.1', 0))
            marker.settimeout(30)
            os.sched_setaffinity(0, {min(before)})
            for datagram in datagrams:
                self.socket.sendto(datagram, ('127.0.0.1', self.port))
            marker.sendto(b'x', marker.getsockname())
            marker.recv(1)
            os.sched_setaffinity(0, before)

    def written(self, path=None):
        """Whole lines in the output file."""
        try:
            with open(path or self.file, 'rb') as f:
                return f.read().count(b'\n')
        except FileNotFoundError:
            return 0

    def wait_written(self, n, path=None):
        wait_for(lambda: self.written(path) >= n, '%d lines' % n)

    def end(self, number=signal.SIGTERM):
        """(exit code, the ledger, whose sums hold)"""
        if number:
            self.process.send_signal(number)
        try:
            code = self.process.wait(timeout=60)
        finally:
            self.kill()
        self.reader.join(timeout=60)
        with open(self.stats_file, encoding='utf-8') as f:
            stats = json.load(f)
        adds_up(stats)
        return code, stats

    def kill(self):
        self.socket.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def adds_up(s):
    d = s['decoder']
    reason = d['reason']
    equal(s['datagrams_received'], d['datagrams_decoded'] + reason['short_header'] + reason['unknown_version'] +
          reason['refused_exporter'] + s['ring_dropped'], 'datagrams')
    equal(d['sets_data'], d['sets_decoded'] + d['sets_held'] + d['sets_refused'], 'data sets')
    equal(d['sets_held'], d['sets_released'] + d['sets_expired'] + d['sets_evicted'] + s['state']['pending_sets'], 'held sets')
    equal(d['records_flow'] + d['records_options'], s['documents_made'] + s['documents_refused'], 'records')
    equal(s['documents_made'], s['documents_written'] + s['documents_dropped'] + s['documents_failed'] + s['documents_unsent'],
          'documents')


class Folder:
    def __init__(self, program, folder):
        self.program, self.folder, self.live = program, folder, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *args, **kw):
        live = Live(self.program, self.folder, *args, **kw)
        self.live.append(live)
        return live

    def fails(self, *args, user=None):
        """(exit code, stderr) of a run that is not to come up."""
        run = subprocess.run([self.program, 'run', *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                             user=user)
        equal(run.stdout, b'', 'stdout')
        return run.returncode, run.stderr.decode()


# ---- receiving ----
def case_what_is_sent_is_written_and_sigterm_is_0(w):
    live = w.start()
    live.send(export(50))
    code, stats = live.end()
    equal(code, 0)
    equal(stats['kernel_dropped'], 0)
    equal((stats['datagrams_received'], stats['documents_written'], live.written()), (51, 500, 500))
    with open(live.file, encoding='utf-8') as f:
        lines = [json.loads(line) for line in f]
    equal(sorted(line['packetDeltaCount'] for line in lines), list(range(500)))
    equal({line['exporter'] for line in lines}, {'127.0.0.1'})
    equal([(d['exporter'], d['domain'], d['version']) for d in stats['domains']], [('127.0.0.1', 7, 9)])


def case_sigint_drains_too(w):
    live = w.start('--workers', '3', '--receivers', '2')
    live.send(export(200))
    code, stats = live.end(signal.SIGINT)
    equal(code, 0)
    equal(stats['datagrams_received'] + stats['kernel_dropped'], 201)
    equal(live.written(), stats['documents_written'])


def case_a_line_is_there_while_it_runs(w):
    live = w.start()
    live.send(export(1, n_records=1))
    live.wait_written(1)
    live.send(export(3, n_records=1))
    live.wait_written(4)
    equal(live.end()[0], 0)


def case_both_families_on_every_address(w):
    live = w.start(listen=':0')
    live.send(export(2))
    n = 20
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as six:
            for datagram in export(2):
                six.sendto(datagram, ('::1', live.port))
        n = 40
    except OSError:
        print('   (IPv6 not checked: this machine has none)')
    live.wait_written(n)
    _, stats = live.end()
    equal({d['exporter'] for d in stats['domains']}, {'127.0.0.1', '::1'} if n == 40 else {'127.0.0.1'})


def case_records_before_their_template_wait_and_are_told_once(w):
    live = w.start()
    live.send([v9(i, [data(256, i * 10, 10)], count=10) for i in range(12)])
    live.wait_log('exporter 127.0.0.1 domain 7: waiting for template 256')
    equal(live.written(), 0)
    live.send([v9(12, [template(256, FIELDS)])])
    live.wait_log('template 256 arrived after ')
    live.wait_written(120)
    holds(live.log(), ': 120 held records decoded')
    equal(live.log().count('waiting for template'), 1)
    code, stats = live.end()
    equal((code, stats['decoder']['records_released'], stats['documents_written']), (0, 120, 120))


def case_what_never_got_its_template_is_in_the_account(w):
    live = w.start()
    live.send([v9(0, [data(256, 0, 10)], count=10)])
    live.wait_log('waiting for template')
    code, stats = live.end()
    equal((code, stats['state']['pending_sets'], stats['documents_made']), (0, 1, 0))
    holds(live.log(), 'data sets still waiting')


def case_bad_datagrams_are_counted_and_do_not_flood_the_log(w):
    live = w.start()
    live.send(export(1))
    live.send([b'\0\x63' + bytes(50)] * 150)  # version 99
    live.send([v9(2, [b'\x01\0\0\x01'])] * 150)  # a set of length 1
    live.send(export(1))
    live.wait_written(20)
    code, stats = live.end()
    equal(code, 0)
    equal(stats['decoder']['reason']['unknown_version'], 150)
    equal(stats['decoder']['reason']['set_length'], 150)
    holds(live.log(), 'set_length')
    equal(len(live.lines) < 40, True, '%d lines' % len(live.lines))


def case_large_and_empty_datagrams(w):
    live = w.start()
    live.send(export(2, n_records=2000) + [b''] + export(1))
    live.wait_written(4010)
    code, stats = live.end()
    equal((code, stats['decoder']['reason']['short_header'], stats['documents_written']), (0, 1, 4010))


def case_overload_is_counted_to_the_last_datagram(w):
    live = w.start('--receive-buffer', '4k')
    live.process.send_signal(signal.SIGSTOP)
    live.send(export(400))
    live.process.send_signal(signal.SIGCONT)
    code, stats = live.end()
    equal(code, 0)
    equal(stats['kernel_dropped'] > 0, True, 'drops')
    equal(stats['datagrams_received'] + stats['kernel_dropped'], 401)
    holds(live.log(), 'dropped by the kernel')


# ---- signals ----
def case_sighup_opens_the_file_anew(w):
    live = w.start()
    live.send(export(5))
    live.wait_written(50)
    moved = w.path('moved.ndjson')
    os.rename(live.file, moved)
    live.process.send_signal(signal.SIGHUP)
    wait_for(lambda: os.path.exists(live.file), 'the new file')
    live.send(export(7))
    live.wait_written(70)
    code, stats = live.end()
    equal((code, live.written(moved), live.written(), stats['documents_written']), (0, 50, 70, 120))
    holds(live.log(), live.file + ': reopened')


def case_sighup_that_can_not_open_the_file_says_so_and_goes_on(w):
    os.mkdir(w.path('dir'))
    live = w.start(output='file:' + w.path('dir/out'))
    live.send(export(5))
    live.wait_written(50, w.path('dir/out'))
    os.rename(w.path('dir'), w.path('moved'))
    live.process.send_signal(signal.SIGHUP)
    live.wait_log('No such file or directory; going on with the old file')
    equal('reopened' in live.log(), False)
    live.send(export(5))
    live.wait_written(100, w.path('moved/out'))
    os.mkdir(w.path('dir'))
    live.send(export(5))
    live.wait_written(50, w.path('dir/out'))
    live.wait_log('reopened')
    equal(live.end()[0], 0)


def case_sighup_without_a_file_has_nothing_to_reopen(w):
    live = w.start(output='stdout')
    live.process.send_signal(signal.SIGHUP)
    live.wait_log('output stdout: is no regular file, nothing to reopen')
    equal(live.end()[0], 0)


def case_sighup_from_a_terminal_is_ignored(w):
    ours, terminal = os.openpty()
    live = w.start(stdout=terminal)
    os.close(terminal)
    live.process.send_signal(signal.SIGHUP)
    live.wait_log('SIGHUP: ignored')
    equal(live.end()[0], 0)
    os.close(ours)


def case_sigusr2_is_a_debug_log_for_a_while(w):
    live = w.start()
    live.send(export(1))
    live.wait_written(10)
    live.process.send_signal(signal.SIGUSR2)
    live.wait_log('SIGUSR2: debug log for 60 s')
    live.send([v9(9, [template(300, FIELDS)])])
    live.wait_log('template 300 is new')
    equal('template 256 is new' in live.log(), False)
    live.process.send_signal(signal.SIGUSR2)
    live.wait_log('debug log is off again')
    live.send([v9(10, [template(301, FIELDS)])] + export(1))
    live.wait_written(20)
    equal(live.end()[0], 0)
    equal('template 301 is new' in live.log(), False)


def case_silence_is_told_with_what_to_check(w):
    live = w.start()
    wait_for(lambda: 'no datagram yet' in live.log(), 'the line', seconds=120)
    holds(live.log(), 'no datagram yet on 127.0.0.1:%d: ' % live.port)
    holds(live.log(), 'ss -ulnp')
    equal(live.end()[0], 0)


def case_sigusr1_tells_how_it_stands(w):
    live = w.start()
    live.send(export(5))
    live.wait_written(50)
    live.process.send_signal(signal.SIGUSR1)
    live.wait_log('50 flow records')
    live.wait_log('6 datagrams')
    equal(live.end()[0], 0)


def case_a_second_sigterm_gives_up_what_is_stuck(w):
    read_end, write_end = os.pipe()  # nobody ever reads
    live = w.start(output='stdout', stdout=write_end)
    os.close(write_end)
    try:
        live.send(export(100, n_records=20))
        time.sleep(0.1)
        live.send(export(100, n_records=20))
        live.process.send_signal(signal.SIGTERM)
        live.wait_log('SIGTERM: reading what has arrived, then ending; once more ends at once')
        live.process.send_signal(signal.SIGUSR2)  # neither an end nor a second one
        # The second is heard once the first is being dealt with; until then it may be taken for the same.
        for _ in range(100):
            live.process.send_signal(signal.SIGTERM)
            try:
                live.process.wait(timeout=0.3)
                break
            except subprocess.TimeoutExpired:
                pass
        code, stats = live.end(number=None)
    finally:
        os.close(read_end)
    equal(code, 0)
    equal(stats['documents_unsent'] > 0, True, 'unsent documents')
    holds(live.log(), 'documents unsent')
    holds(live.log(), 'SIGTERM again')


def case_a_reader_that_goes_away_is_a_quiet_end(w):
    read_end, write_end = os.pipe()
    live = w.start(output='stdout', stdout=write_end)
    os.close(write_end)
    live.send(export(1))
    equal(os.read(read_end, 1) != b'', True, 'output')
    os.close(read_end)
    live.send(export(1))
    code, stats = live.end(number=None)
    equal(code, 0)
    equal(stats['documents_failed'] + stats['documents_unsent'] > 0, True, 'documents not written')
    equal('documents' in live.log().split('listening')[1], False, 'a summary for nobody')


# ---- what it says ----
def case_banner_is_short_and_names_the_buffer(w):
    live = w.start('--receive-buffer', '1GiB')
    equal(len(live.lines) <= 6, True, 'lines')
    holds(live.log(), 'sudo sysctl -w net.core.rmem_max=1073741824')
    holds(live.log(), 'KiB')
    holds(live.log(), 'NetFlow v1, v5, v7, v9 and IPFIX')
    live.end()
    live = w.start('--receive-buffer', '100k')
    equal('sysctl' in live.log(), False, 'a hint that nobody needs')
    live.end()


def case_summary_can_be_left_out(w):
    live = w.start('--no-summary')
    live.send(export(1))
    live.wait_written(10)
    code, stats = live.end()
    equal((code, stats['documents_written']), (0, 10))
    equal('documents written' in live.log(), False, 'summary')


def case_port_in_use_is_1_and_names_the_process(w):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(('127.0.0.1', 0))
        address = '127.0.0.1:%d' % other.getsockname()[1]
        code, err = w.fails('--listen', address, '-o', 'null')
    equal(code, 1)
    holds(err, address)
    holds(err, 'in use by')
    holds(err, '[%d]' % os.getpid())
    holds(err, '--listen')


def case_what_is_no_address_is_a_usage_error(w):
    for bad in ('collector.example:2055', '127.0.0.1:99999', '', '[::1'):
        code, err = w.fails('--listen', bad, '-o', 'null')
        equal(code, 2, bad)
        holds(err, '--listen')


def case_address_of_another_machine_is_1(w):
    code, err = w.fails('--listen', '192.0.2.1:2055', '-o', 'null')
    equal(code, 1)
    holds(err, '192.0.2.1:2055')
    holds(err, 'this machine')


def case_low_port_without_rights_is_77(w):
    with open('/proc/sys/net/ipv4/ip_unprivileged_port_start', encoding='ascii') as f:
        first = int(f.read())
    if first < 2:
        print('   (not checked: every port is free for all here)')
        return
    user = 65534 if os.geteuid() == 0 else None
    code, err = w.fails('--listen', '127.0.0.1:%d' % (first - 1), '-o', 'null', user=user)
    equal(code, 77)
    holds(err, 'permission')
    holds(err, '--listen')


def case_output_that_can_not_be_opened_ends_it_before_it_listens(w):
    code, err = w.fails('--listen', '127.0.0.1:0', '-o', 'file:' + w.path('no/such/folder/x'))
    equal(code in (69, 77), True, 'exit code %d' % code)
    holds(err, 'no/such/folder')
    equal('listening' in err, False)


def case_stats_file_that_can_not_be_opened_ends_it_before_it_listens(w):
    path = w.path('no/such/folder/stats.json')
    code, err = w.fails('--listen', '127.0.0.1:0', '-o', 'file:' + w.path('out'), '--stats-file', path)
    equal(code, 69)
    holds(err, '--stats-file %s: No such file or directory' % path)
    equal('listening' in err, False)
    equal(os.path.exists(w.path('out')), False, 'output')


def case_stats_file_that_can_not_be_written_is_1(w):
    if not os.path.exists('/dev/full'):
        print('   (not checked: no /dev/full)')
        return
    live = w.start('--stats-file', '/dev/full')
    live.process.send_signal(signal.SIGTERM)
    equal(live.process.wait(timeout=60), 1)
    live.reader.join(timeout=60)
    holds(live.log(), '/dev/full: No space left on device; the account was not written')


def case_documents_that_failed_are_1(w):
    if not os.path.exists('/dev/full'):
        print('   (not checked: no /dev/full)')
        return
    live = w.start(output='file:/dev/full')
    live.send(export(1))
    code, stats = live.end()
    equal((code, stats['documents_failed']), (1, 10))


def main():
    program, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    cases = [(n[5:], f) for n, f in sorted(globals().items()) if n.startswith('case_')]
    passed = failed = 0
    for name, case in cases:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            w = Folder(program, folder)
            try:
                case(w)
                print('passed  ' + name)
                passed += 1
            except (AssertionError, OSError, ValueError, KeyError, AttributeError, subprocess.TimeoutExpired):
                print('FAILED  ' + name)
                traceback.print_exc(limit=4, file=sys.stdout)
                for live in w.live:
                    print(live.log())
                failed += 1
            finally:
                for live in w.live:
                    live.kill()
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
