#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench - the bars: what whoflow may cost, each as a ratio to something measured in the same run.

Rounds are interleaved: each round measures every program once, and a round's ratio compares its own measurements. A bar
holds when the median of the ratios does. A measurement during which others used more than 0.2 cores is repeated,
three times at most; a round that stays noisy is left out.
"""
import argparse
import datetime
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import drain  # noqa: E402
from drain import Failed, Nfcapd, Sink, Whoflow  # noqa: E402

PROFILES = ('v9', 'ipfix')


class Bar:
    """ours and peer: names of measurements; unit: what the figures are divided by, or 'speed' for how much faster."""

    def __init__(self, name, ours, peer, unit, must, text):
        self.name, self.ours, self.peer, self.unit, self.must, self.text = name, ours, peer, unit, must, text

    def figure(self, result):
        if self.unit == 'speed':
            return result.flows * 1e9 / result.wall_ns
        return result.cpu_ns / getattr(result, self.unit + 's')

    def ratio(self, ours, peer):
        return self.figure(ours) / self.figure(peer)

    def holds(self, ratio):
        return ratio >= self.must if self.unit == 'speed' else ratio <= self.must

    def show(self, figure):
        if self.unit == 'speed':
            return '%.2f M records/s' % (figure / 1e6)
        return '%.0f ns a %s' % (figure, self.unit.replace('flow', 'record'))

    def show_must(self):
        return '%s %g' % ('>=' if self.unit == 'speed' else '<=', self.must)


BARS = [
    Bar('decode', 'none', 'sink', 'datagram', 3.0, 'decode everything, write nothing; peer: a bare recvmmsg(64) loop'),
    Bar('flat', 'flat', 'nfcapd', 'flow', 1.0, 'flat documents to /dev/null; peer: nfcapd, its binary file'),
    Bar('ecs', 'ecs', 'nfcapd', 'flow', 2.5, 'ECS documents to /dev/null; peer: nfcapd, its binary file'),
    Bar('scale', 'two', 'one', 'speed', 1.4, 'flat documents, one exporter: two cores and two workers; peer: one core'),
    Bar('replay', 'replay', 'nfdump', 'flow', 0.1, 'a capture to flat documents; peer: nfdump -o json of the same flows'),
    Bar('reference', 'replay', 'reference', 'flow', 0.125, 'a capture to flat documents; peer: snprintf, inet_ntop, strftime'),
]
NEEDS_NFDUMP = ('nfcapd', 'nfdump')
DRAINED = ('sink', 'nfcapd', 'none', 'flat', 'ecs', 'one', 'two')


class Lab:
    """Measures by name. Files that replays read are made once for each profile."""

    def __init__(self, build, datagrams):
        self.build, self.datagrams, self.files = build, datagrams, {}
        self.one, self.two = drain.CPUS[-1:], drain.CPUS[-2:]

    def capture(self, profile):
        if ('pcap', profile) not in self.files:
            path = '%s/load-%s.pcap' % (self.build, profile)
            command = [self.build + '/tests/bench/wf_generate', '--profile', profile, '--datagrams', str(self.datagrams),
                       '--pcap', path]
            sent = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            self.files['pcap', profile] = path, sent
        return self.files['pcap', profile]

    def stored(self, profile):
        """The same flows in nfcapd's format, received by nfcapd."""
        if ('nfcapd', profile) not in self.files:
            path = '%s/load-%s.nfcapd' % (self.build, profile)
            drain.drain(self.build, Nfcapd(self.one), profile, self.datagrams,
                        keep=lambda folder: shutil.copy(Nfcapd.file(folder), path))
            self.files['nfcapd', profile] = path
        return self.files['nfcapd', profile]

    def collector(self, name):
        null = 'file:/dev/null'
        return {'sink': lambda: Sink(self.build, self.one),
                'nfcapd': lambda: Nfcapd(self.one),
                'none': lambda: Whoflow(self.build, self.one, 'none', 'null'),
                'flat': lambda: Whoflow(self.build, self.one, 'flat', null),
                'ecs': lambda: Whoflow(self.build, self.one, 'ecs', null),
                'one': lambda: Whoflow(self.build, self.one, 'flat', null),
                'two': lambda: Whoflow(self.build, self.two, 'flat', null, workers=2)}[name]()

    def once(self, name, profile):
        if name in DRAINED:
            exporters = 1 if name in ('one', 'two') else 4
            return drain.drain(self.build, self.collector(name), profile, self.datagrams, exporters)
        path, sent = self.capture(profile)
        if name == 'replay':
            command = [self.build + '/collector/whoflow', 'replay', '--format', 'flat', '-o', 'file:/dev/null',
                       '--workers', '1', '--no-progress', path]
        elif name == 'reference':
            command = [self.build + '/tests/bench/wf_reference', path]
        else:
            command = ['nfdump', '-r', self.stored(profile), '-o', 'json']
        return drain.whole(command, self.one, sent)

    def measure(self, name, profile, accept_noise):
        """None when it stays noisy."""
        for _ in range(3):
            result = self.once(name, profile)
            if result.noise <= drain.MAX_NOISE or accept_noise:
                return result
            print('  noisy (%.1f cores): %s %s again' % (result.noise, name, profile), file=sys.stderr)
            time.sleep(2)
        return None

    def clean(self):
        for name in os.listdir(self.build):
            if name.startswith('load-'):
                os.unlink(self.build + '/' + name)


