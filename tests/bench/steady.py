# SPDX-License-Identifier: GPL-2.0-or-later
"""steady.py WARM_S SECONDS COMMAND...: the CPU time of a recorder and of all processes that it started.

Runs the recorder for WARM_S + SECONDS and prints the CPU time of the last SECONDS in per cent of one CPU, and then that of
each of its processes with 0.01 % or more. The processes must have the recorder's name in front of theirs (probee-parser), so
that a command after -- does not count. Nothing is started during the recording: that would be something new to record.
"""
import collections
import os
import signal
import subprocess
import sys
import time


def family(pid, name):
    """{name of the process: ns}. Clocks of processes are exact; of those that have ended their parent has ticks."""
    children, names, ended, todo = {}, {}, {}, [pid]
    for d in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{d}/stat') as f:
                head, words = f.read().rsplit(')', 1)
        except OSError:
            continue
        words = words.split()
        names[int(d)] = head.partition('(')[2]
        children.setdefault(int(words[1]), []).append(int(d))
        ended[int(d)] = (int(words[13]) + int(words[14])) * 1_000_000_000 // os.sysconf('SC_CLK_TCK')
    found = collections.Counter()
    while todo:
        p = todo.pop()
        todo += [c for c in children.get(p, []) if names[c].startswith(name)]
        try:
            found[names.get(p, '?')] += ended.get(p, 0) + time.clock_gettime_ns(~p << 3 | 2)    # the clock of all its threads
        except OSError:
            pass
    return found


def main():
    warm_s, seconds, command = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    name = os.path.basename(command[0]).split('.')[0]
    tool = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    time.sleep(warm_s)
    before, began = family(tool.pid, name), time.monotonic_ns()
    time.sleep(seconds)
    after, ended = family(tool.pid, name), time.monotonic_ns()
    tool.send_signal(signal.SIGINT)
    tool.wait()
    if not after:
        sys.exit(f'{command[0]} has ended: {tool.returncode}')
    share = {p: 100 * (after[p] - before[p]) / (ended - began) for p in after}
    print(f'{sum(share.values()):.3f}')
    print(' '.join(f'{p} {x:.2f}' for p, x in sorted(share.items(), key=lambda f: -f[1]) if x >= 0.01))


if __name__ == '__main__':
    main()
