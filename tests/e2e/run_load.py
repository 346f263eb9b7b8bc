#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_load - `whoflow run` with many exporters, receivers and workers, and with outputs that do not take what comes.

    run_load.py PROGRAM [CASE...]

Each function case_NAME is one test. Prints `N passed, N failed`; exit 1 when one failed. Stdlib only.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay_lib import FIELDS, data, export, template, v9  # noqa: E402
from run_lib import Collector, check_sums  # noqa: E402


def equal(got, want, what=''):
    if got != want:
        raise AssertionError('%s: got %.300r, expected %.300r' % (what, got, want))


def holds(text, part):
    if part not in text:
        raise AssertionError('%r is not in %r' % (part, text))


def case_exporters_are_told_apart(program, folder):
    # the same domain and template id mean something else with each of them
    with Collector(program, folder, '--workers', '8') as c:
        for i in range(1, 6):
            fields = FIELDS[i:] + FIELDS[:i]
            c.send([v9(0, [template(256, fields), data(256, 0, 10)], count=11)], source='127.0.0.%d' % i)
        c.wait_for_lines(50)
        code, stats = c.end()
        equal((code, stats['state']['exporters'], stats['state']['templates']), (0, 5, 5))
        equal(sorted({d['exporter'] for d in stats['domains']}), ['127.0.0.%d' % i for i in range(1, 6)])
        equal([d['records_flow'] for d in stats['domains']], [10] * 5)
        check_sums(stats, c.n_sent)


def case_listeners_and_receivers_share_the_work(program, folder):
    with Collector(program, folder, '--receivers', '2', '--workers', '3', listen=('127.0.0.1:0', '127.0.0.1:0')) as c:
        equal(len(set(c.ports())), 2)
        for i in range(1, 9):
            c.send(export(5), source='127.0.0.%d' % i, listener=i % 2)
        code, stats = c.end()
        equal((code, stats['kernel_dropped'], stats['documents_written']), (0, 0, 8 * 50))
        equal(len(c.out.lines()), 8 * 50)
        check_sums(stats, c.n_sent)


def case_sigterm_writes_all_that_was_sent(program, folder):
    with Collector(program, folder, '--workers', '8') as c:
        for source in range(1, 21):
            c.send(export(50, n_records=20), source='127.0.0.%d' % source)
        code, stats = c.end()
        equal(code, 0)
        check_sums(stats, c.n_sent)
        equal(stats['documents_unsent'] + stats['documents_dropped'] + stats['documents_failed'], 0)
        equal(len(c.out.lines()), stats['documents_written'])
        equal(stats['kernel_dropped'] > 0 or stats['documents_written'] == 20 * 50 * 20, True)
        for line in c.out.lines():
            json.loads(line)


def signals_close_together(program, folder):
    """Did they come within 0.3 s? (On a busy machine they may not: that says nothing.)"""
    with Collector(program, folder, read_stdout=False) as c:
        c.send(export(300, n_records=20))  # far more than the pipe takes
        began = time.monotonic()
        c.tell(signal.SIGTERM)
        c.tell(signal.SIGTERM)
        c.wait_for_log('reading what has arrived')
        c.tell(signal.SIGTERM)
        took = time.monotonic() - began
        with c.process.stdout as pipe:
            octets = b''.join(iter(lambda: os.read(pipe.fileno(), 65536), b''))
        code, stats = c.finish()
        check_sums(stats, c.n_sent)
        if took < 0.3:
            equal((code, stats['documents_unsent'], stats['documents_written']), (0, 0, octets.count(b'\n')))
        return took < 0.3


def case_a_signal_sent_twice_at_once_gives_nothing_up(program, folder):
    # timeout(1) does so: to its child, and to the group that the child is in
    equal(any(signals_close_together(program, folder) for _ in range(20)), True)


def case_lines_in_a_stuck_pipe_are_those_counted_as_written(program, folder):
    with Collector(program, folder, read_stdout=False) as c:
        c.send(export(300, n_records=20))
        c.tell(signal.SIGTERM)
        c.wait_for_log('reading what has arrived')
        for _ in range(100):
            time.sleep(0.3)
            if c.process.poll() is not None:
                break
            c.tell(signal.SIGTERM)
        code, stats = c.finish()
        equal(code, 0)
        check_sums(stats, c.n_sent)
        equal(stats['documents_unsent'] > 0, True)
        octets = b''.join(iter(lambda: os.read(c.process.stdout.fileno(), 65536), b''))
        equal(octets.count(b'\n'), stats['documents_written'])
        holds(c.err.text(), 'given up')


def case_a_full_disk_is_told_while_it_runs(program, folder):
    if not os.path.exists('/dev/full'):
        print('   (not checked: no /dev/full)')
        return
    with Collector(program, folder, '-o', 'file:/dev/full') as c:
        c.send(export(4))
        c.wait_for_log('No space left on device')
        code, stats = c.end()
        equal((code, stats['documents_failed'], stats['documents_written']), (1, 40, 0))
        check_sums(stats, c.n_sent)
        about = [line for line in c.err.lines() if 'No space left on device' in line]
        holds(about[0], 'level=error')
        holds(about[0], '40 documents')


def main():
    program, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    cases = [(n[5:], f) for n, f in sorted(globals().items()) if n.startswith('case_')]
    passed = failed = 0
    for name, case in cases:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(program, folder)
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
