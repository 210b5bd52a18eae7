# SPDX-License-Identifier: GPL-2.0-or-later
"""agent_cost.py WARM_S SECONDS COMMAND...: the CPU time and the memory of an agent and all of its processes.

Runs the command for WARM_S + SECONDS and prints "cpu_percent X" (of one CPU, in the last SECONDS), "pss_mib X" and "rss_mib X" (sums over its
processes at the end; RSS counts pages that several of them share several times), and then each process: name, per cent, PSS in MiB.
"""
import collections
import os
import signal
import subprocess
import sys
import time

from steady import family


def processes(pid):
    children = collections.defaultdict(list)
    for d in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{d}/stat') as f:
                children[int(f.read().rsplit(')', 1)[1].split()[1])].append(int(d))
        except OSError:
            pass
    todo, found = [pid], []
    while todo:
        found.append(todo.pop())
        todo += children[found[-1]]
    return found


def memory(pids):
    sums = collections.Counter()
    for p in pids:
        try:
            with open(f'/proc/{p}/smaps_rollup') as f:
                for line in f:
                    word = line.split()
                    if word[0] in ('Rss:', 'Pss:'):
                        sums[word[0]] += int(word[1])
        except OSError:
            pass
    return sums['Pss:'] / 1024, sums['Rss:'] / 1024


def main():
    warm_s, seconds, command = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    agent = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    time.sleep(warm_s)
    before, began = family(agent.pid, ''), time.monotonic_ns()
    time.sleep(seconds)
    after, ended = family(agent.pid, ''), time.monotonic_ns()
    pss, rss = memory(processes(agent.pid))
    agent.send_signal(signal.SIGTERM)
    code = agent.wait()
    if code not in (0, -signal.SIGTERM):
        sys.exit(f'the agent ended with {code}')
    share = {p: 100 * (after[p] - before[p]) / (ended - began) for p in after}
    print(f'cpu_percent {sum(share.values()):.3f}\npss_mib {pss:.1f}\nrss_mib {rss:.1f}')
    print('# ' + ' '.join(f'{p} {x:.2f}' for p, x in sorted(share.items(), key=lambda f: -f[1]) if x >= 0.01))


if __name__ == '__main__':
    main()
