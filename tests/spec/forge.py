#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""forge.py DIR: makes small traces, good and bad, by formats/trace/TRACE.md alone, and says what is to come of them.

Writes DIR/NAME.pbz for each case and prints "NAME SAMPLES DAMAGED TRUNCATED REFUSED": how many samples a reader finds,
how many chunks are damaged, whether the file is truncated, how many segments need a newer version. Needs zstd.
"""
import os
import struct
import subprocess
import sys

import pbz

UUID = bytes(range(0x41, 0x51))
OTHER = bytes(range(0x61, 0x71))
META, STRING, BINARY, PROCESS, THREAD, TASKEV, FRAME, NODE = 1, 5, 7, 9, 11, 12, 15, 17
FUNC, SYMBOL, EVENT, WALK_RECEIPT, SAMPLES, END, REPEAT, PLACE, THREADNAME = 19, 20, 21, 23, 25, 29, 31, 32, 34


def uv(*values):
    out = bytearray()
    for v in values:
        while v > 127:
            out.append(v & 127 | 128)
            v >>= 7
        out.append(v)
    return bytes(out)


def sv(v):
    return uv(2 * v if v >= 0 else -2 * v - 1)


def octets(b):
    return uv(len(b)) + b


def rec(kind, *parts):
    return uv(kind) + octets(b''.join(parts))


def ident(uuid=UUID, major=1, minor=0, flags=0):
    d = struct.pack('<II', 0x184D2A50, 35) + b'PROBEE-PBZ\0' + struct.pack('<BBH', major, minor, flags) + uuid
    return d + struct.pack('<I', pbz.crc32c(d))


def zstd(raw, *options):
    done = subprocess.run(['zstd', '-qc', f'--stream-size={len(raw)}', *options], input=raw, stdout=subprocess.PIPE,
                          check=True)
    return done.stdout


def signpost(data, raw_size, seq=0, uuid=UUID, n=0, contents=3, data_size=None):
    d = struct.pack('<IIB3x4sIIIQQI', 0x184D2A51, 44, contents, uuid[:4], seq,
                    len(data) if data_size is None else data_size, raw_size, 0, 0, n)
    return d + struct.pack('<I', pbz.crc32c(d))


def raw_chunk(records, seq=0, uuid=UUID, base=1000, magic=b'PBC1', length=None):
    return magic + uuid[:4] + struct.pack('<IIQ', seq, len(records) if length is None else length, base) + records


def chunk(*records, seq=0, uuid=UUID, options=(), **head):
    raw = raw_chunk(b''.join(records), seq, uuid, **head)
    data = zstd(raw, *options)
    return signpost(data, len(raw), seq, uuid) + data


def strings(first, *texts):
    return rec(STRING, uv(first, len(texts)), *map(octets, texts))


def column(number, encoding, *parts):
    return uv(number) + bytes([encoding]) + octets(b''.join(parts))


def samples(n, *columns):
    return rec(SAMPLES, uv(n, len(columns)), *columns)


def rows(n, **more):
    """n samples of thread 1 with user stack 2."""
    return samples(n, column(1, 4, uv(*[5] * n)), column(5, 1, uv(1)), column(11, 1, uv(more.get('node', 2))),
                   column(16, 1, uv(1)))


def walk_rows(walk, *threads, node=2):
    n = len(threads)
    return samples(n, column(1, 4, uv(*[5] * n)), column(5, 0, uv(*threads)), column(11, 1, uv(node)),
                   column(16, 1, uv(1)), column(20, 1, uv(walk)))


def repeat(walk, *runs):
    """runs: gap, number of threads"""
    return rec(REPEAT, sv(7), uv(walk, len(runs)), *(uv(*run) for run in runs))


def frames(first, *frame):
    return rec(FRAME, uv(first, len(frame)), *(bytes([kind, 0]) + uv(binary, addr) for kind, binary, addr in frame))


def binary(i, build_id=b'', segments=0):
    return rec(BINARY, uv(i) + b'\0' + uv(2), octets(build_id), uv(0, 0, 0, 0, 0, segments), bytes(3 * segments))


def process(i, parent=0):
    return rec(PROCESS, uv(i, 100, 0, parent, 1, 0, 0, 0, 0, 0, 0))


def thread(i, comm=1):
    return rec(THREAD, uv(i, 1, 100 + i, comm, 0, 0))


def event(i):
    return rec(EVENT, uv(i, 3, 0, 0, 1, 0))


def nodes(first, *node):
    return rec(NODE, uv(first, len(node)), *(uv(d, f) for d, f in node))


def symbol(frame, *funcs):
    return rec(SYMBOL, uv(1, frame) + b'\0' + uv(0, len(funcs)), *(uv(f, 7, 0) for f in funcs))


def unlined(frame, *funcs):
    """A symbol whose lines are in PLACEs."""
    return rec(SYMBOL, uv(1, frame) + b'\0' + uv(0, len(funcs)), *(uv(f, 0, 0) for f in funcs))


def places(*place):
    return rec(PLACE, uv(len(place)), *(uv(*p) for p in place))


BASE = b''.join([
    strings(1, b'app', b'/usr/bin/app', b'main', b'work;\xff'), binary(1), process(1), thread(1),
    frames(1, (0, 1, 0x10), (0, 1, 0x20)), nodes(1, (0, 1), (1, 2)),
    rec(FUNC, uv(1, 2), uv(3, 3, 0, 0) + b'\0\0', uv(4, 4, 0, 0) + b'\0\0'), symbol(1, 1)])
FIRST = ident() + chunk(BASE, rows(2))
WALK = b''.join([thread(2), thread(3, 2), thread(9), walk_rows(1, 1, 2, 3, 9)])
WALKED = ident() + chunk(BASE, rows(2), WALK)        # 6 samples


def after(*records, **head):
    """A good chunk of 2 samples, and one more."""
    return FIRST + chunk(*records, seq=1, **head)


def good():
    """Cases without damage: octets, samples."""
    yield 'minimal', FIRST, 2
    yield 'empty-chunk', ident() + chunk(), 0
    yield 'no-chunk', ident(), 0
    yield 'two-segments', FIRST + ident(OTHER) + chunk(BASE, rows(3), uuid=OTHER), 5
    yield 'same-uuid-again', FIRST + FIRST, 4
    yield 'skippable', FIRST + struct.pack('<II', 0x184D2A52, 3) + b'abc' + chunk(rows(1), seq=1), 3
    yield 'skippable-first', struct.pack('<II', 0x184D2A5F, 0) + FIRST, 2
    yield 'newer-minor', ident(minor=7, flags=0x80) + chunk(BASE, rows(2)), 2
    yield 'even-record', after(rec(0, b'x'), rec(300, b''), rows(1)), 3
    yield 'even-column', after(samples(1, column(1, 4, uv(0)), column(98, 99, b'zzz'))), 3
    yield 'thread-name', after(rec(THREADNAME, uv(1, 3)), rec(THREADNAME, uv(1, 2)), rows(1)), 3
    yield 'longer-payload', after(rec(THREAD, uv(2, 1, 5, 1, 0, 0), b'more'), rows(1)), 3
    yield 'longer-samples', after(rec(SAMPLES, uv(1, 1), column(1, 4, uv(0)), b'more')), 3
    yield 'long-uv', after(rec(THREAD, uv(2), b'\x81' + b'\x80' * 8 + b'\0', uv(5, 1, 0, 0)), rows(1)), 3
    yield 'no-rows', after(rec(SAMPLES, uv(0, 9), b'\xff'), rows(1)), 3
    yield 'encodings', after(samples(4, column(1, 4, uv(0, 0, 7, 2)), column(5, 0, uv(1, 0, 1, 1)), column(
        11, 3, uv(3, 2, 1, 0)), column(9, 2, sv(1), sv(1), sv(-2), sv(1)), column(13, 0, uv(0, 2**64 - 1, 1, 1)))), 6
    yield 'waits', after(samples(3, column(1, 4, uv(0, 1, 2)), column(22, 0, uv(0, 7, 2**64 - 1)), column(
        24, 1, uv(203)), column(26, 0, uv(0, 2**64 - 1, 4096)), column(28, 3, uv(2, 77, 1, 0)))), 5
    yield 'peers', after(samples(3, column(1, 4, uv(0, 1, 2)), column(30, 0, uv(1, 255, 0)), column(
        32, 0, uv(0, 2**32 - 1, 2)), column(34, 1, uv(2**64 - 1)))), 5
    yield 'walk-1.1', after(rec(WALK_RECEIPT, uv(1) + sv(1) + uv(*[0] * 10)), rows(1)), 3
    yield 'walk-ends', after(rec(WALK_RECEIPT, uv(1) + sv(1) + uv(*[0] * 10), uv(2, 3, 2), b'\x01', uv(5), b'\xfa', uv(
        2**64 - 1), b'more'), rows(1)), 3
    yield 'delta-wraps', after(samples(2, column(1, 4, uv(0, 0)), column(13, 2, sv(-1), sv(1)))), 4
    yield 'before-base', after(samples(2, column(1, 4, uv(2**64 - 500, 400)))), 4
    yield 'ids-left-out', after(strings(2**20 + 5, b'far'), thread(2**20 + 2, 9), samples(
        2, column(1, 4, uv(0, 0)), column(5, 0, uv(2**20 + 2, 77)))), 4
    yield 'missing-frame-symbol', after(frames(9, (1, 0, 64)), symbol(5, 1), nodes(3, (0, 5), (1, 9), (1, 0)),
                                        rows(1, node=3), rows(1, node=4), rows(1, node=5)), 5
    yield 'kinds', after(frames(3, (1, 0, 1), (2, 0, 2), (3, 0, 3), (4, 0, 4), (200, 1, 5), (0, 0, 6)), nodes(
        3, (0, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, 8)), rows(1, node=8)), 3
    yield 'no-names', after(rec(FUNC, uv(3, 1), uv(0, 0, 0, 0) + b'\0\0'), symbol(2, 3), rows(1)), 3
    yield 'inlined', after(symbol(2, 2, 1), rows(1)), 3
    yield 'places', after(unlined(2, 2, 1), places((2, 1, 2, 12, 0), (2, 0, 1, 2**32 - 1, 9)), rows(1)), 3
    yield 'places-that-nobody-wants', after(unlined(2, 2, 1), places((1, 0, 2, 5, 0), (2, 2, 2, 5, 0), (2, 2**32 - 1, 2, 5, 0), (
        2, 1, 0, 5, 0), (2, 1, 2, 6, 0)), rows(1)), 3
    yield 'second-symbol', after(symbol(1, 2), rows(1)), 3
    yield 'unknown-values', after(rec(TASKEV, sv(0), b'\x63', uv(1, 2**32 - 1)), samples(
        1, column(1, 4, uv(0)), column(15, 1, uv(255)), column(16, 1, uv(254)), column(5, 1, uv(1)))), 3
    yield 'ends', after(samples(80, column(1, 4, uv(*[0] * 80)), column(16, 0, uv(*range(40), *range(40))), column(
        11, 3, uv(40, 2, 40, 0)), column(5, 1, uv(1)))), 82
    yield 'even-column-twice', after(samples(1, column(1, 4, uv(1)), column(98, 1, uv(1)), column(98, 1, uv(1)))), 3
    yield 'highest-event', ident() + chunk(BASE, event(65536), rows(1)), 1
    yield 'deepest', after(nodes(3, *[(1, 1)] * 4094), rows(1)), 3
    yield 'build-id-64', after(binary(2, bytes(64), 4096), rows(1)), 3
    yield 'longest-text', after(strings(5, b'x' * 65536), rows(1)), 3
    yield 'repeat-all', after(WALK, repeat(2, (0, 3), (5, 1))), 10
    yield 'repeat-some', after(WALK, repeat(2, (1, 1), (6, 1)), repeat(3)), 8
    yield 'repeat-gap-0', after(WALK, repeat(2, (0, 1), (0, 1), (0, 1), (5, 1))), 10
    yield 'repeat-longer', after(WALK, rec(REPEAT, sv(7), uv(2, 1, 0, 3), b'more')), 9
    yield 'repeat-of-chunks-before', WALKED + chunk(rows(1), seq=1) + chunk(repeat(2, (0, 3)), seq=2), 10
    yield 'repeat-between', after(WALK, repeat(2, (0, 2)), walk_rows(2, 3, 9, node=1), repeat(3, (0, 3)), walk_rows(
        3, 9, 9, node=2), repeat(4, (8, 1))), 16
    yield 'repeat-not-of-samples', after(WALK, rows(3, node=1), repeat(2, (0, 1))), 10
    yield 'repeat-in-segments', WALKED + chunk(repeat(2, (0, 3)), seq=1) + ident(OTHER) + chunk(
        BASE, walk_rows(1, 1, node=1), repeat(2, (0, 1)), uuid=OTHER), 11
    yield 'raw-blocks', FIRST + chunk(rows(1), rec(28, b'\0\0', octets(os.urandom(60000))), seq=1), 3


def broken_tails():
    """Records that make the rest of their chunk unusable."""
    yield 'odd-end', uv(1) + uv(99) + b'x'
    yield 'type-cut', b'\x80' * 11
    yield 'uv-11', rec(END, b'\x80' * 10 + b'\0')
    yield 'uv-65-bits', rec(EVENT, uv(1, 0), b'\0', b'\x80' * 9 + b'\x02', uv(0, 0))
    yield 'uv32', rec(THREAD, uv(2, 1, 2**32, 1, 0, 0))
    yield 'short', rec(THREAD, uv(2, 1, 5, 1, 0))
    yield 'meta-no-key', rec(META, octets(b''), octets(b'v'))
    yield 'meta-long-key', rec(META, octets(b'k' * 64), octets(b'v'))
    yield 'meta-nul', rec(META, octets(b'a\0b'), octets(b'v'))
    yield 'text-too-long', strings(5, b'x' * 65537)
    yield 'string-id-again', strings(4, b'again')
    yield 'string-id-0', strings(0, b'again')
    yield 'id-jump', strings(2**20 + 6, b'far')
    yield 'first-id-jump', event(2**20 + 2)
    yield 'event-65537', event(65537)
    yield 'batch-too-big', rec(STRING, uv(5, 9), b'\0' * 8)
    yield 'frames-too-many', rec(FRAME, uv(3, 3), b'\0' * 11)
    yield 'build-id-65', binary(2, bytes(65))
    yield 'segments-4097', binary(2, b'', 4097)
    yield 'forward-string', thread(2, 5)
    yield 'forward-binary', frames(3, (0, 2, 0))
    yield 'forward-frame', nodes(3, (1, 3))
    yield 'forward-node', rows(1, node=3)
    yield 'forward-thread', samples(1, column(1, 4, uv(0)), column(5, 1, uv(2)))
    yield 'forward-event', samples(1, column(1, 4, uv(0)), column(3, 1, uv(1)))
    yield 'forward-func', symbol(2, 3)
    yield 'forward-symbol', symbol(3, 1)
    yield 'forward-parent', process(2, 3)
    yield 'own-parent', process(2, 2)
    yield 'forward-fork', rec(TASKEV, sv(0), b'\0', uv(1, 2))
    yield 'forward-rename', rec(TASKEV, sv(0), b'\2', uv(1, 5))
    yield 'distance', nodes(3, (3, 1))
    yield 'too-deep', nodes(3, *[(1, 1)] * 4095)
    yield 'symbol-of-none', symbol(0, 1)
    yield 'name-of-none', rec(THREADNAME, uv(0, 1))
    yield 'forward-name', rec(THREADNAME, uv(1, 5))
    yield 'name-of-forward', rec(THREADNAME, uv(9, 1))
    yield 'place-of-none', unlined(2, 1) + places((0, 0, 2, 5, 0))
    yield 'forward-place', places((3, 0, 2, 5, 0))
    yield 'forward-place-file', places((2, 0, 5, 5, 0))
    yield 'places-too-many', rec(PLACE, uv(3), b'\1' * 14)
    yield 'inline-257', symbol(2, *[1] * 257)
    yield 'no-times', samples(1, column(5, 1, uv(1)))
    yield 'times-plain', samples(1, column(1, 0, uv(1)))
    yield 'ascending-elsewhere', samples(1, column(1, 4, uv(1)), column(5, 4, uv(1)))
    yield 'encoding-5', samples(1, column(1, 4, uv(1)), column(5, 5, uv(1)))
    yield 'column-twice', samples(1, column(1, 4, uv(1)), column(5, 1, uv(1)), column(5, 1, uv(1)))
    yield 'no-columns', rec(SAMPLES, uv(0))
    yield 'state-256', samples(1, column(1, 4, uv(1)), column(15, 1, uv(256)))
    yield 'cpu-33-bits', samples(1, column(1, 4, uv(1)), column(7, 1, uv(2**32)))
    yield 'owner-33-bits', samples(1, column(1, 4, uv(1)), column(28, 1, uv(2**32)))
    yield 'wait-kind-9-bits', samples(1, column(1, 4, uv(1)), column(30, 1, uv(256)))
    yield 'holders-33-bits', samples(1, column(1, 4, uv(1)), column(32, 1, uv(2**32)))
    yield 'holders-twice', samples(1, column(1, 4, uv(1)), column(32, 1, uv(2)), column(32, 1, uv(2)))
    yield 'variable-33-bits', samples(1, column(1, 4, uv(1)), column(36, 1, uv(2**32)))
    yield 'variable-undefined', samples(1, column(1, 4, uv(1)), column(36, 1, uv(9)))
    yield 'arg-65-bits', samples(1, column(1, 4, uv(1)), column(48, 1, b'\xff' * 9 + b'\x02'))
    yield 'args-twice', samples(1, column(1, 4, uv(1)), column(38, 1, uv(1)), column(38, 1, uv(1)))
    yield 'file-33-bits', samples(1, column(1, 4, uv(1)), column(50, 1, uv(2**32)))
    yield 'file-undefined', samples(1, column(1, 4, uv(1)), column(50, 1, uv(9)))
    yield 'walk-ends-cut', rec(WALK_RECEIPT, uv(1) + sv(1) + uv(*[0] * 12), uv(2), b'\x01', uv(5))
    yield 'walk-many-ends', rec(WALK_RECEIPT, uv(1) + sv(1) + uv(*[0] * 12), uv(2**40))
    yield 'delta-below-0', samples(1, column(1, 4, uv(1)), column(7, 2, sv(-1)))
    yield 'times-decrease', samples(2, column(1, 4, uv(9, 2**64 - 5)))
    yield 'times-wrap', samples(2, column(1, 4, uv(2**64 - 1001, 1)))
    yield 'run-0', samples(1, column(1, 4, uv(1)), column(7, 3, uv(0, 1, 1, 1)))
    yield 'runs-long', samples(1, column(1, 4, uv(1)), column(7, 3, uv(2, 1)))
    yield 'runs-short', samples(2, column(1, 4, uv(1, 1)), column(7, 3, uv(1, 1)))
    yield 'column-over', samples(1, column(1, 4, uv(1, 1)))
    yield 'column-short', samples(2, column(1, 4, uv(1)), column(5, 1, uv(1)))
    yield 'rows-above-octets', samples(9, column(1, 4, uv(1)))
    yield 'rows-262145', samples(262145, column(1, 4, uv(*[0] * 262145)))
    # Thread 1 has samples, but none of a walk.
    yield 'repeat-no-row', repeat(2, (0, 1))
    yield 'repeat-no-thread', repeat(2, (1, 1))
    yield 'repeat-walk-0', repeat(0)
    yield 'repeat-empty-run', repeat(2, (0, 0))
    yield 'repeat-short', rec(REPEAT, sv(7), uv(2, 2, 0, 1, 0))
    yield 'repeat-no-runs', rec(REPEAT, sv(7), uv(2))
    yield 'repeat-gap-33-bits', repeat(2, (2**32, 1))
    yield 'repeat-run-33-bits', repeat(2, (0, 2**32))
    yield 'column-cut', rec(SAMPLES, uv(1, 2), column(1, 4, uv(1)))


def damaged():
    """Cases with damage: octets, samples, damaged, truncated."""
    last = chunk(rows(1), seq=2)
    yield 'lost-chunk', FIRST + chunk(rows(1, node=99), thread(2, 99), symbol(99, 1), rows(1), seq=2), 4, 1, 0
    yield 'lost-first', ident() + chunk(BASE, rows(1, node=99), seq=3), 1, 3, 0
    yield 'lost-ident', FIRST[43:], 2, 0, 0
    yield 'lost-parent', FIRST + chunk(nodes(9, (7, 2), (9, 1)), rows(1, node=9), rows(1, node=10), seq=2), 4, 1, 0
    yield 'last-rejected', after(rows(1), magic=b'PBC2'), 2, 1, 0
    yield 'noise-between', FIRST + b'noise' + chunk(rows(1), seq=1), 3, 0, 0
    for name, tail in broken_tails():
        yield name, after(rows(1), tail, rows(1)) + last, 4, 1, 0
    flip = bytearray(chunk(rows(1), seq=1))
    flip[50] ^= 1
    yield 'signpost-crc', FIRST + bytes(flip) + last, 3, 1, 0
    flip = bytearray(chunk(rows(1), seq=1))
    flip[-1] ^= 1
    yield 'content-checksum', FIRST + bytes(flip) + last, 3, 1, 0
    yield 'noise', FIRST + b'noise!' * 20 + last, 3, 1, 0
    yield 'noise-first', b'noise!' + FIRST, 2, 0, 0
    yield 'skippable-too-long', FIRST + struct.pack('<II', 0x184D2A53, 9999) + b'abc' + last, 3, 1, 0
    yield 'chunk-magic', after(rows(1), magic=b'PBC2') + last, 3, 1, 0
    yield 'chunk-length', after(rows(1), length=5) + last, 3, 1, 0
    raw = raw_chunk(rows(1), 1)
    for name, data, size in (
            ('no-checksum', zstd(raw, '--no-check'), len(raw)), ('no-content-size', zstd(raw, '--no-content-size'),
                                                                 len(raw)),
            ('raw-size', zstd(raw), len(raw) + 1), ('two-frames', zstd(raw) + zstd(b''), len(raw)),
            ('raw-size-23', zstd(raw[:23]), 23), ('no-zstd', b'x' * 30, len(raw)), ('tiny', b'\x28', len(raw))):
        yield name, FIRST + signpost(data, size, 1) + data + last, 3, 1, 0
    data = zstd(raw)
    yield 'data-size-0', FIRST + signpost(data, len(raw), 1, data_size=0) + data + last, 3, 1, 0
    yield 'data-size-huge', FIRST + signpost(data, len(raw), 1, data_size=4194305) + data + last, 3, 1, 0
    yield 'data-cut', FIRST + signpost(data, len(raw), 1) + data[:-3] + last, 3, 1, 0
    for name, other in ('chunk-seq', raw_chunk(rows(1), 7)), ('chunk-segment', raw_chunk(rows(1), 1, OTHER)):
        yield name, FIRST + signpost(zstd(other), len(raw), 1) + zstd(other) + last, 3, 1, 0
    yield 'seq-again', FIRST + chunk(rows(1), seq=0) + chunk(rows(1), seq=1), 3, 1, 0
    yield 'lenient-after', FIRST + chunk(magic=b'xxxx', seq=1) + chunk(rows(1, node=50), seq=2), 3, 1, 0
    yield 'repeat-part', WALKED + chunk(repeat(2, (0, 3), (0, 1)), rows(1), seq=1), 6, 1, 0
    yield 'repeat-over-ident', WALKED + ident(OTHER) + chunk(BASE, repeat(2, (0, 1)), uuid=OTHER), 6, 1, 0
    yield 'repeat-over-lost-chunk', WALKED + chunk(repeat(2, (0, 3), (5, 5)), rows(1), walk_rows(2, 2), repeat(
        3, (0, 4000)), seq=2), 9, 1, 0
    yield 'repeat-over-broken', WALKED + chunk(uv(1) + uv(99), seq=1) + chunk(repeat(2, (0, 3)), rows(1), seq=2), 7, 1, 0
    yield 'repeat-id-2^22', WALKED + chunk(repeat(2, (2**22 - 1, 1)), rows(1), seq=2), 7, 1, 0
    yield 'repeat-id-above', WALKED + chunk(repeat(2, (2**22, 1)), rows(1), seq=2), 6, 2, 0
    yield 'repeat-2^23-rows', WALKED + chunk(repeat(2, (0, 2**22)), repeat(3, (0, 2**22)), rows(1), seq=2), 7, 1, 0
    yield 'repeat-more-rows', WALKED + chunk(repeat(2, (0, 2**22)), repeat(3, (0, 2**22)), rows(1), repeat(
        4, (0, 1)), rows(1), seq=2), 7, 2, 0
    yield 'cut', after(rows(1))[:-7], 2, 0, 1
    yield 'cut-signpost', FIRST + chunk(rows(1), seq=1)[:30], 2, 0, 1
    yield 'cut-behind-signpost', FIRST + chunk(rows(1), seq=1)[:52], 2, 0, 1
    yield 'tail-noise', FIRST + b'noise', 2, 0, 1
    flip = bytearray(FIRST)
    flip[39] ^= 1
    yield 'ident-crc', bytes(flip), 2, 0, 0
    flip = bytearray(ident(OTHER))
    flip[12] ^= 1
    yield 'second-ident-name', FIRST + bytes(flip) + chunk(BASE, rows(3), uuid=OTHER), 5, 0, 0


def refused():
    """Cases that need a newer version: octets, samples of other segments."""
    rest = ident(OTHER) + chunk(BASE, rows(3), uuid=OTHER)
    yield 'major-2', ident(major=2) + chunk(BASE, rows(1)) + rest, 3
    yield 'major-flag', ident(flags=0x100) + chunk(BASE, rows(1)) + rest, 3
    yield 'odd-record', ident() + chunk(rec(33, b'x'), BASE, rows(1)) + rest, 3
    yield 'odd-column', ident() + chunk(BASE, samples(1, column(1, 4, uv(1)), column(23, 1, uv(1)))) + rest, 3
    yield 'all-refused', ident(major=2) + chunk(BASE, rows(1)), 0


def main():
    out = sys.argv[1]
    cases = [(*c, 0, 0, 0) for c in good()] + [(*c, 0) for c in damaged()]
    cases += [(*c, 0, 0, 1) for c in refused()]
    for name, data, *want in cases:
        with open(os.path.join(out, name + '.pbz'), 'wb') as f:
            f.write(data)
        print(name, *want)


if __name__ == '__main__':
    main()
