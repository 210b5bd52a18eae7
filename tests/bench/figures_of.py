# SPDX-License-Identifier: GPL-2.0-or-later
"""Small readings for the benchmark; prints one number.

  cpu PID                 nanoseconds on a CPU, all threads of the process
  rss PID                 peak resident KiB so far
  bpf PID [TYPE]          run_time_ns, run_cnt and verified instructions of the programs of this type (default 7:
                          perf_event; 26: tracing, of which only the one that ran longest) that the process holds
  first-csv FILE REAL_NS  ms from REAL_NS to the earliest row of a CSV report
  json FILE KEY           a number of a JSON object; a.b is b of a
  median FILE KEY         median of the numbers behind KEY in a file of "key number key number" lines
"""
import datetime
import json
import os
import statistics
import sys

BPF_PROG_TYPE_PERF_EVENT = 7


def cpu(pid):
    total = 0
    for tid in os.listdir(f'/proc/{pid}/task'):
        try:
            with open(f'/proc/{pid}/task/{tid}/schedstat') as f:
                total += int(f.read().split()[0])
        except FileNotFoundError:
            pass
    print(total)


def rss(pid):
    with open(f'/proc/{pid}/status') as f:
        print(next(int(line.split()[1]) for line in f if line.startswith('VmHWM')))


def bpf(pid, kind=BPF_PROG_TYPE_PERF_EVENT):
    programs = {}
    for fd in os.listdir(f'/proc/{pid}/fdinfo'):
        with open(f'/proc/{pid}/fdinfo/{fd}') as f:
            facts = dict(line.split(':', 1) for line in f if ':' in line)
        if facts.get('prog_type', '').strip() == str(kind):
            programs[facts['prog_id']] = [int(facts.get(k, 0)) for k in ('run_time_ns', 'run_cnt', 'verified_insns')]
    if int(kind) != BPF_PROG_TYPE_PERF_EVENT:
        programs = {0: max(programs.values())}
    print(*map(sum, zip(*programs.values())))


def first_csv(path, real_ns):
    with open(path, errors='replace') as f:
        rows = [line.split('|')[0] for line in f if not line.startswith('timestamp|')]
    first = min(datetime.datetime.fromisoformat(r).timestamp() for r in rows)
    print((first - int(real_ns) / 1e9) * 1000)


def number_of(path, key):
    with open(path) as f:
        value = json.load(f)
    for word in key.split('.'):
        value = value[word]
    print(value)


def median(path, key):
    found = []
    with open(path) as f:
        for line in f:
            words = line.split()
            found += [float(b) for a, b in zip(words, words[1:]) if a == key]
    print(statistics.median(found))


{'cpu': cpu, 'rss': rss, 'bpf': bpf, 'first-csv': first_csv, 'json': number_of,
 'median': median}[sys.argv[1]](*sys.argv[2:])
