# SPDX-License-Identifier: Apache-2.0
"""drain - what a program spends on a known load, in CPU time, to the nanosecond.

Drain: the collector is stopped (SIGSTOP), the generator fills its socket's queue, the collector continues, and what
counts is the CPU time (all threads and children) and the wall time until it has nothing left to do. No generator
competes with it, nothing is lost, and every collector gets the same queue. Counts are checked: stored == sent.
Whole: a program runs from start to end over a file.
"""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

BUFFER = 100 << 20       # octets; nfcapd takes no more
QUEUED = 2304            # octets of queue that the kernel counts for a datagram of 1400
MAX_NOISE = 0.2          # cores that others may use
SETTLED_NS = 150_000_000
TIMEOUT_S = 120
CPUS = sorted(os.sched_getaffinity(0))  # the last ones are the collector's, the first is the generator's and ours


class Failed(Exception):
    pass


class Result:
    """cpu_ns, wall_ns, and what was processed; noise: cores that other programs used meanwhile."""

    def __init__(self, cpu_ns, wall_ns, sent, noise=0.0):
        self.cpu_ns, self.wall_ns, self.noise = cpu_ns, wall_ns, noise
        self.datagrams, self.flows = sent['datagrams'], sent['flows']


def descendants(pid):
    found, queue = [pid], [pid]
    while queue:
        parent = queue.pop()
        try:
            for task in os.listdir('/proc/%d/task' % parent):
                with open('/proc/%d/task/%s/children' % (parent, task)) as f:
                    children = [int(c) for c in f.read().split()]
                found += children
                queue += children
        except OSError:
            pass
    return found


def cpu_ns(pids):
    """The kernel's CPU clocks of these processes: every thread, finished ones too."""
    total = 0
    for pid in pids:
        try:
            total += time.clock_gettime_ns((~pid << 3) | 2)
        except OSError:
            pass
    return total


def udp_socket(port):
    """(octets queued, datagrams dropped) of the socket on 127.0.0.1:port, None when there is none."""
    with open('/proc/net/udp') as f:
        for line in f:
            columns = line.split()
            if columns[1] == '0100007F:%04X' % port:
                return int(columns[4].split(':')[1], 16), int(columns[12])
    return None


def busy_s():
    """CPU seconds of the whole machine, steal included."""
    with open('/proc/stat') as f:
        columns = [int(c) for c in f.readline().split()[1:]]
    return (sum(columns[0:3]) + sum(columns[5:8])) / os.sysconf('SC_CLK_TCK')


def own_s():
    ours = resource.getrusage(resource.RUSAGE_SELF)
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ours.ru_utime + ours.ru_stime + theirs.ru_utime + theirs.ru_stime


class Noise:
    """Cores that were busy with anything but this script and its children."""

    def __init__(self):
        self.at, self.busy, self.own = time.monotonic(), busy_s(), own_s()

    def cores(self):
        elapsed = time.monotonic() - self.at
        return max(0.0, (busy_s() - self.busy - (own_s() - self.own)) / elapsed)


class Receive:
    """net.core.rmem_max raised for the time of the measurement; enough says whether the queue can hold a load."""
    path = '/proc/sys/net/core/rmem_max'

    def __enter__(self):
        with open(self.path) as f:
            self.before = int(f.read())
        self.enough = self.before >= BUFFER or self.write(BUFFER)
        return self

    def __exit__(self, *_):
        if self.enough and self.before < BUFFER:
            self.write(self.before)

    def write(self, value):
        try:
            with open(self.path, 'w') as f:
                f.write(str(value))
            return True
        except OSError:
            command = ['sudo', '-n', 'sysctl', '-q', '-w', 'net.core.rmem_max=%d' % value]
            return shutil.which('sudo') is not None and subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def pinned(cores, command):
    return ['taskset', '-c', ','.join(str(c) for c in cores)] + command


class Collector:
    """One that can be drained: its command, and how many flows it says it stored."""

    def __init__(self, name, cores):
        self.name, self.cores = name, cores

    def command(self, port, folder):
        raise NotImplementedError

    def check(self, folder, output, sent):
        raise NotImplementedError

    def expect(self, what, stored, sent):
        if stored != sent:
            raise Failed('%s: %d %s sent, %d stored' % (self.name, sent, what, stored))


class Sink(Collector):
    def __init__(self, build, cores):
        super().__init__('sink', cores)
        self.build = build

    def command(self, port, folder):
        return [self.build + '/tests/bench/wf_sink', str(port), str(BUFFER)]

    def check(self, folder, output, sent):
        self.expect('datagrams', json.loads(output)['datagrams'], sent['datagrams'])


