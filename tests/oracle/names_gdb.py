#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Our names of random code addresses against gdb's "info symbol", and readable ones against c++filt.

names_gdb.py FIND_NAMES FILE...    environment: SEED (1), NR addresses of each file (400)

A name that differs is explained by one of the rules of docs/NAMES.md, and readelf must confirm it:

    alias       both names stand at the same address; gdb takes the last in the alphabet
    resolver    a stub of the PLT for a function that a resolver chooses; gdb prints *ABS*+0x1234@plt
    ours only   _init, _fini, _start of stripped files and stubs of static ones, which gdb leaves out,
                or a function of .dynsym, which gdb does not read beside a .symtab
    label       gdb's is a label inside of a function without a size
    gdb only    data in the code, or what lies behind a symbol without a size
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors='replace', check=False).stdout


def rust_part(sysname):
    """What c++filt leaves out: ".cold", where LLVM has split a function of Rust."""
    m = re.match(r'_(?:R|ZN.*17h[0-9a-f]{16}E)\w*(\.[a-z].*)', sysname)
    return m[1] if m else ''


class Binary:
    """Symbols of a file and of its debug file, by readelf."""

    def __init__(self, path):
        self.path = path
        self.debug = self.debug_file()
        self.at = collections.defaultdict(dict)     # address -> name -> (type, size)
        self.by_name = collections.defaultdict(set)  # name -> {(type, size)}
        for file in filter(None, (path, self.debug)):
            for line in run('readelf', '-sW', file).splitlines():
                m = re.match(r' *\d+: (\w+) +(\w+) (\w+) +\w+ +\w+ +(?:\[.*\] +)?\d+ ([^@]+)', line)
                if m:
                    kind = m[3], int(m[2], 0)
                    self.at[int(m[1], 16)][m[4].strip()] = kind
                    self.by_name[m[4].strip()].add(kind)

    def debug_file(self):
        found = re.search(r'Build ID: (\w+)', run('readelf', '-n', self.path))
        path = found and f'/usr/lib/debug/.build-id/{found[1][:2]}/{found[1][2:]}.debug'
        return path if path and os.path.exists(path) else None

    def sections(self):
        """(address, size) of those with code."""
        for line in run('readelf', '-SW', self.path).splitlines():
            m = re.match(r'\s*\[ *\d+\] \S+ +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \w+ +\w*X', line)
            if m:
                yield int(m[1], 16), int(m[2], 16)

    def addresses(self, nr):
        """Random ones of each section with code by its size, and its first and last one."""
        found = list(self.sections())
        total = sum(size for _, size in found)
        out = []
        for start, size in found:
            out += [start, start + size - 1]
            out += [start + random.randrange(size) for _ in range(max(2, nr * size // total))]
        return out


def ask_gdb(path, addresses):
    """A list of (name, offset) or None: as in the symbol table."""
    questions = ''.join(f'info symbol {a:#x}\n' for a in addresses)
    with tempfile.NamedTemporaryFile('w', suffix='.gdb') as script:
        script.write(f'set print demangle off\n{questions}')
        script.flush()
        out = run('gdb', '-nx', '-batch', '-ex', 'set debuginfod enabled off', '-x', script.name, path)
    answers = []
    for line in out.splitlines():
        m = re.fullmatch(r'(.*?)(?: \+ (\d+))? in section \S+(?: of .*)?', line)
        if m:
            answers.append((re.sub(r'@@?(?!plt)[\w.]+(?=$|@plt)', '', m[1]), int(m[2] or 0)))
        elif line.startswith('No symbol matches'):
            answers.append(None)
    if len(answers) != len(addresses):
        sys.exit(f'{path}: gdb gave {len(answers)} answers to {len(addresses)} questions')
    return answers


def readable(names):
    """As nm -C prints them: -i, std::string is not spelt out; -r, names of more than 1024 octets as well."""
    bare = '\n'.join(name.removesuffix('@plt') for name in names)
    return [line + name[len(name.removesuffix('@plt')):]
            for name, line in zip(names, run('c++filt', '-i', '-r', text=bare).splitlines())]


def ask_us(tool, binary, addresses):
    files = [binary.path] + ([binary.debug] if binary.debug else [])
    for line in run(tool, *files, text=''.join(f'{a:x}\n' for a in addresses)).splitlines():
        offset, _, names = line.partition('\t')
        yield None if line == '-' else (*names.split('\t'), int(offset))


def explain(binary, addr, gdb, ours):
    """A word for why the two may differ; None: they must not."""
    kinds = binary.by_name[gdb[0]] if gdb else ()
    if not ours:
        return 'gdb only' if any(kind == 'OBJECT' or not size for kind, size in kinds) else None
    name, _, offset = ours
    there = binary.at[addr - offset]
    if not gdb:
        covers = name in there and offset < max(there[name][1], 1)
        known = name in ('_init', '_fini', '_start') or name.endswith('@plt')
        return 'ours only' if covers or known else None
    if gdb[1] < offset and name in there and there[name] == ('FUNC', 0):
        return 'label' if any(kind == 'NOTYPE' for kind, _ in kinds) else None
    if gdb[1] != offset:
        return None
    if gdb[0].startswith('*ABS*+0x') and name.endswith('@plt'):
        return 'resolver'
    return 'alias' if {gdb[0], name} <= there.keys() else None


def compare(tool, path, nr, kinds):
    binary = Binary(path)
    addresses = binary.addresses(nr)
    wrong = 0
    answers = ask_gdb(path, addresses)
    names = readable([gdb[0] if gdb else '-' for gdb in answers])
    for addr, gdb, name, ours in zip(addresses, answers, names, ask_us(tool, binary, addresses)):
        if not gdb and not ours:
            kind = 'none'
        elif gdb and ours and gdb == (ours[0], ours[2]):
            kind = 'the same' if ours[1] in (name, name + rust_part(ours[0])) else None
        else:
            kind = explain(binary, addr, gdb, ours)
        kinds[kind] += 1
        if not kind:
            wrong += 1
        if not kind and wrong < 10:
            print(f'{path} {addr:#x}: gdb says {gdb}, {name}; we say {ours}')
    return wrong


def main():
    tool, files = sys.argv[1], sys.argv[2:]
    random.seed(int(os.environ.get('SEED', '1')))
    kinds = collections.Counter()
    wrong = sum(compare(tool, path, int(os.environ.get('NR', '400')), kinds) for path in files)
    print(', '.join(f'{nr} {kind or "not explained"}' for kind, nr in kinds.most_common()))
    if wrong:
        sys.exit(f'{wrong} names differ from gdb\'s')
    if kinds['the same'] < 1000 or kinds['the same'] < 20 * (kinds['gdb only'] + kinds['ours only']):
        sys.exit('too few names were compared')


main()
