"""Small readings for the benchmark; prints one number.

  cpu PID                 nanoseconds on a CPU, all threads of the process
  rss PID                 peak resident KiB so far
  bpf COMM                run_time_ns and run_cnt of the BPF programs that COMM holds
  first-csv FILE REAL_NS  ms from REAL_NS to the earliest row of a CSV report
  median FILE KEY         median of the numbers behind KEY in a file of "key number key number" lines
"""
import datetime
import json
import os
import statistics
import subprocess
import sys


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


def bpf(comm):
    out = subprocess.run(['bpftool', 'prog', 'show', '-j'], stdout=subprocess.PIPE, check=True,
                         env=dict(os.environ, PATH=os.environ['PATH'] + ':/usr/sbin')).stdout
    time_ns = count = 0
    for prog in json.loads(out):
        if any(p.get('comm') == comm for p in prog.get('pids', [])):
            time_ns += prog.get('run_time_ns', 0)
            count += prog.get('run_cnt', 0)
    print(time_ns, count)


def first_csv(path, real_ns):
    with open(path, errors='replace') as f:
        rows = [line.split('|')[0] for line in f if not line.startswith('timestamp|')]
    first = min(datetime.datetime.fromisoformat(r).timestamp() for r in rows)
    print((first - int(real_ns) / 1e9) * 1000)


def median(path, key):
    found = []
    with open(path) as f:
        for line in f:
            words = line.split()
            found += [float(b) for a, b in zip(words, words[1:]) if a == key]
    print(statistics.median(found))


{'cpu': cpu, 'rss': rss, 'bpf': bpf, 'first-csv': first_csv, 'median': median}[sys.argv[1]](*sys.argv[2:])
