# SPDX-License-Identifier: Apache-2.0
"""pcapfile - reads and writes classic pcap files as lists of (header fields, frame): enough to reorder a capture."""
import gzip
import struct


class Pcap:
    def __init__(self, path):
        with gzip.open(path) if path.endswith('.gz') else open(path, 'rb') as f:
            data = f.read()
        magic = data[:4]
        self.endian = '<' if magic in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
        if magic not in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1', b'\xa1\xb2\xc3\xd4', b'\xa1\xb2\x3c\x4d'):
            raise ValueError('%s: no classic pcap' % path)
        self.head, self.frames = data[:24], []
        off = 24
        while off + 16 <= len(data):
            sec, frac, cap, wire = struct.unpack_from(self.endian + 'IIII', data, off)
            if off + 16 + cap > len(data):
                break
            self.frames.append(((sec, frac, wire), data[off + 16:off + 16 + cap]))
            off += 16 + cap

    def write(self, path, order):
        """Writes the frames in this order; the packet times stay with the slots."""
        with open(path, 'wb') as f:
            f.write(self.head)
            for slot, i in enumerate(order):
                (sec, frac, _), (_, frame) = self.frames[slot][0], self.frames[i]
                wire = self.frames[i][0][2]
                f.write(struct.pack(self.endian + 'IIII', sec, frac, len(frame), wire))
                f.write(frame)
