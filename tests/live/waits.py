# SPDX-License-Identifier: GPL-2.0-or-later
"""waits.py WHAT ARGS...: assertions about what threads wait for; prints the figure, exit 1 when it is not so.

  rows TRACE                      a line per row of the trace: tid comm state nanoseconds-since-it-ran call what owner
  times ROWS READY                each thread of READY (KEY=TID KEY.at=NS) last ran within 20 ms of the time it said
  row ROWS TID CALL OWNER [WHAT]  the thread is in this system call (a number) and waits for this tid (0: nobody)
  syscall ROWS PID                number, first argument and owner against /proc/PID/task/*/syscall
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'spec'))
import pbz


def rows_of(path):
    for segment in pbz.read_file(path).segments:
        for s in segment.samples:
            thread = segment.thread.get(s.thread)
            yield (thread['tid'], segment.string.get(thread['comm']).decode('latin-1').replace(' ', '_'), s.state,
                   s.time, s.ran, s.syscall - 1, s.wait, s.owner)


def read_rows(path):
    with open(path) as f:
        return {int(line.split()[0]): line.split() for line in f}


def pairs(ready):
    return dict(word.split('=') for word in ready.split())


def fail(text):
    print(text)
    sys.exit(1)


def times(path, ready):
    rows, said, worst = read_rows(path), pairs(ready), 0
    keys = [k for k in said if k + '.at' in said]
    for key in keys:
        ran = int(rows[int(said[key])][4])
        late = ran - int(said[key + '.at'])
        worst = max(worst, abs(late))
        if not -2_000_000 < late < 20_000_000:
            fail(f'{key}: last ran {late / 1e6:.3f} ms after it said so')
    print(f'{len(keys)} threads, {worst / 1e6:.3f} ms at most')


def row(path, tid, call, owner, what=None):
    got = read_rows(path).get(int(tid))
    if not got:
        fail(f'{tid} has no row')
    if got[5] != call or got[7] != owner or what and int(got[6]) != int(what, 0):
        fail(f'call {got[5]}, waits on {int(got[6]):#x}, owner {got[7]}')


def syscall(path, pid):
    """The kernel's own words: number, six arguments, sp, pc; or "running"."""
    rows, same = read_rows(path), 0
    for tid in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{tid}/syscall') as f:
            words = f.read().split()
        if words[0] == 'running':
            continue
        got = rows[int(tid)]
        if got[5] != words[0]:
            fail(f'{tid}: {got[5]}, /proc says {words[0]}')
        if int(words[0]) == NR_FUTEX and int(got[6]) != int(words[1], 0):
            fail(f'{tid}: futex {int(got[6]):#x}, /proc says {words[1]}')
        same += 1
    print(f'{same} threads')


NR_FUTEX = {'x86_64': 202}.get(os.uname().machine, 98)


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == 'rows':
        for r in rows_of(*args):
            print(*r)
    else:
        {'times': times, 'row': row, 'syscall': syscall}[what](*args)


main()
