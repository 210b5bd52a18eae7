#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bombs.py DIR [SCALE=1] [NAME...]: makes traces by formats/trace/TRACE.md that cost far more than their size says.

Writes DIR/NAME.pbz for each bomb and prints its name and its size. SCALE multiplies what each one repeats. Needs zstd.
"""
import os
import sys

import forge
from forge import (BASE, FRAME, FUNC, NODE, STRING, SYMBOL, THREAD, chunk, column, event, ident, octets, process, rec,
                   repeat, rows, samples, sv, thread, uv)

ROOM = (4 << 20) - 24           # octets of records in the largest chunk
MAPPING, CLOCK, LOST, NOTE, RAWSTACK, META, SCAN = 13, 3, 26, 28, 30, 1, 23
SAMPLE_ROWS = 262144
DEEP = 4096


class Trace:
    """The chunks of one trace; one that is made again and again is compressed by zstd each time, as its number differs."""

    def __init__(self, first=BASE):
        self.parts = [ident()]
        self.seq = 0
        if first is not None:
            self.add(first)

    def add(self, *records, times=1, **head):
        raw = b''.join(records)
        for _ in range(times):
            self.parts.append(chunk(raw, seq=self.seq, **head))
            self.seq += 1
        return self

    def octets(self):
        return b''.join(self.parts)


def filled(record):
    """As many copies as a chunk holds."""
    return record * (ROOM // len(record))


def zeros(n):
    return b'\0' * n


def many_rows(n=SAMPLE_ROWS, **columns):
    """A record of n samples, all at one time, from a few octets each at most."""
    more = {5: column(5, 1, uv(1)), 11: column(11, 1, uv(2)), 16: column(16, 1, uv(1))}
    more.update({int(k[1:]): v for k, v in columns.items()})
    return samples(n, column(1, 4, zeros(n)), *more.values())


def ramp(number, n):
    """A column with 1, 2, 3, ..."""
    return column(number, 2, b'\2' * n)


def strings(first, n, text):
    return rec(STRING, uv(first, n), octets(text) * n)


def chains(first, nr, depth=DEEP, frame=1):
    """nr stacks of that depth, of one frame; their ids follow each other."""
    return rec(NODE, uv(first, nr * depth), (b'\0' + uv(frame) + (b'\1' + uv(frame)) * (depth - 1)) * nr)


def threads(first, nr, comm=1):
    return b''.join(thread(i, comm if isinstance(comm, int) else comm(i)) for i in range(first, first + nr))


# --- what is read: octets, rows and definitions

def zip_bomb(scale):
    """Records that are skipped: 4 MiB of them from 150 octets."""
    return Trace().add(rec(300, zeros(ROOM - 8)), times=110 * scale)


def rows_bomb(scale):
    return Trace().add(filled(many_rows()), times=16 * scale)


def rows_thin_bomb(scale):
    """One row in each record."""
    return Trace().add(filled(many_rows(1)), times=30 * scale)


def repeat_bomb(scale):
    nr = 100000
    t = Trace()
    t.add(threads(2, nr), many_rows(nr, c5=ramp(5, nr), c20=column(20, 1, uv(1))))
    return t.add(repeat(2, (0, nr)) * 83, times=12 * scale)


def repeat_thin_bomb(scale):
    """REPEATs of one thread, which cost a reader a record for each row."""
    t = Trace().add(many_rows(1, c20=column(20, 1, uv(1))))
    return t.add(filled(repeat(2, (0, 1))), times=20 * scale)


def strings_bomb(scale):
    t = Trace()
    for i in range(24 * scale):
        t.add(strings(5 + 63 * i, 63, b'x' * 65536))
    return t


def empty_strings_bomb(scale):
    t = Trace()
    for i in range(3 * scale):
        t.add(strings(5 + 4000000 * i, 4000000, b''))
    return t


def nodes_bomb(scale):
    t = Trace()
    for i in range(8 * scale):
        t.add(chains(3 + 511 * DEEP * i, 511))
    return t.add(many_rows(c11=column(11, 1, uv(511 * DEEP))))


def frames_bomb(scale):
    t = Trace()
    for i in range(8 * scale):
        t.add(rec(FRAME, uv(3 + 1000000 * i, 1000000), (b'\0\0\1\7') * 1000000))
    return t


def funcs_bomb(scale):
    t = Trace()
    for i in range(8 * scale):
        t.add(rec(FUNC, uv(3 + 650000 * i, 650000), (b'\3\3\0\0\0\0') * 650000))
    return t


def symbols_bomb(scale):
    """Inlined functions, 256 for each frame."""
    t = Trace()
    line = uv(1, 7, 0) * 256
    for i in range(8 * scale):
        n = 5000
        t.add(rec(FRAME, uv(3 + n * i, n), b'\0\0\1\7' * n),
              rec(SYMBOL, uv(n), *(uv(3 + n * i + k) + b'\0\0' + uv(256) + line for k in range(n))))
    return t


def processes_bomb(scale):
    t = Trace()
    for i in range(4 * scale):
        t.add(*(process(2 + 250000 * i + k) for k in range(250000)))
    return t


def threads_bomb(scale):
    """Each with a row in a scan, and all of them in many scans."""
    nr = 300000
    t = Trace().add(threads(2, nr))
    for at in range(0, nr, SAMPLE_ROWS):
        n = min(SAMPLE_ROWS, nr - at)
        t.add(samples(n, column(1, 4, zeros(n)), column(5, 2, sv(at + 1), b'\2' * (n - 1)), column(11, 1, uv(2)),
                      column(16, 1, uv(1)), column(20, 1, uv(1))))
    return t.add(repeat(2, (0, nr)) * 20, times=4 * scale)


def events_bomb(scale):
    return Trace().add(*(event(i) for i in range(1, 65000)),
                       many_rows(64000, c3=ramp(3, 64000)))


def facts_bomb(number, *parts):
    """Many records of a type that defines nothing."""
    return lambda scale: Trace().add(filled(rec(number, *parts)), times=12 * scale)


def segments_bomb(scale):
    """Recordings of one string and one sample."""
    t = Trace(None)
    t.parts = [ident() + chunk(forge.strings(1, b'app'), samples(1, column(1, 4, uv(0))))] * (12000 * scale)
    return t


# --- what is made of it: trees, lists, output

def pairs_bomb(scale):
    """A kernel stack of 2000 frames below each of many user stacks, which all differ."""
    n = 100000
    t = Trace().add(rec(FRAME, uv(3, n), *(b'\0\0\1' + uv(4096 + 16 * i) for i in range(n))), chains(3, 1, 2000),
                    rec(NODE, uv(2003, n), *(b'\0' + uv(3 + i) for i in range(n))))
    return t.add(many_rows(n, c11=column(11, 2, sv(2003), b'\2' * (n - 1)), c9=column(9, 1, uv(2002))), times=scale)


def comms_bomb(scale):
    """One deep stack in many threads of different names."""
    n = 30000
    t = Trace().add(chains(3, 1), rec(STRING, uv(5, n), *(octets(b'%d' % i) for i in range(n))),
                    threads(2, n, lambda i: 3 + i))
    return t.add(many_rows(n, c5=column(5, 2, sv(2), b'\2' * (n - 1)), c11=column(11, 1, uv(2 + DEEP))), times=scale)


def distinct_bomb(scale):
    """Rows that all differ in their two stacks."""
    n = SAMPLE_ROWS
    t = Trace().add(chains(3, 300))
    for i in range(16 * scale):
        t.add(many_rows(n, c11=column(11, 2, sv(2 + i), b'\2' * (n - 1)), c9=column(9, 2, sv(2 + 3 * i), b'\4' * (n - 1)),
                        c16=column(16, 1, uv(10 + i % 8))))
    return t


def inlined_bomb(scale):
    """Deep stacks of frames that stand for 256 functions each."""
    n = 4000
    line = uv(1, 7, 0) * 256
    t = Trace().add(rec(FRAME, uv(3, n), *(b'\0\0\1' + uv(64 + i) for i in range(n))),
                    rec(SYMBOL, uv(n), *(uv(3 + k) + b'\0\0' + uv(256) + line for k in range(n))),
                    rec(NODE, uv(3, n), *(b'\0' + uv(3 + k) for k in range(n))))
    return t.add(many_rows(n, c11=column(11, 2, sv(3), b'\2' * (n - 1))), times=scale)


def name_tree(t, nr_names, length, nr_nodes):
    """Functions with long names that differ at the end, and a wide tree of them."""
    first = 5
    for at in range(0, nr_names, 60):
        n = min(60, nr_names - at)
        t.add(rec(STRING, uv(first + at, n), *(octets(b'n' * (length - 8) + b'%08d' % (at + i)) for i in range(n))))
    t.add(rec(FRAME, uv(3, nr_names), *(b'\0\0\1' + uv(4096 + i) for i in range(nr_names))),
          rec(FUNC, uv(3, nr_names), *(uv(first + i, first + i, first + i, 0) + zeros(2) for i in range(nr_names))),
          rec(SYMBOL, uv(nr_names), *(uv(3 + i) + zeros(2) + uv(1, 3 + i, 7, 0) for i in range(nr_names))))
    # A spine; each node of it has all names as leaves.
    node, spine, ids = 3, 0, []
    parts = []
    while node - 3 < nr_nodes:
        parts.append(uv(node - spine if spine else 0, 1))
        spine = node
        node += 1
        for i in range(nr_names):
            parts.append(uv(node - spine, 3 + i))
            ids.append(node)
            node += 1
    t.add(rec(NODE, uv(3, len(parts)), *parts))
    n = len(parts)
    for at in range(0, n, SAMPLE_ROWS):
        k = min(SAMPLE_ROWS, n - at)
        t.add(many_rows(k, c11=column(11, 2, sv(3 + at), b'\2' * (k - 1))))
    return t


def names_bomb(scale):
    return name_tree(Trace(), 300, 65536, 100000 * scale)


def short_names_bomb(scale):
    return name_tree(Trace(), 2000, 2048, 300000 * scale)


def paths_bomb(scale):
    """A binary with a long path, in which all frames lie that have guessed callers."""
    n = 1000000
    return Trace().add(forge.strings(5, b'/' + b'p' * 65000), rec(7, uv(2) + b'\0' + uv(5), octets(b''), uv(0, 0, 0, 0, 0, 0)),
                       rec(FRAME, uv(3, n), b'\0\2\2\7' * n)).add(
        rec(NODE, uv(3, n), *(b'\0' + uv(3 + i) for i in range(n)))).add(
        *(many_rows(c11=column(11, 2, sv(3 + SAMPLE_ROWS * i), b'\2' * (SAMPLE_ROWS - 1)),
                    c16=column(16, 1, uv(5 + i))) for i in range(3)), times=scale)


def csv_bomb(scale):
    """Rows of deep stacks with long names."""
    t = Trace().add(strings(5, 1, b'f' * 65536), rec(FUNC, uv(3, 1), uv(5, 5, 5, 0) + zeros(2)),
                    forge.symbol(2, 3), chains(3, 1, DEEP, 2))
    return t.add(many_rows(c11=column(11, 1, uv(2 + DEEP))), times=scale)


def cells_bomb(scale):
    """Rows with long names in which something is looked for and not found: cells without an octet."""
    t = Trace().add(strings(5, 1, b'a' * 65536), rec(forge.PROCESS, uv(2, 101, 0, 0, 1, 0, 0, 0, 0, 5, 0)), rec(THREAD, uv(2, 2, 101, 1, 0, 0)))
    return t.add(many_rows(c5=column(5, 1, uv(2)), c50=column(50, 1, uv(5))), times=16 * scale)


def waits_bomb(scale):
    """A scan of threads that wait for each other in one long chain, and one more of all."""
    n = 200000
    return Trace().add(threads(2, n)).add(
        samples(n, column(1, 4, zeros(n)), column(5, 2, sv(2), b'\2' * (n - 1)), column(11, 1, uv(2)),
                column(9, 1, uv(2)), column(15, 1, uv(3)), column(16, 1, uv(1)), column(20, 1, uv(1)),
                column(24, 1, uv(203)), column(28, 2, sv(103), b'\2' * (n - 1)))).add(
        repeat(2, (1, n)) * 10, times=4 * scale)


def maps_bomb(scale):
    """Mappings of a process, one beside the other, and stacks to be unwound in them."""
    n = 150000
    one = rec(MAPPING, sv(0), uv(1), b'\0\5', uv(1 << 40, 4096, 0, 1))
    many = b''.join(rec(MAPPING, sv(0), uv(1), b'\0\5', uv((1 << 40) + 8192 * i, 4096, 0, 1)) for i in range(n))
    raw = rec(RAWSTACK, sv(5), uv(1, 2), b'\1', octets(zeros(168)), uv(4096), octets(zeros(64)))
    return Trace().add(many).add(one, raw * 2000 * scale)


BOMBS = {
    'zip': zip_bomb, 'rows': rows_bomb, 'rows-thin': rows_thin_bomb, 'repeat': repeat_bomb,
    'repeat-thin': repeat_thin_bomb, 'strings': strings_bomb, 'empty-strings': empty_strings_bomb,
    'nodes': nodes_bomb, 'frames': frames_bomb, 'funcs': funcs_bomb, 'symbols': symbols_bomb,
    'processes': processes_bomb, 'threads': threads_bomb, 'events': events_bomb,
    'clocks': facts_bomb(CLOCK, zeros(24), uv(0)),
    'losses': facts_bomb(LOST, sv(0), uv(0), b'\0', uv(0, 1)),
    'mappings': facts_bomb(MAPPING, sv(0), uv(1), b'\0\5', uv(4096, 4096, 0, 1)),
    'metas': facts_bomb(META, octets(b'k'), octets(b'v')),
    'notes': facts_bomb(NOTE, b'\0', sv(0), octets(b'n')),
    'scans': facts_bomb(SCAN, uv(1), sv(1), uv(*[0] * 13)),
    'rawstacks': facts_bomb(RAWSTACK, sv(5), uv(1, 2), b'\1', octets(b''), uv(0), octets(b'')),
    'segments': segments_bomb, 'cells': cells_bomb,
    'pairs': pairs_bomb, 'comms': comms_bomb, 'distinct': distinct_bomb, 'inlined': inlined_bomb,
    'names': names_bomb, 'short-names': short_names_bomb, 'paths': paths_bomb, 'csv': csv_bomb,
    'waits': waits_bomb, 'maps': maps_bomb,
}


def main():
    where = sys.argv[1]
    scale = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for name in sys.argv[3:] or BOMBS:
        data = BOMBS[name](scale).octets()
        with open(os.path.join(where, name + '.pbz'), 'wb') as f:
            f.write(data)
        print(name, len(data), flush=True)


main()