def summarise(bar, profile, rounds):
    """A row of the report: (bar, profile, ours, peer, ratio, spread, must, verdict)."""
    pairs = [(r[bar.ours, profile], r[bar.peer, profile]) for r in rounds]
    pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(pairs) * 2 < len(rounds) or not pairs:
        return [bar.name, profile, '', '', '', '', bar.show_must(), 'too noisy']
    ratios = [bar.ratio(a, b) for a, b in pairs]
    median = statistics.median(ratios)
    return [bar.name, profile, bar.show(statistics.median(bar.figure(a) for a, _ in pairs)),
            bar.show(statistics.median(bar.figure(b) for _, b in pairs)), '%.3f' % median,
            '%.3f-%.3f, %d rounds' % (min(ratios), max(ratios), len(ratios)), bar.show_must(),
            'holds' if bar.holds(median) else 'MISSED']


HEAD = ['bar', 'load', 'whoflow', 'peer', 'ratio', 'spread', 'must', 'verdict']


def print_table(rows):
    widths = [max(len(row[i]) for row in [HEAD] + rows) for i in range(len(HEAD))]
    for row in [HEAD] + rows:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def machine():
    model = 'unknown CPU'
    with open('/proc/cpuinfo') as f:
        for line in f:
            if line.startswith('model name'):
                model = line.split(':', 1)[1].strip()
    return '%s, %d cores, Linux %s' % (model, len(drain.CPUS), os.uname().release)


def output_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ''


def record(rows, bars, options):
    commit = output_of(['git', 'rev-parse', '--short', 'HEAD']) or 'no commit'
    if output_of(['git', 'status', '--porcelain', '--', 'decoder', 'enrich', 'collector', 'tests/bench', 'scripts']):
        commit += ' with changes'
    with open('docs/benchmarks.md', 'a') as f:
        f.write('\n## %s, %s\n\n' % (datetime.date.today().isoformat(), commit))
        peer = output_of(['nfcapd', '-V']).split('\n')[0].removeprefix('nfcapd: ')
        f.write('%s; %d datagrams a measurement%s.\n\n' % (machine(), options.datagrams, '; nfdump ' + peer if peer else ''))
        for row in [HEAD, ['---'] * len(HEAD)] + rows:
            f.write('| ' + ' | '.join(row) + ' |\n')


def choose(options, enough):
    wanted = options.bars or [b.name for b in BARS if b.name != 'reference']
    if options.short:
        wanted = ['decode', 'reference']
    bars = [b for b in BARS if b.name in wanted]
    for bar in list(bars):
        why = None
        if (bar.peer in NEEDS_NFDUMP) and shutil.which('nfcapd') is None:
            why = 'nfdump is not installed'
        elif not enough and {bar.ours, bar.peer, 'nfcapd' if bar.peer == 'nfdump' else None} & set(DRAINED):
            why = 'net.core.rmem_max is too small, and only root may raise it'
        elif bar.name == 'scale' and len(drain.CPUS) < 2:
            why = 'there is one core'
        if why:
            print('left out: %s (%s)' % (bar.name, why), file=sys.stderr)
            bars.remove(bar)
    return bars


def run_rounds(lab, bars, options):
    names = list(dict.fromkeys(n for b in bars for n in (b.ours, b.peer)))
    rounds = []
    for number in range(options.rounds):
        results = {}
        for profile in options.profile or PROFILES:
            for name in names:
                results[name, profile] = lab.measure(name, profile, options.accept_noise)
        rounds.append(results)
        print('round %d of %d' % (number + 1, options.rounds), file=sys.stderr)
    return rounds


def absurd(rows, bars):
    """CI machines are noisy, so only a ratio of more than twice the bar fails there."""
    must = {b.name: b.must for b in bars}
    return [row for row in rows if row[4] and float(row[4]) > 2 * must[row[0]]]


def main():
    parser = argparse.ArgumentParser(prog='scripts/bench', epilog='\n'.join('  %-10s %s; must %s' % (
        b.name, b.text, b.show_must()) for b in BARS), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bars', nargs='*', metavar='BAR', choices=[b.name for b in BARS] + [[]])
    parser.add_argument('--short', action='store_true', help='two rounds without peers; fails only at twice a bar')
    parser.add_argument('--rounds', type=int, help='5, or 2 with --short')
    parser.add_argument('--datagrams', type=int, default=80000, help='of a measurement; at most 85000')
    parser.add_argument('--profile', choices=PROFILES, action='append', help='one load only')
    parser.add_argument('--accept-noise', action='store_true', help='do not repeat noisy measurements')
    parser.add_argument('--record', action='store_true', help='append the result to docs/benchmarks.md')
    parser.add_argument('--build', default='build/bench', help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.datagrams = min(options.datagrams, drain.BUFFER * 2 // drain.QUEUED * 95 // 100)
    options.rounds = options.rounds or (2 if options.short else 5)
    options.accept_noise = options.accept_noise or options.short
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that rmem_max is put back
    os.sched_setaffinity(0, drain.CPUS[:1])
    lab = Lab(options.build, options.datagrams)
    try:
        with drain.Receive() as receive:
            bars = choose(options, receive.enough)
            rounds = run_rounds(lab, bars, options)
    except Failed as failure:
        print('scripts/bench: %s' % failure, file=sys.stderr)
        return 1
    finally:
        lab.clean()
    rows = [summarise(b, p, rounds) for b in bars for p in options.profile or PROFILES]
    print_table(rows)
    if options.record:
        record(rows, bars, options)
    if options.short:
        return 1 if absurd(rows, bars) else 0
    return 0 if all(row[-1] == 'holds' for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
