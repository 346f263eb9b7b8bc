#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_corpus - every capture of the corpus, value by value, read from what the program prints.

    check_corpus.py --whoflow PROGRAM --corpus FOLDER [--workers N] [--only forward|reversed] [NAME...]

Runs `whoflow replay --format flat` over each capture, as it is and (captures with one definition for each exporter, domain and
template id) with all its datagrams reversed, compares the documents as a set with the oracle's records, and asserts that the
loss ledger adds up. Prints `N passed, N failed`; exit 1 when one failed, 77 (skipped) when there is no corpus. Stdlib only.
"""
import argparse
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from expected import Expectation, load_elements, matches  # noqa: E402
from pcapfile import Pcap  # noqa: E402

# Where the oracle is wrong, with the clause that says so: (capture, reason). Empty: no difference is left.
ORACLE_IS_WRONG = {}


def unique(pairs):
    names = [k for k, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError('member twice in one document: %s' % names)
    return dict(pairs)


def replay(program, workers, path, scratch):
    stats = os.path.join(scratch, 'stats.json')
    if os.path.exists(stats):
        os.unlink(stats)
    run = subprocess.run([program, 'replay', '--format', 'flat', '--workers', str(workers), '--no-progress',
                          '--stats-file', stats, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=300, check=False)
    if run.returncode not in (0, 1, 3):
        raise ValueError('exit code %d: %s' % (run.returncode, run.stderr.decode(errors='replace')[-500:]))
    documents = [json.loads(line, object_pairs_hook=unique) for line in run.stdout.decode('utf-8').splitlines()]
    with open(stats, encoding='utf-8') as f:
        return documents, json.load(f), run.stdout


def ledger_faults(stats, n_documents):
    d = stats['decoder']
    sums = [
        ('data sets', d['sets_data'], d['sets_decoded'] + d['sets_held'] + d['sets_refused']),
        ('held sets', d['sets_held'], d['sets_released'] + d['sets_expired'] + d['sets_evicted'] +
         stats['state']['pending_sets']),
        ('datagrams', stats['datagrams_received'], d['datagrams_decoded'] + d['reason']['short_header'] +
         d['reason']['unknown_version'] + d['reason']['refused_exporter'] + stats['ring_dropped']),
        ('records', d['records_flow'] + d['records_options'], stats['documents_made'] + stats['documents_refused']),
        ('documents', stats['documents_made'], stats['documents_written'] + stats['documents_dropped'] +
         stats['documents_failed'] + stats['documents_unsent']),
        ('lines', stats['documents_written'], n_documents),
    ]
    return ['ledger: %s: %d against %d' % (name, a, b) for name, a, b in sums if a != b]


def compare(expectation, documents):
    """Differences between the expected documents and these, as sets."""
    by_key = collections.defaultdict(list)
    for doc in documents:
        by_key[(doc.get('exporter'), doc.get('port'), doc.get('domain'), doc.get('template'), doc.get('sequence'))].append(doc)
    faults, missing = [], 0
    for want in expectation.documents:
        head = want[0]
        if 'sequence' in head:
            keys = [(head['exporter'], head['port'], head['domain'], head['template'], head['sequence'])]
        else:
            keys = [k for k in by_key if k[:4] == (head['exporter'], head['port'], head['domain'], head['template'])]
        why = 'no document of this datagram and template: %s' % head
        for key in keys:
            for i, doc in enumerate(by_key[key]):
                difference = matches(want, doc)
                if difference is None:
                    del by_key[key][i]
                    why = None
                    break
                why = difference
            if why is None:
                break
        if why:
            missing += 1
            if len(faults) < 3:
                faults.append(why)
    extra = sum(len(v) for v in by_key.values())
    if missing or extra:
        faults.insert(0, '%d of %d expected documents missing, %d not expected' %
                      (missing, len(expectation.documents), extra))
        if extra and not missing:
            faults.append(str(next(v[0] for v in by_key.values() if v))[:400])
    return faults


def one_definition(oracle):
    seen = {}
    for t in oracle['templates']:
        key = (t['src'], t['domain'], t['version'], t['id'])
        if t['kind'] == 'withdraw' or seen.setdefault(key, (t['kind'], t['scope'], t['fields'])) != (
                t['kind'], t['scope'], t['fields']):
            return False
    return any(d['version'] in (9, 10) for d in oracle['datagrams'])


def load(corpus, name):
    for suffix, opener in (('.json', open), ('.json.gz', gzip.open)):
        path = os.path.join(corpus, 'expected', name + suffix)
        if os.path.exists(path):
            with opener(path, 'rt', encoding='utf-8') as f:
                return json.load(f)
    return None


def run_case(args, elements, name, path, scratch):
    """Yields (label, list of faults)."""
    oracle = load(args.corpus, name)
    expectation = Expectation(elements, oracle)
    if args.only != 'reversed':
        documents, stats, text = replay(args.whoflow, args.workers, path, scratch)
        faults = compare(expectation, documents) + ledger_faults(stats, len(documents))
        if args.workers != 1 and replay(args.whoflow, 1, path, scratch)[2] != text:
            faults.append('%d workers and one worker do not give the same octets' % args.workers)
        yield name, faults
    if args.only != 'forward' and one_definition(oracle):
        turned = os.path.join(scratch, 'reversed.pcap')
        capture = Pcap(path)
        capture.write(turned, range(len(capture.frames) - 1, -1, -1))
        documents, stats, _ = replay(args.whoflow, args.workers, turned, scratch)
        yield name + ' reversed', compare(expectation, documents) + ledger_faults(stats, len(documents))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--whoflow', required=True)
    ap.add_argument('--corpus', required=True)
    ap.add_argument('--workers', type=int, default=8)
    ap.add_argument('--only', choices=('forward', 'reversed'))
    ap.add_argument('names', nargs='*')
    args = ap.parse_args()
    if not os.path.isdir(os.path.join(args.corpus, 'cases')):
        print('skipped: no corpus at %s (set WF_CORPUS)' % args.corpus)
        return 77
    elements = load_elements(os.path.join(os.path.dirname(args.corpus.rstrip('/')), 'elements.tsv'))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for folder in ('cases', 'cases-late', 'generated', 'mixed'):
            for file in sorted(os.listdir(os.path.join(args.corpus, folder))):
                name = file[:-5]
                if args.names and name not in args.names:
                    continue
                try:
                    results = list(run_case(args, elements, name, os.path.join(args.corpus, folder, file), scratch))
                except (ValueError, KeyError, subprocess.TimeoutExpired) as e:
                    results = [(name, ['%s: %s' % (type(e).__name__, e)])]
                for label, faults in results:
                    if faults and name in ORACLE_IS_WRONG:
                        print('known    %s: %s' % (label, ORACLE_IS_WRONG[name]))
                        faults = []
                    passed += not faults
                    failed += bool(faults)
                    if faults:
                        print('FAILED   %s' % label)
                        for fault in faults:
                            print('         %s' % fault)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