class Whoflow(Collector):
    def __init__(self, build, cores, output_format, target, workers=1):
        super().__init__('whoflow ' + output_format, cores)
        self.program = build + '/collector/whoflow'
        self.options = ['--format', output_format, '-o', target, '--workers', str(workers)]

    def command(self, port, folder):
        return [self.program, 'run', '--listen', '127.0.0.1:%d' % port, '--receivers', '1', '--receive-buffer',
                str(BUFFER), '--no-summary', '--log-level', 'error', '--stats-file', folder + '/stats.json'] + self.options

    def check(self, folder, output, sent):
        with open(folder + '/stats.json') as f:
            stats = json.load(f)
        self.expect('datagrams', stats['datagrams_received'] + stats['kernel_dropped'], sent['datagrams'])
        self.expect('flow records', stats['decoder']['records_flow'], sent['flows'])
        self.expect('options records', stats['decoder']['records_options'], sent['options'])
        if '--format' in self.options and 'none' not in self.options:
            self.expect('documents', stats['documents_written'], sent['flows'] + sent['options'])


class Nfcapd(Collector):
    def __init__(self, cores):
        super().__init__('nfcapd', cores)

    def command(self, port, folder):
        return ['nfcapd', '-b', '127.0.0.1', '-p', str(port), '-l', folder, '-t', '3600', '-B', str(BUFFER)]

    def check(self, folder, output, sent):
        summary = subprocess.run(['nfdump', '-I', '-r', self.file(folder)], capture_output=True, text=True).stdout
        flows = [line.split()[1] for line in summary.splitlines() if line.startswith('Flows:')]
        self.expect('flow records', int(flows[0]) if flows else -1, sent['flows'])

    @staticmethod
    def file(folder):
        return [folder + '/' + f for f in sorted(os.listdir(folder)) if f.startswith('nfcapd.2')][0]


def wait_for(condition, what):
    until = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > until:
            raise Failed('timed out: ' + what)
        time.sleep(0.01)


def wait_settled(pids, port):
    """Until the CPU clocks stand still and the queue is empty: [(time, CPU)], in nanoseconds."""
    samples = [(time.monotonic_ns(), cpu_ns(pids))]
    since = 0
    while True:
        time.sleep(0.005)
        now, cpu = time.monotonic_ns(), cpu_ns(pids)
        samples.append((now, cpu))
        if now - samples[0][0] > TIMEOUT_S * 10**9:
            raise Failed('timed out: the collector does not come to rest')
        while samples[since][0] < now - SETTLED_NS:
            since += 1
        if now - samples[0][0] > SETTLED_NS and cpu - samples[since][1] < SETTLED_NS // 100 and udp_socket(port)[0] == 0:
            return samples


def fill(build, profile, datagrams, port, exporters):
    command = [build + '/tests/bench/wf_generate', '--profile', profile, '--datagrams', str(datagrams), '--exporters',
               str(exporters), '127.0.0.1:%d' % port]
    sent = json.loads(subprocess.run(pinned(CPUS[:1], command), check=True, capture_output=True, text=True).stdout)
    if sent['send_errors'] > 0 or udp_socket(port)[1] > 0:
        raise Failed('the queue does not hold the load: %d dropped' % udp_socket(port)[1])
    return sent


def drain(build, collector, profile, datagrams, exporters=4, keep=None):
    """One measurement. keep: a function that gets the collector's folder before it is removed."""
    noise, port = Noise(), free_port()
    folder = tempfile.mkdtemp(dir=build)
    process = subprocess.Popen(pinned(collector.cores, collector.command(port, folder)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: udp_socket(port) is not None or process.poll() is not None, collector.name + ' does not listen')
        if process.poll() is not None:
            raise Failed('%s: %s' % (collector.name, process.stderr.read().strip()))
        pids = descendants(process.pid)
        wait_settled(pids, port)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        sent = fill(build, profile, datagrams, port, exporters)
        before = cpu_ns(pids)
        start = time.monotonic_ns()
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        samples = wait_settled(pids, port)
        cpu = samples[-1][1]
        end = next(t for t, c in samples if cpu - c < 1_000_000)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=TIMEOUT_S)
        if process.returncode != 0:
            raise Failed('%s: exit code %d: %s' % (collector.name, process.returncode, errors.strip()))
        collector.check(folder, output, sent)
        if keep is not None:
            keep(folder)
        return Result(cpu - before, end - start, sent, noise.cores())
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def whole(command, cores, sent):
    """A program from its start to its end; what it prints is thrown away."""
    noise = Noise()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic_ns()
    done = subprocess.run(pinned(cores, command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic_ns() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Failed('%s: exit code %d: %s' % (command[0], done.returncode, done.stderr.strip()[-500:]))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Result(int(cpu * 1e9), wall, sent, noise.cores())
