# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares inline chains and lines: lines_peer.py LINES-PROGRAM FILE NUMBER PEER [FILE].

The peer is addr2line or llvm-symbolizer, and may be given another file with the same code. Of a stripped Go program only Go's own
table is there: its names have no type arguments before Go 1.21, and its paths of generated code no directory.

Addresses are random ones of the text sections. Equal means: the same files and lines, and the same inlined functions. "././x.go"
and "./x.go" are the same file. The outermost function is not compared, because both peers may take its name from the symbol table. Of addr2line only the innermost
line is compared: it leaves out inlined functions of clang's, and gives others the name of the symbol. An address for which the
peer has no line does not count. Where addr2line differs, llvm-symbolizer is asked, if there is one: a difference in which
that says what we say, or neither has a line, is addr2line's own and does not fail (binutils 2.40 takes the file of the unit for
that of a line in code that was included). Prints the counts; fails below 99.9 % or MINIMUM (environment; 1000) compared addresses.
A difference has a kind (difference()): the counts and the first addresses of each kind are printed.
"""
import collections
import os
import random
import re
import shutil
import subprocess
import sys


def text_sections(path):
    out = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True, check=True).stdout
    for m in re.finditer(r'\] (\.text\S*)\s+(?:PROGBITS|NOBITS)\s+(\w+) \w+ (\w+)', out):
        yield int(m.group(2), 16), int(m.group(3), 16)


def addresses(path, number):
    sections = list(text_sections(path))
    rng = random.Random(path)
    weights = [size for _, size in sections]
    picked = {a + rng.randrange(size) for a, size in rng.choices(sections, weights, k=number)}
    return ['0x%x' % a for a in sorted(picked)]


def run(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, errors='replace').stdout


def chains(text):
    """{address: [(function, "file:line"), ...]} of what the programs print."""
    found, chain = {}, None
    lines = iter(text.splitlines())
    for line in lines:
        if re.fullmatch(r'0x[0-9a-f]+', line):
            chain = found['0x%x' % int(line, 16)] = []
        elif line:
            place = re.sub(r' \(discriminator \d+\)$', '', next(lines))
            path, nr = re.fullmatch(r'(.*?):(\d+|\?)(?::\d+)?', place).groups()
            chain.append((line, f'{path}:{nr}'))
    return found


def with_one_dot(chain):
    return [(name, re.sub(r'^(\./)+', './', place)) for name, place in chain]


def difference(want, have):
    """In what the two differ; '': in nothing."""
    if want[:-1] == have[:-1] and want[-1][1] == have[-1][1]:
        return ''
    if have[0][1].startswith('??'):
        return 'we have no line'
    if len(want) != len(have):
        return 'another number of functions'
    if [x[0] for x in want[:-1]] != [x[0] for x in have[:-1]]:
        return 'another inlined function'
    if [x[1].rpartition(':')[0] for x in want] != [x[1].rpartition(':')[0] for x in have]:
        return 'another file'
    return 'another line of the file'


def judges(path, addrs):
    """What llvm-symbolizer says of the innermost line; {}: there is none."""
    if not shutil.which('llvm-symbolizer'):
        return {}
    command = ['llvm-symbolizer', f'--obj={path}', '--no-demangle', '--print-address']
    return {a: with_one_dot(chain)[0][1] for a, chain in chains(run(command, '\n'.join(addrs) + '\n')).items()}


def has_line(place):
    return not place.startswith('??') and not place.endswith((':0', ':?'))


def as_in_go_table(chain):
    return [(re.sub(r'\[.*\]', '[...]', name), re.sub(r'^(\./)+', '', place)) for name, place in chain]


def is_stripped_go(path):
    out = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True, check=True).stdout
    return '.gopclntab' in out and '.debug_info' not in out


def main():
    program, path, number, peer = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    other = sys.argv[5] if len(sys.argv) > 5 else path
    addrs = addresses(path, number)
    go_table = is_stripped_go(path)
    text = '\n'.join(addrs) + '\n'
    ours = chains(run([program, path], text))
    command = {'addr2line': ['addr2line', '-fiae', other],
               'llvm-symbolizer': ['llvm-symbolizer', f'--obj={other}', '--no-demangle', '--print-address']}[peer]
    theirs = chains(run(command, text))
    compared, kinds, shown, suspects = 0, collections.Counter(), [], {}
    for a in addrs:
        want, have = with_one_dot(theirs[a]), with_one_dot(ours[a])
        if go_table:
            want, have = as_in_go_table(want), as_in_go_table(have)
        if not has_line(want[0][1]):
            continue
        compared += 1
        if peer == 'addr2line':
            want, have = want[:1], have[:1]
        kind = difference(want, have)
        if kind and peer == 'addr2line':
            suspects[a] = have[0][1]
            continue
        kinds[kind] += 1
        if kind and kinds[kind] <= 3:
            shown.append(f'{a}: {kind}:\n  ours  {have}\n  {peer} {want}')
    judge = judges(other, suspects) if suspects else {}
    for a, place in suspects.items():
        own = a in judge and (judge[a] == place or not has_line(judge[a]) and not has_line(place))
        kinds['addr2line alone' if own else 'different'] += 1
        if not own:
            shown.append(f'{a}: {place}; addr2line {theirs[a][0][1]}; llvm-symbolizer {judge.get(a)}')
    equal = kinds.pop('', 0)
    print(', '.join([f'{equal} of {compared} equal'] + [f'{n} {kind}' for kind, n in kinds.most_common()]))
    print('\n'.join(shown[:20]))
    explained = kinds['addr2line alone']
    sys.exit(compared < int(os.environ.get('MINIMUM', '1000')) or equal + explained < 0.999 * compared)


main()
