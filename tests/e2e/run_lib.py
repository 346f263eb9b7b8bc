# SPDX-License-Identifier: Apache-2.0
"""run_lib - starts `whoflow run`, sends it datagrams and reads what it writes. Stdlib only."""
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time


def wait_for(what, seconds=60):
    """Polls until what() holds; a bound against hanging, no statement on speed."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError('waited in vain')
        time.sleep(0.02)


class Pipe:
    """Collects the lines of a pipe in the background."""

    def __init__(self, pipe):
        self.pipe, self.octets = pipe, b''
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self):
        while piece := os.read(self.pipe.fileno(), 65536):
            self.octets += piece
        self.pipe.close()

    def text(self):
        return self.octets.decode()

    def lines(self):
        """Whole ones."""
        return self.octets.decode().split('\n')[:-1]


class Collector:
    """A running `whoflow run`, listening on ports that the kernel chose."""

    def __init__(self, program, folder, *args, listen=('127.0.0.1:0',), read_stdout=True, **popen):
        self.stats_path = os.path.join(folder, 'stats.json')
        if os.path.exists(self.stats_path):
            os.remove(self.stats_path)
        command = [program, 'run', '--format', 'flat', '--stats-file', self.stats_path]
        for address in listen:
            command += ['--listen', address]
        self.process = subprocess.Popen(command + list(args), bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
        self.err = Pipe(self.process.stderr)
        self.out = Pipe(self.process.stdout) if read_stdout else None
        self.senders = {}
        self.n_sent = 0
        try:
            wait_for(lambda: len(self.ports()) == len(listen) or self.process.poll() is not None)
            if self.process.poll() is not None:
                raise AssertionError('it did not start: ' + self.err.text())
        except BaseException:
            self.process.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sock in self.senders.values():
            sock.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.err.thread.join()
        if self.out:
            self.out.thread.join()
        elif not self.process.stdout.closed:
            self.process.stdout.close()

    def ports(self):
        return [int(port) for port in re.findall(r'listening on UDP \S+:(\d+) ', self.err.text())]

    def send(self, datagrams, source='127.0.0.1', to='127.0.0.1', listener=0):
        """From the same port for the same source, as an exporter does."""
        family = socket.AF_INET6 if ':' in source else socket.AF_INET
        sock = self.senders.get(source)
        if not sock:
            sock = self.senders[source] = socket.socket(family, socket.SOCK_DGRAM)
            sock.bind((source, 0))
        for datagram in datagrams:
            sock.sendto(datagram, (to, self.ports()[listener]))
            self.n_sent += 1

    def tell(self, number):
        self.process.send_signal(number)

    def wait_for_lines(self, n):
        wait_for(lambda: len(self.out.lines()) >= n)

    def wait_for_log(self, part):
        wait_for(lambda: part in self.err.text())

    def finish(self):
        """(exit code, the ledger), of a process that was told to end."""
        code = self.process.wait(timeout=120)
        self.err.thread.join()
        if self.out:
            self.out.thread.join()
        with open(self.stats_path, encoding='utf-8') as f:
            return code, json.load(f)

    def end(self, number=signal.SIGTERM):
        self.tell(number)
        return self.finish()


def check_sums(stats, n_sent):
    """Everything that was sent, read, decoded and made is accounted for, in exactly one place each."""
    decoder, reason = stats['decoder'], stats['decoder']['reason']
    sums = {
        'sent': (n_sent, stats['datagrams_received'] + stats['kernel_dropped']),
        'datagrams': (stats['datagrams_received'], decoder['datagrams_decoded'] + reason['short_header'] +
                      reason['unknown_version'] + reason['refused_exporter'] + stats['ring_dropped']),
        'data sets': (decoder['sets_data'], decoder['sets_decoded'] + decoder['sets_held'] + decoder['sets_refused']),
        'held sets': (decoder['sets_held'], decoder['sets_released'] + decoder['sets_expired'] + decoder['sets_evicted'] +
                      stats['state']['pending_sets']),
        'records': (decoder['records_flow'] + decoder['records_options'],
                    stats['documents_made'] + stats['documents_refused']),
        'documents': (stats['documents_made'], stats['documents_written'] + stats['documents_dropped'] +
                      stats['documents_failed'] + stats['documents_unsent']),
    }
    wrong = {name: sides for name, sides in sums.items() if sides[0] != sides[1]}
    if wrong:
        raise AssertionError('sums that do not hold: %r' % wrong)
