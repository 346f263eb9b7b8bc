#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli_program - the program's command line, its messages and exit codes, and its files, from the outside.

    cli_program.py PROGRAM [CASE...]

Each function case_NAME is one test. Prints `N passed, N failed`; exit 1 when one failed, 77 when all were skipped. Stdlib only.
"""
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay_lib import Whoflow, export, frames_of, pcap  # noqa: E402

COMMANDS = ['run', 'replay', 'documents', 'version', 'help']


class Skipped(Exception):
    pass


def equal(got, want, what=''):
    if got != want:
        raise AssertionError('%s: got %.300r, expected %.300r' % (what, got, want))


def holds(text, part):
    if part not in text:
        raise AssertionError('%r is not in %r' % (part, text))


def call(w, *args, env=None, **how):
    """(exit code, stdout, stderr) of the program; WHOFLOW_... of the caller's environment do not count."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith('WHOFLOW_')}
    clean.update(env or {})
    run = subprocess.run([w.program, *args], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=clean, timeout=120, check=False,
                         encoding='utf-8', **{'stdout': subprocess.PIPE, **how})
    return run.returncode, run.stdout, run.stderr


def shell(w, text):
    """The same for a line of the shell, in which $W is the program."""
    run = subprocess.run(['bash', '-c', 'W=%s; %s' % (shlex.quote(w.program), text)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=120, check=False, encoding='utf-8', cwd=w.folder)
    return run.returncode, run.stdout, run.stderr


def usage_error(w, args, *parts, env=None):
    code, out, err = call(w, *args, env=env)
    equal((code, out), (2, ''), ' '.join(args))
    equal(err.count('\n'), 1, err)
    holds(err[:9], 'whoflow: ')
    for part in parts:
        holds(err, part)


def capture(w, n_datagrams=5):
    return w.file('c.pcap', pcap(frames_of(export(n_datagrams))))


# ---- help ----
def case_without_arguments_the_help_is_printed(w):
    code, out, err = call(w)
    equal((code, err), (0, ''))
    if out.count('\n') > 12:
        raise AssertionError('more than 12 lines')
    holds(out, '\ntry: whoflow ')
    for command in COMMANDS:
        holds(out, 'whoflow ' + command)
    for word in ('help', '--help', '-h'):
        equal(call(w, word), (0, out, ''))


def case_each_command_has_a_help(w):
    for command in COMMANDS:
        code, out, err = call(w, 'help', command)
        equal((code, err), (0, ''))
        holds(out.split('\n')[0], 'whoflow ' + command)
        equal(call(w, command, '--help'), (code, out, err))
    holds(call(w, 'help', 'run')[1], '--listen=ADDR:PORT')
    holds(call(w, 'help', 'replay')[1], '--speed=')


# ---- exit code 2 ----
def case_usage_errors_are_2_in_one_line(w):
    usage_error(w, ['rnu'], 'did you mean "run"')
    usage_error(w, ['help', 'rnu'], 'did you mean "run"')
    usage_error(w, ['run', '--lisen=:1'], 'did you mean "--listen"')
    usage_error(w, ['run', '-q'], '"-q"')
    usage_error(w, ['run', '--speed=1x'], 'belongs to whoflow replay')
    usage_error(w, ['--listen', ':1'], 'whoflow run --listen')
    usage_error(w, ['run', '--workers'], 'needs a value')
    usage_error(w, ['run', '--workers=0'], 'auto')
    usage_error(w, ['run', '--pending-bytes=lots'], '64MiB')
    usage_error(w, ['run', 'x'], 'no argument "x"')
    usage_error(w, ['replay'], 'FILE.pcap')
    usage_error(w, ['documents', 'x'], 'no argument')
    usage_error(w, ['version', '--jsno'], 'did you mean "--json"')
    usage_error(w, ['version'], 'WHOFLOW_JSON', env={'WHOFLOW_JSON': 'perhaps'})
    usage_error(w, ['replay', capture(w), '-o', 'out.ndjson'], 'file:out.ndjson')
    usage_error(w, ['replay', capture(w), '-o', 'kafka'], 'stdout, -o file:PATH or -o null')
    usage_error(w, ['replay', capture(w), '-f', 'xml'], 'ecs, flat, text or none')
    usage_error(w, ['replay', capture(w), '--internal-network', 'here'], '10.0.0.0/8')


# ---- version, documents ----
def case_version_is_text_or_json(w):
    code, out, err = call(w, 'version')
    equal((code, err), (0, ''))
    equal(out.split('\n')[0].split(' ')[0], 'whoflow')
    code, text, err = call(w, 'version', '--json')
    equal((code, err, text.count('\n')), (0, '', 1))
    versions = json.loads(text)
    equal(out.split('\n')[0], 'whoflow ' + versions['whoflow'])
    equal({'whoflow', 'build', 'compiler', 'libuv', 'libpcap', 'lz4', 'zlib', 'nettle', 'xxhash'} - set(versions), set())
    equal(all(versions.values()), True)
    equal(call(w, '--version')[1], out)
    equal(call(w, 'version', env={'WHOFLOW_JSON': '1'})[1], text)


def case_documents_prints_the_reference(w):
    code, out, err = call(w, 'documents')
    equal((code, err), (0, ''))
    holds(out, 'netflow.')
    holds(out, '@timestamp')


# ---- stdout that fails ----
def case_a_full_or_closed_stdout_is_1_with_a_message(w):
    for command in ('help', 'version', 'documents'):
        with open('/dev/full', 'w', encoding='ascii') as full:
            code, _, err = call(w, command, stdout=full)
        equal(code, 1, command)
        holds(err, 'stdout: No space left on device')
        code, _, err = shell(w, '"$W" %s >&-' % command)
        equal(code, 1, command)
        holds(err, 'stdout: Bad file descriptor')


def case_a_reader_that_leaves_is_no_failure(w):
    for command in ('help', 'version', 'documents'):
        code, _, err = shell(w, '{ sleep 0.1; "$W" %s; echo "code $?" >&2; } | true' % command)
        equal((code, err), (0, 'code 0\n'), command)


def case_closed_descriptors_do_not_become_sockets_or_files(w):
    capture(w)
    code, out, err = shell(w, '"$W" replay -f flat -o file:out.ndjson --no-summary c.pcap <&- >&- 2>&-')
    equal((code, out, err), (0, '', ''))
    with open(w.path('out.ndjson'), 'rb') as f:
        lines = f.read().split(b'\n')
    equal(len(lines), 51)
    for line in lines[:-1]:
        json.loads(line)
    code, _, err = shell(w, '"$W" replay -f flat c.pcap >&-')
    equal(code, 69)
    holds(err, 'stdout')


# ---- output files ----
def case_outputs_that_can_not_be_opened_are_69(w):
    path = capture(w)
    code, out, err = call(w, 'replay', path, '-o', 'file:' + w.path('no/folder'))
    equal((code, out), (69, ''))
    holds(err, 'create its folder first')
    code, out, err = call(w, 'replay', path, '-o', 'file:' + w.folder)
    equal((code, out), (69, ''))
    holds(err, 'Is a directory')


def case_a_folder_that_may_not_be_written_to_is_77(w):
    if os.geteuid() == 0:
        raise Skipped('root may write anywhere')
    path = capture(w)
    os.mkdir(w.path('closed'), 0o500)
    code, out, err = call(w, 'replay', path, '-o', 'file:' + w.path('closed/x'))
    equal((code, out), (77, ''))
    holds(err, 'Permission denied')


def check_account(code, stats, octets):
    """Whole lines only, as many as were counted."""
    equal(code, 3)
    lines = octets.split(b'\n')
    equal(lines.pop(), b'')
    for line in lines:
        json.loads(line)
    written, failed = stats['documents_written'], stats['documents_failed']
    equal(written, len(lines))
    equal(stats['octets_written'], len(octets))
    equal(written + failed, stats['documents_made'])
    if not written or not failed:
        raise AssertionError('%d written, %d failed' % (written, failed))


def case_a_file_size_limit_leaves_whole_lines_and_an_exact_account(w):
    path = capture(w, 3000)
    limit = 300001
    out, stats = w.path('out.ndjson'), w.path('stats.json')

    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    code, _, err = call(w, 'replay', path, '-f', 'flat', '-o', 'file:' + out, '--stats-file', stats, preexec_fn=lower)
    holds(err, 'documents')
    with open(out, 'rb') as f, open(stats, encoding='utf-8') as s:
        check_account(code, json.load(s), f.read())


def case_a_full_disk_leaves_whole_lines_and_an_exact_account(w):
    capture(w, 3000)
    script = ('mkdir d && mount -t tmpfs -o size=256k none d || exit 77; "$W" replay -f flat -o file:d/out --stats-file stats.json '
              'c.pcap; code=$?; cp d/out out; umount d; exit $code')
    try:
        code, _, err = shell(w, 'export W; unshare --map-root-user --mount bash -c %s' % shlex.quote(script))
    except FileNotFoundError:
        code, err = 77, 'no bash'
    if not os.path.exists(w.path('out')):
        raise Skipped('no tmpfs of our own here: ' + err)
    with open(w.path('out'), 'rb') as f, open(w.path('stats.json'), encoding='utf-8') as s:
        check_account(code, json.load(s), f.read())


def case_dev_full_loses_all_and_says_so(w):
    code, out, err = call(w, 'replay', capture(w), '-f', 'flat', '-o', 'file:/dev/full')
    equal((code, out), (3, ''))
    holds(err, '50 documents')


# ---- environment ----
def case_the_environment_is_below_flags(w):
    path = capture(w)
    flat = call(w, 'replay', path, '--format', 'flat', '--no-summary', '--no-progress')
    equal(flat[0], 0)
    env = {'WHOFLOW_FORMAT': 'flat', 'WHOFLOW_SUMMARY': 'no', 'WHOFLOW_PROGRESS': 'no', 'WHOFLOW_OUTPUT': ''}
    equal(call(w, 'replay', path, env=env), flat)
    code, out, _ = call(w, 'replay', path, '--format', 'text', env=env)
    equal(code, 0)
    equal(out[:1] == '{', False)


def main():
    program, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    cases = [(n[5:], f) for n, f in sorted(globals().items()) if n.startswith('case_')]
    passed = failed = skipped = 0
    for name, case in cases:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(Whoflow(program, folder))
                print('passed  ' + name)
                passed += 1
            except Skipped as reason:
                print('skipped ' + name + ': ' + str(reason))
                skipped += 1
            except (AssertionError, OSError, ValueError, KeyError, subprocess.TimeoutExpired):
                print('FAILED  ' + name)
                traceback.print_exc(limit=4, file=sys.stdout)
                failed += 1
    print('%d passed, %d failed%s' % (passed, failed, ', %d skipped' % skipped if skipped else ''))
    if skipped and not passed and not failed:
        return 77
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
