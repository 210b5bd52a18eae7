# SPDX-License-Identifier: GPL-2.0-or-later
"""python_flood.py: new functions without end: 900 of them call each other, a hundred times in a second.
Says "ready PID"."""
import collections
import os
import sys
import time
import types

DEPTH = 900
KEPT = 100000
sys.setrecursionlimit(10 * DEPTH)


def frame(v, i):
    return v[i](v, i + 1)


def last(v, i):
    end = time.perf_counter() + 0.01
    while time.perf_counter() < end:
        pass


print('ready', os.getpid(), flush=True)
kept = collections.deque(maxlen=KEPT)
number = 0
while True:
    v = []
    for _ in range(DEPTH):
        number += 1
        v.append(types.FunctionType(frame.__code__.replace(co_name=f'flood{number}'), globals()))
    kept.extend(v)
    v.append(last)
    v[0](v, 1)
