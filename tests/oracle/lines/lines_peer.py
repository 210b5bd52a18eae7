# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares inline chains and lines: lines_peer.py LINES-PROGRAM FILE NUMBER PEER [FILE].

The peer is addr2line or llvm-symbolizer, and may be given another file with the same code. Of a stripped Go program only Go's own
table is there: its names have no type arguments before Go 1.21, and its paths of generated code no directory.

Addresses are random ones of the text sections. Equal means: the same files and lines, and the same inlined functions. The
outermost function is not compared, because both peers may take its name from the symbol table. Of addr2line only the innermost
line is compared: it leaves out inlined functions of clang's, and gives others the name of the symbol. An address for which the
peer has no line does not count. Prints the counts; fails below 99.9 % or 1000 compared addresses.
"""
import random
import re
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
    compared = equal = 0
    for a in addrs:
        want, have = theirs[a], ours[a]
        if go_table:
            want, have = as_in_go_table(want), as_in_go_table(have)
        if want[0][1].endswith((':0', ':?')) or want[0][1].startswith('??'):
            continue
        compared += 1
        same = have[0][1] == want[0][1] if peer == 'addr2line' else \
            [x[1] for x in want] == [x[1] for x in have] and [x[0] for x in want[:-1]] == [x[0] for x in have[:-1]]
        equal += same
        if not same and compared - equal <= 3:
            print(f'{a}:\n  ours  {have}\n  {peer} {want}')
    print(f'{equal} of {compared} equal')
    sys.exit(compared < 1000 or equal < 0.999 * compared)


main()
