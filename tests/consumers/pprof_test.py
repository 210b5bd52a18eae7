#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof_test.py PREFIX: compares PREFIX.raw (pprof -raw) with PREFIX.folded and PREFIX.json."""
import collections
import json
import re
import sys


def read_raw(lines):
    """The samples as [count, weight, thread, [location]], and the functions of each location, innermost first."""
    samples, locations, part = [], {}, None
    for line in lines:
        if line.strip() in ('Samples:', 'Locations', 'Mappings'):
            part = line.strip()
        elif part == 'Samples:' and re.match(r' *\d+ +\d+: [\d ]+$', line):
            numbers, stack = line.split(':')
            samples.append([*map(int, numbers.split()), None, stack.split()])
        elif part == 'Samples:' and 'thread:[' in line:
            samples[-1][2] = re.search(r'thread:\[(.*?)\](?: \w+:\[|\s*$)', line).group(1)
        elif part == 'Locations':
            first = re.match(r' *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)$', line)
            if first:
                locations[first.group(1)] = here = []
            here.append(function_of(first.group(2) if first else line.strip()))
    return samples, locations


def function_of(text):
    """'main src/x.cc:12:0 s=3(_Zmain)' -> 'main src/x.cc': names and files may have blanks."""
    return re.sub(r':-?\d+:-?\d+ s=-?\d+\(.*\)(\(inline\))?$', '', text).replace(';', ':')


def name_in(text, names):
    """Which of the names the text begins with, the longest one."""
    fits = [n for n in names if text == n or text.startswith(n + ' ')]
    return max(fits, key=len, default=text)


def main():
    prefix = sys.argv[1]
    with open(prefix + '.raw', encoding='utf-8') as f:
        samples, locations = read_raw(f)
    with open(prefix + '.json', encoding='utf-8') as f:
        want_weight = json.load(f)['value']
    want, got = collections.Counter(), collections.Counter()
    counts = all(s[1] for s in samples) and 'nanoseconds' in open(prefix + '.raw', encoding='utf-8').read()
    with open(prefix + '.folded', encoding='utf-8') as f:
        for line in f:
            stack, number = line.rstrip('\n').rsplit(' ', 1)
            want[';'.join(re.sub(r'_\[i\]$', '', name).strip() for name in stack.split(';'))] += int(number)
    bad = 0
    names = {name for stack in want for name in stack.split(';')} | {'[no stack]'}
    for count, weight, thread, stack in samples:
        functions = [name_in(text, names) for at in stack for text in locations[at]]
        # [no stack] stands for a thread alone.
        functions = [f for f in functions if f != '[no stack]']
        thread = (thread or '[no name]').replace(';', ':')
        got[';'.join([thread, *reversed(functions)])] += count if counts else weight
    for stack in sorted(want.keys() | got.keys()):
        if want[stack] != got[stack]:
            print(f'{stack!r}: {got[stack]}, not {want[stack]}')
            bad = 1
    if sum(s[1] for s in samples) != want_weight:
        print(f'{sum(s[1] for s in samples)} in all, not {want_weight}')
        bad = 1
    if not samples:
        print('there are no samples')
        bad = 1
    return bad


sys.exit(main())
