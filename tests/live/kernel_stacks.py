# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel stacks of a recording against those that /proc shows.

  kernel_stacks.py read                       "TID SWITCHES;FRAME;FRAME..." of each thread of the machine that has one
  kernel_stacks.py compare BEFORE AFTER CSV   of the threads that read the same before and after the recording:
        prints rows, different, kinds (of stacks), and the first rows that differ
"""
import glob
import re
import sys


def switches(path):
    """How often the thread has left a CPU: equal numbers mean that it has not run in between."""
    try:
        text = open(path.replace('stack', 'status')).read()
    except OSError:
        return -1
    return sum(int(n) for n in re.findall(r'ctxt_switches:\s*(\d+)', text))


def read():
    for path in glob.glob('/proc/[0-9]*/task/[0-9]*/stack'):
        try:
            lines = open(path).read().split('\n')
        except OSError:
            continue
        frames = [l.split()[1].split('/')[0] for l in lines if l.startswith('[<')]
        if frames:
            print(path.split('/')[4], f'{switches(path)};' + ';'.join(frames))


def stacks_of(path):
    return dict(line.rstrip('\n').split(' ', 1) for line in open(path))


def kernel_symbols():
    """name -> addresses; one address often has several names, and both sides choose as they like."""
    symbols = {}
    for line in open('/proc/kallsyms'):
        f = line.split()
        symbols.setdefault(f[2], set()).add(int(f[0], 16))
    return symbols


def equal(a, b, symbols):
    if a == b:
        return True
    a, b = ([frame.rsplit('+', 1) for frame in stack.split(';')] for stack in (a, b))
    return len(a) == len(b) and all(
        x == y or x[1] == y[1] and symbols.get(x[0], set()) & symbols.get(y[0], set()) for x, y in zip(a, b))


def compare(before, after, rows):
    known = stacks_of(before)
    after = stacks_of(after)
    nr = different = 0
    kinds = set()
    symbols = kernel_symbols()
    for line in open(rows, errors='replace'):
        f = line.rstrip('\n').split('|')
        tid, state, kernel = f[1], f[4], f[-1]
        stack = known.get(tid)
        if not stack or stack != after.get(tid) or state in ('RUNNING', 'RUNNABLE') or not kernel:
            continue
        stack = stack.split(';', 1)[1]
        nr += 1
        kinds.add(kernel)
        if not equal(re.sub(r' \[[^]]*\]', '', kernel), stack, symbols):
            different += 1
            if different <= 5:
                print('tid', tid, f[3], '\n  row ', kernel, '\n  proc', stack)
    print('rows', nr)
    print('different', different)
    print('kinds', len(kinds))


{'read': read, 'compare': compare}[sys.argv[1]](*sys.argv[2:])
