#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_seeds - seeds for the fuzzers from the sample captures in pcaps/.

    make_seeds.py CAPTURE.pcap[.gz]... writes tests/fuzz/corpus/{decoder,packet,capture}/NAME

decoder: { exporter (1 octet), length (2 octets), datagram } ...; packet: link type index, then { length, frame } ...;
capture: a file as it is, packed and not. At most 8 datagrams a seed, 3 in a capture. Stdlib only; Ethernet and IPv4 without options, as scripts/make-samples writes them.
"""
import gzip
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'corpus'))
from pcapfile import Pcap  # noqa: E402


def payload(frame, link):
    off = {1: 14, 113: 16, 276: 20, 101: 0, 12: 0}.get(link)
    if off is None or frame[off] >> 4 != 4 or frame[off + 9] != 17:
        return None
    off += (frame[off] & 15) * 4
    return frame[off + 8:]


def main():
    for path in sys.argv[1:]:
        capture = Pcap(path)
        link = struct.unpack(capture.endian + 'I', capture.head[20:24])[0]
        frames = [f for _, f in capture.frames][:8]
        datagrams = [p for p in (payload(f, link) for f in frames) if p]
        name = os.path.basename(path).split('.')[0]
        with open(os.path.join(HERE, 'corpus', 'decoder', name), 'wb') as f:
            for i, p in enumerate(datagrams):
                f.write(struct.pack('!BH', i & 1, len(p)) + p)
        with open(os.path.join(HERE, 'corpus', 'packet', name), 'wb') as f:
            f.write(bytes([{1: 0, 113: 1, 276: 2, 101: 4, 12: 3}.get(link, 0)]))
            for p in frames:
                f.write(struct.pack('!H', len(p)) + p)
        few = capture.head + b''.join(
            struct.pack(capture.endian + 'IIII', sec, frac, len(p), wire) + p
            for (sec, frac, wire), p in capture.frames[:3])
        with open(os.path.join(HERE, 'corpus', 'capture', name), 'wb') as f:
            f.write(few)
        with open(os.path.join(HERE, 'corpus', 'capture', name + '.gz'), 'wb') as f:
            f.write(gzip.compress(few, mtime=0))


if __name__ == '__main__':
    main()
