#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perf_beside.py [--seconds S] [-v] [PROGRAM...]: the same busy program, sampled by perf and by probee at the same time.

perf copies 64 KiB of stack per sample and unwinds with elfutils or libunwind; probee unwinds in the kernel. Both see
other moments, so distributions are compared, of user frames by function (the one nm says is at the address):

  - the outermost functions of at least 1 % of the samples are the same ones;
  - the share of samples that hold a function differs by no more than 4 standard deviations and 2 points;
  - stacks of which one has so many that the other ought to have 12 are in the other as well.

Samples in which perf itself does not reach an outermost function (its 64 KiB or its unwinder end earlier) are counted
and left out; so are probee's marked ones. Exits 1 on a difference, 77 without perf. PROBEE and WORKLOADS as in lib.sh.
"""
import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter

from elf_names import Symbols
from programs import PROGRAMS, family, kill_family

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROBEE = os.path.abspath(os.environ.get('PROBEE', ROOT + '/.out/probee'))
WORKLOADS = os.path.abspath(os.environ.get('WORKLOADS', ROOT + '/.out/workloads'))
BUSY = ('chain30', 'chain30_O3', 'drap', 'twochains', 'shop (C++)', 'throws (C++)', 'xz', 'gzip', 'python3', 'perl',
        'sqlite3', 'openssl sha', 'gawk', 'sed', 'ruby')
EXPECTED = 12
OUTERMOST = ('_start', 'clone', '__clone', 'clone3', '__clone3')


def perf_stacks(path, symbols):
    """Counter of (root, ..., leaf), and how many did not reach a root."""
    out = subprocess.run(['perf', 'script', '-i', path, '--no-inline', '-F', 'comm,ip,dso'], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, errors='replace').stdout
    stacks, short = Counter(), 0
    for sample in out.split('\n\n'):
        frames = []
        for line in sample.splitlines():
            m = re.match(r'\s+([0-9a-f]+) \((.*)\)$', line)
            if m and m.group(2) in symbols.files:       # perf prints offsets in the file
                frames.append(symbols.function_at(symbols.from_offset[m.group(2)] + int(m.group(1), 16)))
        if frames and frames[-1] and frames[-1][1] in OUTERMOST:
            stacks[tuple(reversed(frames))] += 1
        elif frames:
            short += 1
    return stacks, short


def probee_stacks(path, symbols, seen):
    """The same; where a name alone does not say which function it is, one that perf has seen."""
    out = subprocess.run([PROBEE, 'report', path, '--collapse', '--offsets'], text=True, stdout=subprocess.PIPE,
                         check=True, stderr=subprocess.DEVNULL, errors='replace').stdout
    stacks, short, known = Counter(), 0, {}

    def function(frame):
        if frame not in known:
            places = sorted(symbols.functions(frame))
            known[frame] = next((x for x in places if x in seen), places[0] if places else ('?', frame))
        return known[frame]

    for line in out.splitlines():
        text, _, count = line.rpartition(' ')
        frames = [f for f in text.split(';')[1:] if not f.endswith(('_[k]', '_[i]'))]
        if frames and frames[0].startswith('[truncated'):
            short += int(count)
        elif frames:
            stacks[tuple(function(f) for f in frames)] += int(count)
    return stacks, short


def record(pid, seconds, tmp):
    """Both at once."""
    pids = ','.join(map(str, family(pid)))
    perf = subprocess.Popen(['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '197', '--call-graph', 'dwarf,65528',
                             '-m', '64M', '-p', pids, '-o', tmp + '/perf.data', '--', 'sleep', str(seconds)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ours = subprocess.run([PROBEE, 'sample', '-q', '-e', 'cpu-clock', '-F', '199', '-d', str(seconds), '-p', pids,
                           '-o', tmp + '/probee.pbz'], stderr=subprocess.PIPE, text=True)
    err = perf.communicate()[1]
    if not os.path.exists(tmp + '/perf.data'):       # its exit code is not 0 either when the program ends
        print('perf cannot record here:', err.strip() or f'exit {perf.returncode}')
        sys.exit(77)
    if ours.returncode:                              # where perf can, probee can
        print(f'probee: exit {ours.returncode}: {ours.stderr.strip()}')
        sys.exit(1)


def shares(stacks):
    """{function: share of samples that hold it}, {outermost function: share}"""
    total = sum(stacks.values())
    inside, outermost = Counter(), Counter()
    for stack, n in stacks.items():
        outermost[stack[0]] += n
        for name in set(stack):
            inside[name] += n
    return ({k: v / total for k, v in inside.items()}, {k: v / total for k, v in outermost.items()})


def differences(perf, probee, perf_short, probee_short):
    """(largest difference of shares, what is wrong). A stack that one of them never has may be among those that it has
    without a root (..._short)."""
    n, m = sum(perf.values()), sum(probee.values())
    (pa, pr), (qa, qr) = shares(perf), shares(probee)
    bad, largest = [], 0
    for name in set(pr) | set(qr):
        if max(pr.get(name, 0), qr.get(name, 0)) >= 0.01 and not (name in pr and name in qr):
            bad.append(f'outermost {name[1]}: perf {pr.get(name, 0):.1%}, probee {qr.get(name, 0):.1%}')
    for name in set(pa) | set(qa):
        p, q = pa.get(name, 0), qa.get(name, 0)
        mean = (p * n + q * m) / (n + m)
        largest = max(largest, abs(p - q))
        if abs(p - q) > 0.02 + 4 * math.sqrt(mean * (1 - mean) * (1 / n + 1 / m)):
            bad.append(f'{name[1]} of {name[0]}: perf {p:.1%}, probee {q:.1%}')
    for mine, mine_nr, other, other_nr, other_short, who in (
            (perf, n, probee, m, probee_short, 'probee'), (probee, m, perf, n, perf_short, 'perf')):
        for stack, count in mine.items():
            if count * other_nr >= (EXPECTED + other_short) * mine_nr and stack not in other:
                text = ';'.join(name or os.path.basename(path) for path, name in stack)
                bad.append(f'{who} never has, in {count / mine_nr:.1%} of the other\'s: {text[-400:]}')
    return largest, bad


def run(name, seconds, verbose):
    """None: skipped; else whether it agrees."""
    needs, make, warm_s = PROGRAMS[name]
    tmp = tempfile.mkdtemp(prefix='probee-perf.', dir='/tmp')
    os.chmod(tmp, 0o755)
    argv = None if needs and not shutil.which(needs) else make(tmp, WORKLOADS)
    if not argv:
        print(f'{name:14} SKIP: not installed')
        return None
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd='/')
    try:
        time.sleep(warm_s)
        record(child.pid, seconds, tmp)
        symbols = Symbols(family(child.pid)[-1])
        perf, perf_short = perf_stacks(tmp + '/perf.data', symbols)
        probee, probee_short = probee_stacks(tmp + '/probee.pbz', symbols, {f for s in perf for f in s})
    finally:
        kill_family(child)
        shutil.rmtree(tmp, ignore_errors=True)
    n, m = sum(perf.values()), sum(probee.values())
    if min(n, m) < 50:
        print(f'{name:14} too few to compare: perf {n} (and {perf_short} without a root), probee {m} (and {probee_short})')
        return None
    largest, bad = differences(perf, probee, perf_short, probee_short)
    print(f'{name:14} perf {n:5} samples (+{perf_short} without a root), probee {m:5} (+{probee_short});'
          f' shares of functions differ by at most {100 * largest:4.1f} points; {"DIFFERENT" if bad else "same"}', flush=True)
    for b in bad[:None if verbose else 6]:
        print('    ' + b)
    return not bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--seconds', type=float, default=3)
    p.add_argument('-v', action='store_true')
    p.add_argument('program', nargs='*')
    args = p.parse_args()
    if os.getuid() or not shutil.which('perf') or subprocess.run(['perf', '--version'], stdout=subprocess.DEVNULL,
                                                                  stderr=subprocess.DEVNULL).returncode:
        print('needs root and perf')
        sys.exit(77)
    verdicts = [run(n, args.seconds, args.v) for n in BUSY if not args.program or n.split()[0] in args.program]
    judged = [v for v in verdicts if v is not None]
    print(f'{len(judged)} programs beside perf, {judged.count(False)} differ')
    sys.exit(not judged or judged.count(False) > 0)


main()
