#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions about folded and CSV text, for the live tests. Knows nothing of probee but these two formats.

  share FOLDED ROOT;...;LEAF [--of NAME] [--percent P] [--min N] [--comm C]
        of the samples with frame NAME (default: the chain's leaf), how many hold the chain, frames in
        order and next to each other; fails below P (default 99) per cent or N (default 50) samples
  depth FOLDED NAME N       every sample with NAME holds it N times, 99 % of them
  frame FOLDED NAME         some sample has a frame NAME (a leading "~": one that contains it)
  frames-named FOLDED COMM P   P % of the samples of COMM have no frame without a name
  only FOLDED COMM NAME P   P % of the samples of COMM that have user code hold NAME
  like FOLDED REGEX [--percent P] [--of NAME] [--min N]   P % (default 99) of the samples with frame NAME (default: any)
        have a user stack that is all like REGEX: root;...;leaf
  never FOLDED A B          no sample holds both A and B
  total FOLDED [COMM]       prints the number of samples
  comms FOLDED              prints the comms
  chains CSV [--allow-skips] [--marked P]
        rows of twochains: how many are possible, impossible, marked (have no user stack); fails on an
        impossible one, and when more than P % (default 2) are marked
  unmarked JSON             fails if a stack of twochains lacks a frame of its chain and none of it is marked as guessed
  states CSV TID=LETTER...  the state of each thread, by ps letter; '/' separates alternatives
  rows CSV [TGID]           prints the number of rows
  tids CSV [TGID]           prints the thread ids, sorted, one a line
  rooted CSV [TGID]         share of rows whose user stack ends in a known outermost frame
  kstacks CSV TGID P        at least P % of rows have a kernel stack
  times CSV HZ COUNT LEFT   the walks of the columns scan,timestamp are COUNT, on a grid of 1/HZ s of which LEFT points
        have no walk; a busy machine makes some late, but not most of them
  beside CSV CSV            two recordings of one thread (column timestamp) counted the same, in the time that both lasted
"""
import argparse
import datetime
import json
import re
import sys

STATES = {
    'RUNNING': 'R', 'RUNNABLE': 'R', 'SLEEP': 'S', 'SLEEPING': 'S', 'DISK': 'D', 'STOPPED': 'T',
    'TRACED': 't', 'ZOMBIE': 'Z', 'DEAD': 'X', 'IDLE': 'I', 'PARKED': 'P', 'WAKING': 'W',
    'KILLABLE': 'D', 'DISK_NOLOAD': 'D', 'NEW': 'N', 'FROZEN': 'F', 'RTLOCK': 'L',
}
MARK = re.compile(r'\[(?!unknown|vdso|anon)[^;+]*\]')  # instead of a stack: why there is none
ROOTS = {'_start', '__clone3', 'clone3', '__clone', 'clone', '_dl_start_user', '__libc_start_call_main'}
# libc's thread entry has a name only where its symbols are installed; else it is an address of libc.
NAMELESS_ROOT = re.compile(r'\[(libc[.-]|ld-)[^;]*\+0x[0-9a-f]+\]')


def die(text):
    print(text)
    sys.exit(1)


def folded(path):
    """(comm, [root..leaf], count) of each line."""
    with open(path, errors='replace') as f:
        for nr, line in enumerate(f, 1):
            m = re.match(r'(.*) (\d+)\n?$', line)
            if not m:
                die(f'{path}:{nr}: not a folded line: {line!r}')
            parts = m.group(1).split(';')
            yield parts[0], parts[1:], int(m.group(2))


class Row:
    def __init__(self, line):
        f = line.rstrip('\n').split('|')
        if len(f) < 7:
            die(f'CSV row with {len(f)} fields: {line!r}')
        self.time, self.tid, self.tgid, self.comm, self.state = f[0], int(f[1]), int(f[2]), f[3], f[4]
        self.umark = f[5] if MARK.fullmatch(f[5]) else ''
        self.ustack = [] if self.umark else [x for x in f[5].split(';') if x]
        self.kstack = [x for x in f[6].split(';') if x and not x.startswith('[')]

    def names(self):
        """Innermost first, without offsets."""
        return [re.sub(r'\+0x[0-9a-f]+$', '', x) for x in self.ustack]


def rows(path, tgid=None):
    with open(path, errors='replace') as f:
        for line in f:
            if line.startswith('timestamp|'):
                continue
            r = Row(line)
            if tgid is None or r.tgid == tgid:
                yield r


def holds(stack, chain):
    n = len(chain)
    return any(stack[i:i + n] == chain for i in range(len(stack) - n + 1))


def user_part(stack):
    return [f for f in stack if not f.endswith('_[k]')]


def cmd_share(a):
    chain = a.chain.split(';')
    of = a.of or chain[-1]
    have = total = 0
    worst = {}
    for comm, stack, count in folded(a.file):
        if (a.comm and comm != a.comm) or of not in stack:
            continue
        total += count
        if holds(user_part(stack), chain):
            have += count
        else:
            worst[';'.join(stack)] = worst.get(';'.join(stack), 0) + count
    if total < a.min:
        die(f'only {total} samples with {of}, want {a.min}')
    pct = 100 * have / total
    if pct < a.percent:
        bad = max(worst, key=worst.get)
        die(f'{have} of {total} ({pct:.2f} %) hold the chain; most frequent other: {bad[:600]} {worst[bad]}')
    print(f'{have} of {total}, {pct:.2f} %')


def cmd_depth(a):
    have = total = 0
    seen = {}
    for _, stack, count in folded(a.file):
        n = stack.count(a.name)
        if n:
            total += count
            have += count if n == a.n else 0
            seen[n] = seen.get(n, 0) + count
    if total < 50 or have < 0.99 * total:
        die(f'{have} of {total} hold {a.name} {a.n} times; depths seen: {dict(sorted(seen.items())[-8:])}')
    print(f'{have} of {total}')


def matches(stack, name):
    return any(name[1:] in f for f in stack) if name.startswith('~') else name in stack


def cmd_frame(a):
    total = 0
    for _, stack, count in folded(a.file):
        total += count if matches(stack, a.name) else 0
    if not total:
        die(f'no frame {a.name}')
    print(f'{total} samples')


def cmd_frames_named(a):
    have = total = 0
    bad = ''
    for comm, stack, count in folded(a.file):
        if comm == a.comm:
            total += count
            unnamed = [f for f in stack if re.match(r'\[(?!truncated|kernel)|0x', f)]
            have += 0 if unnamed else count
            bad = bad or ';'.join(unnamed)
    if not total or 100 * have < a.percent * total:
        die(f'{have} of {total} samples of {a.comm} have only named frames; first other: {bad}')
    print(f'{have} of {total}')


def cmd_only(a):
    have = total = 0
    for comm, stack, count in folded(a.file):
        if comm == a.comm and user_part(stack):
            total += count
            have += count if matches(stack, a.name) else 0
    if not total or 100 * have < a.percent * total:
        die(f'{have} of {total} samples of {a.comm} hold {a.name}')
    print(f'{have} of {total}')


def cmd_like(a):
    have = total = 0
    worst = {}
    for _, stack, count in folded(a.file):
        text = ';'.join(user_part(stack))
        if not text or (a.of and a.of not in stack):
            continue
        total += count
        if re.fullmatch(a.regex, text):
            have += count
        else:
            worst[text] = worst.get(text, 0) + count
    if total < a.min:
        die(f'only {total} samples')
    text = f'{have} of {total}, {100 * have / total:.2f} %'
    if 100 * have < a.percent * total:
        others = sorted(worst, key=worst.get, reverse=True)[:3]
        die(text + '; others: ' + ', '.join(f'{x[:400]} {worst[x]}' for x in others))
    print(text)


def cmd_never(a):
    n = 0
    for _, stack, count in folded(a.file):
        if matches(stack, a.a) and matches(stack, a.b):
            die(f'both in {";".join(stack)}')
        n += count
    print(f'{n} samples')


def cmd_total(a):
    print(sum(count for comm, _, count in folded(a.file) if not a.comm or comm == a.comm))


def cmd_comms(a):
    print('\n'.join(sorted({comm for comm, _, _ in folded(a.file)})))


def judge(names, allow_skips):
    """possible | skipped | impossible | other, for the frames of a twochains thread, innermost first."""
    chain = [n for n in names if re.fullmatch(r'[ab][123]', n)]
    if 'alternate' not in names:
        return 'other'
    if not chain:
        return 'possible'
    letter = chain[0][0]
    levels = [int(n[1]) for n in chain]
    if any(n[0] != letter for n in chain) or sorted(levels, reverse=True) != levels:
        return 'impossible'
    if levels != list(range(levels[0], 0, -1)):
        return 'skipped' if allow_skips else 'impossible'
    where = names.index(chain[0])
    return 'possible' if names[where:where + len(chain) + 1] == chain + ['alternate'] else 'impossible'


def cmd_chains(a):
    count = {'possible': 0, 'skipped': 0, 'impossible': 0, 'other': 0, 'marked': 0, 'main': 0}
    example = leaf3 = 0
    for r in rows(a.file):
        if r.tid == r.tgid:
            count['main'] += 1
        elif r.umark or not r.ustack:
            count['marked'] += 1
        else:
            verdict = judge(r.names(), a.allow_skips)
            count[verdict] += 1
            leaf3 += r.names()[0] in ('a3', 'b3')
            if verdict in ('impossible', 'other') and not example:
                example = ';'.join(r.ustack)
    judged = sum(count[k] for k in ('possible', 'skipped', 'impossible', 'other'))
    text = ', '.join(f'{k} {v}' for k, v in count.items()) + f', leaf a3/b3 {leaf3}'
    if count['impossible'] or count['other'] > 0.001 * judged:
        die(f'{text}; first: {example}')
    if not judged or 100 * count['marked'] > a.marked * (judged + count['marked']):
        die(f'{text}: too many are marked')
    print(text)


def paths(node, above=()):
    """(names innermost first, some frame is guessed, samples) of each stack in a call tree."""
    here = above + ((node['name'], node.get('guessed', False)),)
    own = node['samples'] - sum(child['samples'] for child in node.get('children', []))
    if own:
        yield [name for name, _ in reversed(here)], any(guessed for _, guessed in here), own
    for child in node.get('children', []):
        yield from paths(child, here)


def cmd_unmarked(a):
    count = {'whole': 0, 'guessed': 0, 'lost': 0}
    example = ''
    with open(a.file) as f:
        tree = json.load(f)
    for names, guessed, samples in paths(tree):
        names = [n for n in names if not n.endswith('_[k]')]
        if 'alternate' not in names:
            continue
        whole = judge(names, False) == 'possible'
        kind = 'whole' if whole else 'guessed' if guessed else 'lost'
        count[kind] += samples
        example = example or (';'.join(names) if kind == 'lost' else '')
    text = ', '.join(f'{k} {v}' for k, v in count.items())
    if count['lost'] or not count['whole']:
        die(f'{text}; first: {example}')
    print(text)


def letter(state):
    return STATES.get(state.upper(), state[:1])


def cmd_states(a):
    got = {}
    for r in rows(a.file):
        got.setdefault(r.tid, set()).add(letter(r.state))
    bad = []
    for pair in a.want:
        tid, want = pair.split('=')
        have = got.get(int(tid), {'missing'})
        if not have <= set(want.split('/')):
            bad.append(f'{tid}: want {want}, got {"/".join(sorted(have))}')
    if bad:
        die('; '.join(bad))


def cmd_rows(a):
    print(sum(1 for _ in rows(a.file, a.tgid)))


def cmd_tids(a):
    print('\n'.join(str(t) for t in sorted({r.tid for r in rows(a.file, a.tgid)})))


def cmd_rooted(a):
    have = total = 0
    for r in rows(a.file, a.tgid):
        total += 1
        have += bool(r.ustack) and (r.names()[-1] in ROOTS or bool(NAMELESS_ROOT.fullmatch(r.names()[-1])))
    if not total or 100 * have < a.percent * total:
        die(f'{have} of {total} rows end at a root')
    print(f'{have} of {total}')


def cmd_kstacks(a):
    have = total = 0
    for r in rows(a.file, a.tgid):
        total += 1
        have += bool(r.kstack)
    if not total or 100 * have < a.percent * total:
        die(f'{have} of {total} rows have a kernel stack')
    print(f'{have} of {total}')


def cmd_times(a):
    begun = {}
    with open(a.file) as f:
        for line in list(f)[1:]:
            scan, stamp = line.strip().split('|')
            t = datetime.datetime.fromisoformat(stamp).timestamp()
            begun[int(scan)] = min(t, begun.get(int(scan), t))
    walks = [begun[scan] for scan in sorted(begun)]
    if len(walks) != a.count or walks != sorted(walks):
        die(f'{len(walks)} walks, want {a.count}, one after the other')
    points = [round((t - walks[0]) * a.hz) for t in walks]
    ahead = [t - walks[0] - point / a.hz for t, point in zip(walks, points)]
    late = sorted(t - min(ahead) for t in ahead)
    if abs(points[-1] - (a.count - 1 + a.left)) > 1:      # the first or the last may be late by half a period
        die(f'the last walk is {points[-1]} periods after the first, with {a.left} left out')
    if late[len(late) // 2] > 0.25 / a.hz:
        die(f'most walks are {late[len(late) // 2] * 1000:.1f} ms off the grid or more')
    print(f'{len(walks)} walks, most at most {late[len(late) // 2] * 1000:.1f} ms off the grid')


def stamps(path):
    with open(path) as f:
        return sorted(datetime.datetime.fromisoformat(line.strip()).timestamp() for line in list(f)[1:])


def cmd_beside(a):
    both = [stamps(a.file), stamps(a.other)]
    begin, end = max(v[0] for v in both), min(v[-1] for v in both)
    n, m = (sum(begin <= t <= end for t in v) for v in both)
    # Each takes the thread or another one at its own moments: the difference is like that of two counts of chance.
    if min(n, m) < 50 or abs(n - m) > 4 * (n + m) ** 0.5:
        die(f'{n} and {m} samples in the same {end - begin:.2f} s')
    print(f'{n} and {m} samples in the same {end - begin:.2f} s')


def main():
    p = argparse.ArgumentParser(usage=__doc__.replace('%', '%%'))
    sub = p.add_subparsers(dest='cmd', required=True)

    def command(name, *args):
        s = sub.add_parser(name)
        s.add_argument('file')
        for arg, kw in args:
            s.add_argument(arg, **kw)
        s.set_defaults(run=globals()['cmd_' + name.replace('-', '_')])

    tgid = ('tgid', {'type': int, 'nargs': '?'})
    pct = ('--percent', {'type': float, 'default': 99})
    command('share', ('chain', {}), ('--of', {}), pct, ('--min', {'type': int, 'default': 20}), ('--comm', {}))
    command('depth', ('name', {}), ('n', {'type': int}))
    command('frame', ('name', {}))
    command('frames-named', ('comm', {}), ('percent', {'type': float}))
    command('only', ('comm', {}), ('name', {}), ('percent', {'type': float}))
    command('like', ('regex', {}), pct, ('--of', {}), ('--min', {'type': int, 'default': 20}))
    command('never', ('a', {}), ('b', {}))
    command('total', ('comm', {'nargs': '?'}))
    command('comms')
    command('chains', ('--allow-skips', {'action': 'store_true'}), ('--marked', {'type': float, 'default': 2}))
    command('unmarked')
    command('states', ('want', {'nargs': '+'}))
    command('rows', tgid)
    command('tids', tgid)
    command('rooted', tgid, pct)
    command('kstacks', ('tgid', {'type': int}), ('percent', {'type': float}))
    command('times', ('hz', {'type': float}), ('count', {'type': int}), ('left', {'type': int}))
    command('beside', ('other', {}))
    args = p.parse_args()
    args.run(args)


main()
