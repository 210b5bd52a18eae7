# SPDX-License-Identifier: GPL-2.0-or-later
"""unwind_info_readelf.py PROBEE FILE...: the rules that `probee unwind-info` gives, against readelf's.

Of each file some 600 addresses inside FDEs are asked for: first and last ones of rows, and random ones. CFA, return
address and frame pointer must be equal. What readelf shows as "exp" (a DWARF expression) must be something that probee
writes out, calls unsupported or lost; such places are counted apart and must be few.
"""
import json
import random
import re
import subprocess
import sys

PER_FILE = 600
NEEDED = 2000
NAMES = ['rax', 'rdx', 'rcx', 'rbx', 'rsi', 'rdi', 'rbp', 'rsp'] + [f'r{i}' for i in range(8, 16)]


def output(*words, check=True):
    env = {'LC_ALL': 'C', 'PATH': '/usr/bin:/bin'}
    return subprocess.run(words, check=check, capture_output=True, text=True, env=env).stdout


class Entry:
    """A CIE or an FDE: rows of (address, {column: text}); columns not shown are unchanged."""

    def __init__(self, lo=0, hi=0, cie=None, signal=False):
        self.lo, self.hi, self.cie, self.signal, self.rows = lo, hi, cie, signal, []

    def at(self, address):
        found = self.cie.rows[0][1] if self.cie and self.cie.rows else {}
        for begin, columns in self.rows:
            if begin <= address:
                found = columns
        return found


def entries(path):
    """(CIEs by offset, FDEs) of .eh_frame alone."""
    cies, fdes, now, columns, wanted = {}, [], None, [], False
    text = output('readelf', '--wide', '--debug-dump=frames-interp', path, check=False)    # 1: it also warned
    for line in text.splitlines():
        words = line.split()
        if line.startswith('Contents of the '):
            wanted = '.eh_frame ' in line
        elif not wanted or not words:
            continue
        elif len(words) > 3 and words[3] == 'CIE':
            now = cies[int(words[0], 16)] = Entry(signal='S' in words[4])
        elif len(words) > 3 and words[3] == 'FDE':
            lo, hi = (int(x, 16) for x in re.search(r'pc=(\w+)\.\.(\w+)', line).groups())
            now = Entry(lo, hi, cies[int(re.search(r'cie=(\w+)', line).group(1), 16)])
            fdes.append(now)
        elif words[0] == 'LOC':
            columns = words[1:]
        elif now is not None and re.fullmatch(r'[0-9a-f]{16}', words[0]):
            now.rows.append((int(words[0], 16), dict(zip(columns, words[1:]))))
    return cies, fdes


def overlapping(fdes):
    """Starts of FDEs that share addresses with others: which one counts is a choice."""
    bad, end, last = set(), 0, None
    for f in sorted(fdes, key=lambda f: f.lo):
        if f.lo < end:
            bad |= {f.lo, last}
        end, last = max(end, f.hi), f.lo
    return bad


def sample(fdes, rnd):
    """(address, FDE): row boundaries and random places."""
    bad = overlapping(fdes)
    good = [f for f in fdes if f.hi > f.lo and f.lo not in bad]
    found = {}
    while good and len(found) < min(PER_FILE, sum(f.hi - f.lo for f in good)):
        f = rnd.choice(good)
        for a in [f.lo, f.hi - 1, rnd.randrange(f.lo, f.hi)] + [r[0] for r in rnd.sample(f.rows, min(2, len(f.rows)))]:
            if f.lo <= a < f.hi:
                found[a] = f
    return sorted(found.items())


def verdict(want, signal, got):
    """'same', 'expression' or what differs."""
    if signal:
        return 'same' if got['cfa'] == 'signal frame' else 'not a signal frame'
    if want.get('ra', 'u') == 'u':
        return 'same' if got['cfa'] == 'root' else 'not the root'
    if want['CFA'] == 'exp' or want.get('ra') == 'exp':
        return 'expression' if '*' in got['cfa'] or got['cfa'] == 'unsupported' else 'expression taken for ' + got['cfa']
    if got['cfa'] == 'unsupported':     # setcontext(): the caller's stack pointer is not the CFA
        return 'expression' if want.get('rsp', 'u') != 'u' else 'needlessly unsupported'
    if got['cfa'] != want['CFA']:
        return 'CFA'
    ra = re.fullmatch(r'r(\d+)', want['ra'])    # in a register, by its DWARF number
    if got['ra'] != (NAMES[int(ra.group(1))] if ra else want['ra']):
        return 'ra'
    fp = want.get('rbp', 'u')
    if fp == 'exp' or fp.startswith('r') or fp.startswith('v'):
        return 'expression' if '*' in got['fp'] or got['fp'] in ('lost', 'u') or got['fp'].startswith('c') else 'rbp'
    return 'same' if got['fp'] == ('u' if fp == 's' else fp) else 'rbp'


def compare(probee, path, rnd):
    cies, fdes = entries(path)
    places = sample(fdes, rnd)
    info = json.loads(output(probee, 'unwind-info', path, '--json', *(hex(a) for a, _ in places)))
    tally, bad = {}, 0
    empty = sum(f.hi == f.lo for f in fdes)
    if info['fdes'] != len(fdes) - empty or info['cies'] != len(cies):
        print(f'{path}: {info["fdes"]} FDEs and {info["cies"]} CIEs, readelf has {len(fdes) - empty} and {len(cies)}')
        bad += 1
    assert len(info['places']) == len(places)
    for (address, fde), got in zip(places, info['places']):
        want = fde.at(address)
        v = verdict(want, fde.cie.signal, got)
        tally[v] = tally.get(v, 0) + 1
        if not got['begin'] <= address < got['end']:
            v = 'not in its own range'
        if v not in ('same', 'expression'):
            print(f'{path}: {address:#x}: {v}: readelf {want}, probee {got}')
            bad += 1
    print(f'{path}: {len(fdes)} FDEs, {len(places)} addresses: {tally}')
    return tally, bad


def main(probee, *paths):
    rnd, all_of, bad = random.Random(7), {}, 0
    for path in paths:
        tally, wrong = compare(probee, path, rnd)
        bad += wrong
        for k, n in tally.items():
            all_of[k] = all_of.get(k, 0) + n
    print('all:', all_of)
    if all_of.get('same', 0) < NEEDED:
        print(f'only {all_of.get("same", 0)} addresses are the same, {NEEDED} are needed')
        bad += 1
    if all_of.get('expression', 0) > all_of.get('same', 0) / 20:
        print('too many expressions')
        bad += 1
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
