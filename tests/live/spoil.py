#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""spoil.py FILE FUNCTION: makes the unwind information of one function of an ELF file wrong, and prints what was changed.

The largest DW_CFA_def_cfa_offset of the function's FDE in .eh_frame gets another operand of the same length: 64 less. The
program runs as before: only unwinders read this.
"""
import re
import subprocess
import sys


def run(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, stderr=subprocess.DEVNULL).stdout


def uleb(n):
    out = bytearray()
    while True:
        out.append((n & 0x7f) | (0x80 if n > 0x7f else 0))
        n >>= 7
        if not n:
            return bytes(out)


def main():
    path, function = sys.argv[1:]
    section = next(line.split() for line in run('readelf', '-SW', path).replace('[ ', '[').splitlines()
                   if ' .eh_frame ' in line)
    offset = int(section[4], 16)
    start = next(int(line.split()[0], 16) for line in run('nm', path).splitlines() if line.endswith(' ' + function))
    lines = run('readelf', '-W', '--debug-dump=frames', path).splitlines()
    fde, values = None, []
    for line in lines:
        m = re.match(r'([0-9a-f]+) ([0-9a-f]+) [0-9a-f]+ (FDE|CIE)(?: cie=\S+ pc=([0-9a-f]+)\.\.)?', line)
        if m:
            here = (int(m.group(1), 16), int(m.group(2), 16)) if m.group(4) and int(m.group(4), 16) == start else None
            fde = here or fde
            inside = bool(here)
        m = re.match(r'\s+DW_CFA_def_cfa_offset: (\d+)', line)
        if m and inside:
            values.append(int(m.group(1)))
    at, size = fde
    largest = max(values)
    old, new = uleb(largest), uleb(largest - 64)
    if len(old) != len(new):
        sys.exit(f'{largest} and {largest - 64} do not have the same length')
    with open(path, 'r+b') as f:
        f.seek(offset + at)
        body = f.read(size + 4)
        where = body.index(b'\x0e' + old)
        f.seek(offset + at + where + 1)
        f.write(new)
    print(largest)


main()
