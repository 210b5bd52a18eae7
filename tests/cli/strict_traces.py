#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""strict_traces.py DIR: makes traces of which something is missing, one for each cause.

Writes DIR/NAME.pbz and prints "NAME|what every report says of it"; nothing is missing of whole.pbz. Needs zstd.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'spec'))
import forge                                                                        # noqa: E402
from forge import BASE, END, OTHER, chunk, event, ident, rec, repeat, rows, sv, uv, walk_rows  # noqa: E402

LOST, SCAN = 26, 23
CAUSES = ['ring-full', 'ring-discard', 'map-full', 'throttled', 'queue-full', 'rate-limit', 'iterator-restart',
          'task-vanished', 'symbol-budget', 'writer-stall', 'task-events', 'table-full', 'bad-record', 'kernel-stack',
          'walks-left-out', 'nested', 'no-tick', 'line-budget', 'no-answer', 'helper-died',
          'other']
THE_END = rec(END, sv(9), b'\0', uv(4, 1, 0, 0, 0, 0), sv(-1))


# How reports say what is not counted in samples.
SAID = {
    'iterator-restart': '7 restarts of snapshots',
    'task-vanished': '7 tasks ended while they were read',
    'symbol-budget': '7 addresses have no name yet',
    'line-budget': '7 addresses have a name without their line',
    'task-events': '7 starts and ends of processes were not heard of',
    'table-full': '7 entries found their table full',
    'kernel-stack': '7 kernel stacks are missing',
    'walks-left-out': '7 snapshots were left out or cut short',
    'no-tick': '7 ticks of the timer never came',
    'no-answer': '7 stacks end in a file that was not read in time',
    'helper-died': '7 helper processes ended unasked',
    'other': '7 losses of another kind',
}


def receipt(seen):
    """Of a scan of 2 rows."""
    return rec(SCAN, uv(1), sv(1), uv(5, 0, seen, 2, *[0] * 9))


FIRST = chunk(BASE, event(1), rows(2), walk_rows(1, 1, 1), receipt(2))
SECOND = chunk(rows(1), seq=1)
LAST = chunk(THE_END, seq=2)
WHOLE = ident() + FIRST + SECOND + LAST


def damaged(part):
    return part[:-3] + bytes([part[-3] ^ 1]) + part[-2:]


def lost(cause):
    return rec(LOST, sv(1), uv(0), bytes([cause]), uv(0, 7))


def traces():
    yield 'whole', WHOLE, ''
    yield 'only-its-beginning', ident(), 'the recording was not finished'
    yield 'no-end', ident() + FIRST + SECOND, 'the recording was not finished'
    yield 'cut', WHOLE[:-7], 'the file was cut short'
    yield 'cut-earlier', (ident() + FIRST + SECOND)[:-7], 'the file was cut short'
    yield 'damaged', ident() + FIRST + damaged(SECOND) + LAST, '1 chunk damaged'
    yield 'a-chunk-is-gone', ident() + FIRST + LAST, '1 chunk damaged'
    yield 'bad-records', ident() + FIRST + chunk(rec(27, b'') * 0 + repeat(0, (0, 1)), seq=1) + LAST, '1 chunk damaged'
    yield 'end-is-damaged', ident() + FIRST + SECOND + damaged(LAST), '1 chunk damaged; the recording was not finished'
    yield 'and-a-beginning', WHOLE + ident(OTHER), '1 of 2 recordings were not finished'
    yield 'a-beginning-before', ident(OTHER) + WHOLE, '1 of 2 recordings were not finished'
    yield 'rows-missing', ident() + chunk(BASE, event(1), rows(2), walk_rows(1, 1, 1), receipt(5)) + SECOND + LAST, \
        '3 threads have no row'
    for cause, name in enumerate(CAUSES):
        yield 'lost-' + name, ident() + FIRST + chunk(lost(cause), seq=1) + LAST, SAID.get(name, name + ' 7')
    gaps = b''.join(rec(forge.FUNC, uv((i << 20) + 5, 1), uv(0, 0, 0, 0) + b'\0\0') for i in range(6))
    yield 'impossible', ident() + FIRST + chunk(gaps, seq=1) + LAST, 'impossible definition'
    yield 'beyond-limits', ident() + FIRST + chunk(gaps, seq=1) + LAST, 'bytes were not read'


for trace, data, text in traces():
    with open(os.path.join(sys.argv[1], trace + '.pbz'), 'wb') as f:
        f.write(data)
    print(f'{trace}|{text}')
