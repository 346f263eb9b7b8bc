#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_golden - our ecs documents beside those that Filebeat's own tests expect of the same captures.

    compare_golden.py --whoflow PROGRAM --corpus FOLDER [--verbose] [NAME...]

Each golden event is taken through Filebeat's ingest pipeline (pipeline() below), paired with the document of the same
record, and compared member by member. A difference has to be explained by a rule of RULES (docs/golden-differences.md says
why); a rule that explains nothing fails too. Prints `N passed, N failed`; exit 1 when one failed, 77 (skipped) when there is
no corpus. Stdlib only.
"""
import argparse
import base64
import collections
import csv
import datetime
import json
import os
import subprocess
import sys

ABSENT = object()


def leaves(value, path=''):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, path + '.' + name if path else name)
    else:
        yield path, value


def instant(text):
    """Nanoseconds of an RFC 3339 date."""
    body, _, digits = text.rstrip('Z').partition('.')
    seconds = datetime.datetime.strptime(body, '%Y-%m-%dT%H:%M:%S').replace(tzinfo=datetime.timezone.utc)
    return int(seconds.timestamp()) * 10**9 + int((digits + '0' * 9)[:9])


def pipeline(fields):
    """What the ingest pipeline of Filebeat's netflow integration adds and changes (geoip apart)."""
    netflow, network = fields.get('netflow', {}), fields.get('network')
    fields['ecs'] = {'version': '8.11.0'}
    fields['observer'] = {'ip': [fields['observer']['ip']]}
    if network is None:
        return fields
    if 'iana_number' in network:
        network['iana_number'] = str(network['iana_number'])
    families = ['ipv4'] * ('source_ipv4_address' in netflow or 'destination_ipv4_address' in netflow)
    families += ['ipv6'] * ('source_ipv6_address' in netflow or 'destination_ipv6_address' in netflow)
    if families:
        network['type'] = families[0] if len(families) == 1 else families
    sides = (fields.get('source', {}).get('locality'), fields.get('destination', {}).get('locality'))
    if None not in sides:
        network['direction'] = {('external', 'internal'): 'inbound', ('internal', 'external'): 'outbound',
                                ('internal', 'internal'): 'internal', ('external', 'external'): 'external'}[sides]
    return fields


# ---- rules: each explains one kind of difference; (name, function(path, theirs, ours, golden, document)) ----

TIMES = ('event.start', 'event.end', 'event.duration')
# Members that Filebeat's tests leave out of their goldens, or that only the whole pipeline or we add.
NOT_IN_GOLDENS = ('@timestamp', 'input.type', 'data_stream.type', 'data_stream.dataset', 'data_stream.namespace', 'tags',
                  'event.created', 'whoflow.time.source', 'whoflow.clamped')


def octets_as_numbers(path, theirs, ours, golden, document):
    """The shipped document holds octetArrays as numbers; the goldens have Go's base64."""
    if not path.startswith('netflow.') or not isinstance(theirs, str) or not isinstance(ours, list):
        return False
    try:
        return list(base64.b64decode(theirs, validate=True)) == ours
    except ValueError:
        return False


def more_times(path, theirs, ours, golden, document):
    """Start, end and duration from every time element."""
    return path in TIMES and theirs is ABSENT


def community_id_of_icmp(path, theirs, ours, golden, document):
    """ICMP community ids by type and code."""
    return path == 'network.community_id' and document['network'].get('iana_number') in ('1', '58') and ours is not ABSENT


def no_community_id_without_addresses(path, theirs, ours, golden, document):
    """No community id of two addresses that nobody sent."""
    return path == 'network.community_id' and ours is ABSENT and not (
        'ip' in document.get('source', {}) and 'ip' in document.get('destination', {}))


def scopes_of_netflow9(path, theirs, ours, golden, document):
    """NetFlow v9 scopes have a number space of their own."""
    names = {'system': 'octet_delta_count', 'interface': 'packet_delta_count', 'line_card': 'delta_flow_count',
             'cache': 'protocol_identifier', 'template': 'ip_class_of_service'}
    name = path.rpartition('.')[2]
    if golden['netflow']['exporter']['version'] != 9 or not path.startswith('netflow.scope.'):
        return False
    scope, other = document['netflow'].get('scope', {}), golden['netflow'].get('scope', {})
    return (theirs is ABSENT and names.get(name) in other) or (ours is ABSENT and any(
        names[n] == name for n in scope if n in names))


# Elements that Filebeat's lists lack, that its bounds refuse (samplerId in 2 octets) or that it skips (lists).
FURTHER_ELEMENTS = {
    'app_id', 'client_ipv4_address', 'nprobe_proto', 'nprobe_proto_name', 'sampler_id', 'server_ipv4_address',
    'server_transport_port', 'services_waas_pass_through_reason', 'sub_template_multi_list', 'user_id'}


def further_elements(path, theirs, ours, golden, document):
    """Elements that Filebeat leaves out without trace."""
    return theirs is ABSENT and path.startswith('netflow.') and path[len('netflow.'):] in FURTHER_ELEMENTS


def family_that_is_set(path, theirs, ours, golden, document):
    """A template with addresses of both families: ours are those that are not zero."""
    netflow = document['netflow']
    return netflow.get('source_ipv4_address') == '0.0.0.0' and netflow.get('source_ipv6_address', '::') != '::' and path in (
        'source.ip', 'source.locality', 'destination.ip', 'destination.locality', 'flow.id', 'flow.locality',
        'network.direction', 'related.ip', 'network.community_id')


