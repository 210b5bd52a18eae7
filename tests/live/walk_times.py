#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""walk_times.py TRACE: the times of walks as the trace has them, read by tests/spec/pbz.py, in one line of key=value:

  walks, left_out (sum of LOST walks-left-out), span (periods from the first one to that of the last walk), off_us (the
  largest distance of a walk's begin from its multiple of the period), drift_us (the median distance of the last tenth of
  the walks minus that of the first), longest_us (of a walk), overlaps (walks that begin before the one before has ended),
  periods_hit_twice, gaps_wrong (walks whose distance to the one before is not one period plus what LOST says lies between
  them)

  A LOST record tells where the multiples are: it begins at one. Without any, no walk is late by a period. They lie where
  most walks are: one alone, as the first, may be late, but none is early.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'spec'))
sys.dont_write_bytecode = True
import pbz  # noqa: E402

WALKS_LEFT_OUT = 14


def main():
    segment, = pbz.read_file(sys.argv[1]).segments
    walks = sorted(segment.walks, key=lambda w: w['walk'])
    lost = [(x[0], x[4]) for x in segment.lost if x[2] == WALKS_LEFT_OUT]
    first, period = walks[0]['time'], walks[0]['interval']
    late = [(w['time'] - first + period // 2) % period - period // 2 for w in walks]
    origin = lost[0][0] if lost else first + int(statistics.median(late)) - period // 5
    index = [(w['time'] - origin) // period for w in walks]
    off = [w['time'] - origin - i * period for w, i in zip(walks, index)]
    before = sum(n for t, n in lost if t < first)
    tenth = max(1, len(off) // 10)
    between = [sum(n for t, n in lost if a['time'] - period < t < b['time']) for a, b in zip(walks, walks[1:])]
    print(f'walks={len(walks)} left_out={sum(n for _, n in lost)} span={index[-1] - index[0] + before} off_us={max(map(abs, off)) // 1000}',
          f'drift_us={int(statistics.median(off[-tenth:]) - statistics.median(off[:tenth])) // 1000}',
          f'longest_us={max(w["duration"] for w in walks) // 1000}',
          f'overlaps={sum(a["time"] + a["duration"] > b["time"] for a, b in zip(walks, walks[1:]))}',
          f'periods_hit_twice={len(index) - len(set(index))}',
          f'gaps_wrong={sum(j - i != n + 1 for i, j, n in zip(index, index[1:], between))}')


main()
