#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""grammar.py [--samples N] [--freq HZ] [--snapshots]: how many stacks of workloads with a known call grammar are impossible.

Samples twochains, chain30 (four builds), deep, drap and coroutine with cpu-clock until N stacks were seen in all, or walks
them (--snapshots), and looks at every pair of neighbouring frames: only what the source calls may call. deep must also have
its exact depth. What is inside of the kernel or of libraries below a workload's function is not looked at, nor is what
calls main or a thread's first function. Stacks that say they are not whole are counted apart ("marked"); what they hold
must be possible as well. Exits 1 when a stack is impossible. PROBEE and WORKLOADS as in lib.sh.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROBEE = os.path.abspath(os.environ.get('PROBEE', ROOT + '/.out/probee'))
WORKLOADS = os.path.abspath(os.environ.get('WORKLOADS', ROOT + '/.out/workloads'))

MARK = re.compile(r'\[(?!unknown|vdso|anon)[^;+]*\]')   # instead of the missing part of a stack

CHAIN30 = {('main', 'f1')} | {(f'f{i}', f'f{i + 1}') for i in range(1, 30)} | {(f'f{i}', 'keep') for i in range(1, 30)}
TWO = {('alternate', 'a1'), ('a1', 'a2'), ('a2', 'a3'), ('alternate', 'b1'), ('b1', 'b2'), ('b2', 'b3')}
DEEP = {('main', 'start'), ('start', 'recurse'), ('recurse', 'recurse'), ('recurse', 'bottom')}
DRAP = {('main', 'realigned'), ('realigned', 'realigned'), ('realigned', 'drap_leaf'), ('realigned', 'touch')}
COROUTINE = {('main', 'resume'), ('resume', 'spin_b'), ('body', 'inner'), ('inner', 'spin_a')}

# name: (argv, who may call whom, functions that something outside may call, {function: exact count when the leaf is there})
WORKS = {
    'twochains': (['twochains', '3000', '2', '2'], TWO, {'main', 'alternate'}, None),
    'twochains_fp': (['twochains_fp', '3000', '2', '2'], TWO, {'main', 'alternate'}, None),
    'chain30': (['chain30'], CHAIN30, {'main'}, None),
    'chain30_O3': (['chain30_O3'], CHAIN30, {'main'}, None),
    'chain30_static': (['chain30_static'], CHAIN30, {'main'}, None),
    'chain30_fp': (['chain30_fp'], CHAIN30, {'main'}, None),
    'deep': (['deep', '500'], DEEP, {'main'}, ('bottom', 'recurse', 500)),
    'drap': (['drap'], DRAP, {'main'}, ('drap_leaf', 'realigned', 7)),
    'coroutine': (['coroutine'], COROUTINE, {'main', 'body'}, None),
}


def impossible(frames, calls, first, depth):
    """None, or what is wrong with a stack, root first."""
    known = {f for pair in calls for f in pair} | first
    before, mine = None, [f for f in frames if f in known]
    for f in mine:
        if before is None and f not in first:
            return f'begins with {f}'
        if before and (before, f) not in calls:
            return f'{before} calls {f}'
        before = f
    # Between two of its own functions there is nothing else.
    places = [i for i, f in enumerate(frames) if f in known]
    if places and places[-1] - places[0] + 1 != len(places):
        return 'something between them'
    if not mine:
        return 'has none of its functions'
    if depth and depth[0] in mine and mine.count(depth[1]) != depth[2]:
        return f'{depth[1]} {mine.count(depth[1])} times'
    return None


def without_root(frames, calls, first):
    """The same for what is left of a marked stack: any function may be the first that was seen."""
    known = {f for pair in calls for f in pair} | first
    mine = [f for f in frames if f in known]
    for before, f in zip(mine, mine[1:]):
        if (before, f) not in calls:
            return f'{before} calls {f}'
    return None


def judge(path, work):
    _, calls, first, depth = WORKS[work]
    out = subprocess.run([PROBEE, 'report', path, '--collapse'], stdout=subprocess.PIPE, check=True, text=True,
                         stderr=subprocess.DEVNULL).stdout
    count, wrong = Counter(), Counter()
    for line in out.splitlines():
        text, _, n = line.rpartition(' ')
        frames = [f for f in text.split(';')[1:] if not f.endswith('_[k]')]
        if not frames:
            count['kernel only'] += int(n)
            continue
        marked = bool(MARK.fullmatch(frames[0]))
        why = without_root(frames, calls, first) if marked else impossible(frames, calls, first, depth)
        count['marked' if marked else 'whole'] += int(n)
        if why:
            wrong[f'{why}: {";".join(frames)[-400:]}'] += int(n)
    return count, wrong


def run(work, args, seconds, tmp):
    argv = WORKS[work][0]
    child = subprocess.Popen([f'{WORKLOADS}/{argv[0]}', *argv[1:]], stdout=subprocess.PIPE)
    child.stdout.readline()
    trace = tmp + '/grammar.pbz'
    if args.snapshots:
        words = ['snapshot', '-F', '1000', '-i', str(int(seconds * 1000))]
    else:
        words = ['sample', '-e', 'cpu-clock', '-F', str(args.freq), '-d', str(seconds)]
    r = subprocess.run([PROBEE, *words, '-q', '-U', '-p', str(child.pid), '-o', trace], stderr=subprocess.PIPE, text=True)
    child.kill()
    child.wait()
    if r.returncode:
        print(r.stderr.strip() or 'probee failed')
        sys.exit(r.returncode)
    return judge(trace, work)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--samples', type=int, default=20000)
    p.add_argument('--freq', type=int, default=4000)
    p.add_argument('--snapshots', action='store_true')
    args = p.parse_args()
    count, wrong, seen, each = Counter(), Counter(), Counter(), 2.0
    works = [w for w in WORKS if os.path.exists(f'{WORKLOADS}/{WORKS[w][0][0]}')]
    with tempfile.TemporaryDirectory(prefix='probee-grammar.') as tmp:
        while sum(seen.values()) < args.samples:
            before = sum(seen.values())
            for work in works:
                if seen[work] >= args.samples / len(works):
                    continue
                c, w = run(work, args, each, tmp)
                count += c
                seen[work] += c['whole'] + c['marked']
                for text, n in w.items():
                    wrong[f'{work}: {text}'] += n
            if sum(seen.values()) == before:
                print('nothing was sampled')
                sys.exit(1)
            each = min(10.0, each * 2)
    print(', '.join(f'{w} {n}' for w, n in seen.items()))
    for text, n in wrong.most_common(10):
        print(f'{n} impossible: {text}')
    print(f'{sum(seen.values())} stacks: {sum(wrong.values())} impossible, {count["marked"]} say that they are not whole')
    sys.exit(sum(wrong.values()) > 0)


main()