def related_station(path, theirs, ours, golden, document):
    """related.ip names the wireless station too, as Filebeat's pipeline does since 2.19."""
    return path == 'related.ip' and theirs is ABSENT and ours == [golden['netflow'].get('sta_ipv4_address')]


RULES = [octets_as_numbers, more_times, family_that_is_set, community_id_of_icmp, no_community_id_without_addresses,
         scopes_of_netflow9, further_elements, related_station]

# Filebeat's tests give every capture of one kind this exporter, whatever it says.
TEST_EXPORTER = '192.0.2.1:4444'


def same(path, theirs, ours):
    if theirs == ours:
        return True
    if isinstance(theirs, str) and isinstance(ours, str):
        try:
            return instant(theirs) == instant(ours)
        except ValueError:
            return False
    if isinstance(theirs, float) or isinstance(ours, float):
        return abs(theirs - ours) <= 1e-6 * abs(theirs)
    return False


def differences(golden, document):
    """[(path, theirs, ours, rule)] with rule None where nothing explains it."""
    theirs, ours = dict(leaves(golden)), dict(leaves(document))
    found = []
    for path in sorted(set(theirs) | set(ours)):
        a, b = theirs.get(path, ABSENT), ours.get(path, ABSENT)
        if path in ('observer.ip', 'netflow.exporter.address') and golden['netflow']['exporter']['address'] == TEST_EXPORTER:
            continue
        if (a is ABSENT and path in NOT_IN_GOLDENS) or (a is not ABSENT and b is not ABSENT and same(path, a, b)):
            continue
        rule = next((r for r in RULES if r(path, a, b, golden, document)), None)
        found.append((path, a, b, rule))
    return found


def unexplained(found):
    return sum(1 for d in found if d[3] is None)


def pair(goldens, documents):
    """Each golden with the nearest document of the same exporter time that nobody took; (pairs, documents left over)."""
    left, pairs = list(documents), []
    for golden in goldens:
        want = (golden['netflow']['exporter']['source_id'], instant(golden['netflow']['exporter']['timestamp']))
        candidates = [d for d in left if (d['netflow']['exporter']['source_id'],
                                          instant(d['netflow']['exporter']['timestamp'])) == want]
        best = min(candidates, key=lambda d: (unexplained(differences(golden, d)), len(differences(golden, d))), default=None)
        if best is not None:
            left.remove(best)
        pairs.append((golden, best))
    return pairs, left


def captures(corpus):
    with open(os.path.join(corpus, 'MANIFEST.tsv'), encoding='utf-8') as f:
        for row in csv.DictReader(f, delimiter='\t'):
            if (row['golden'] or '').endswith('.golden.json') and row['file'].startswith('cases/'):
                yield row['file'], row['golden']


def replay(program, path):
    run = subprocess.run([program, 'replay', '--format', 'ecs', '--no-progress', path], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    if run.returncode not in (0, 1, 3):
        raise ValueError('exit code %d: %s' % (run.returncode, run.stderr.decode(errors='replace')[-500:]))
    return [json.loads(line) for line in run.stdout.decode('utf-8').splitlines()]


def show(value):
    text = '-' if value is ABSENT else json.dumps(value)
    return text if len(text) < 60 else text[:57] + '...'


def check(corpus, program, capture, name, used, verbose):
    """Number of faults of one capture."""
    with open(os.path.join(corpus, 'golden', name), encoding='utf-8') as f:
        goldens = [pipeline(event['Fields']) for event in json.load(f)['events']]
    pairs, left = pair(goldens, replay(program, os.path.join(corpus, capture)))
    faults, rules = [], collections.Counter()
    for golden, document in pairs:
        if document is None:
            faults.append('no document for a golden of %s' % golden['netflow']['exporter']['timestamp'])
            continue
        for path, theirs, ours, rule in differences(golden, document):
            if rule is None:
                faults.append('%s: Filebeat %s, we %s' % (path, show(theirs), show(ours)))
            else:
                rules[rule.__name__] += 1
                used[rule.__name__].add(name)
    word = 'FAIL' if faults else 'ok'
    print('%-4s %-75s %3d goldens, %d further documents; %s' % (word, name, len(goldens), len(left), ', '.join(
        '%s %d' % item for item in sorted(rules.items()))))
    for fault, n in collections.Counter(faults).most_common(None if verbose else 12):
        print('     %4d x %s' % (n, fault))
    return len(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--whoflow', required=True)
    parser.add_argument('--corpus', required=True)
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    if not os.path.isdir(os.path.join(args.corpus, 'golden')):
        print('skipped: no corpus at %s' % args.corpus)
        return 77
    used, failed, passed = collections.defaultdict(set), 0, 0
    for capture, name in captures(args.corpus):
        if args.names and not any(n in capture or n in name for n in args.names):
            continue
        if check(args.corpus, args.whoflow, capture, name, used, args.verbose):
            failed += 1
        else:
            passed += 1
    if not args.names:
        for rule in RULES:
            if not used[rule.__name__]:
                print('FAIL rule %s explains nothing' % rule.__name__)
                failed += 1
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
