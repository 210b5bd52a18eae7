# SPDX-License-Identifier: GPL-2.0-or-later
"""growth.py PID SECONDS EVERY: memory of a process and of all its descendants, in MiB, as long as it lives.

Prints "at SECONDS rss MIB pss MIB": rss of the process itself, pss of all of them, so that shared pages count once. At the
end "most MIB" (the highest pss), and "second_half PERCENT": by how much the median pss of the last quarter is above that of the
quarter before the middle."""
import os
import statistics
import sys
import time


def children(pid):
    kids = []
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/children') as f:
            kids += f.read().split()
    return kids


def memory(pid):
    """rss and pss of one process, in MiB; 0 where it has ended."""
    found = {}
    try:
        with open(f'/proc/{pid}/smaps_rollup') as f:
            for line in f:
                words = line.split()
                found[words[0]] = int(words[1]) / 1024 if words[1].isdigit() else 0
    except OSError:
        pass
    return found.get('Rss:', 0), found.get('Pss:', 0)


def tree(pid):
    found, todo = [], [str(pid)]
    while todo:
        p = todo.pop()
        found.append(p)
        try:
            todo += children(p)
        except OSError:
            pass
    return found


def main():
    pid, seconds, every = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    begin, seen = time.monotonic(), []
    while time.monotonic() - begin < seconds and os.path.exists(f'/proc/{pid}'):
        rss, pss = memory(pid)[0], sum(memory(p)[1] for p in tree(pid))
        if pss:
            seen.append(pss)
            print(f'at {time.monotonic() - begin:.0f} rss {rss:.1f} pss {pss:.1f}', flush=True)
        time.sleep(every)
    quarter = len(seen) // 4
    before, last = statistics.median(seen[quarter:2 * quarter]), statistics.median(seen[-quarter:])
    print(f'most {max(seen):.1f}\nsecond_half {100 * (last / before - 1):.1f}')


main()
