#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""made_gdb.py DIR ROUNDS: are stacks through code made at run time what gdb says?

Links made_code.S into DIR, starts `made image` with it, stops that at some moment, and compares what one snapshot shows with
what gdb says, address by address. gdb is told of the code's unwind information, probee is not: it reads the code. Prints how
many stacks were equal. Exits 1 on a difference, 77 without gdb. PROBEE and WORKLOADS as in lib.sh.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, '..', 'workloads', 'made_code.S')
ADDRESS = 0x6a0000000000
PROBEE, WORKLOADS = os.environ['PROBEE'], os.environ['WORKLOADS']


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_image(folder):
    o, elf, image = (os.path.join(folder, name) for name in ('code.o', 'code.elf', 'code.bin'))
    run('gcc', '-c', SOURCE, '-o', o)
    run('ld', '-Ttext=%#x' % ADDRESS, '-e', 'entry', o, '-o', elf)
    run('objcopy', '-O', 'binary', '-j', '.text', elf, image)
    symbols = {}
    for line in run('nm', elf).splitlines():
        value, kind, name = line.split()
        if kind in 'tT' and int(value, 16) >= ADDRESS:
            symbols[name] = int(value, 16)
    return elf, image, symbols


def by_gdb(pid, elf):
    """[(address, name)], innermost first."""
    script = elf + '.py'
    with open(script, 'w') as f:
        f.write('import gdb\nf = gdb.newest_frame()\n'
                'while f:\n    print("PC", hex(f.pc()), f.name())\n    f = f.older()\n')
    out = run('gdb', '-nx', '-batch', '-p', str(pid), '-ex', 'set backtrace past-main on',
              '-ex', 'set backtrace past-entry on', '-ex', 'add-symbol-file ' + elf, '-x', script)
    return [(int(m[1], 16), m[2]) for m in re.finditer(r'^PC (0x[0-9a-f]+) (.*)$', out, re.M)]


def by_probee(pid, folder, symbols):
    """The same; the address is 0 where it is not one of the image."""
    trace = os.path.join(folder, 'one.pbz')
    run(PROBEE, 'snapshot', '-p', str(pid), '-i', '1', '-o', trace)
    row = run(PROBEE, 'report', '--csv', trace).splitlines()[-1]
    frames = []
    for text in row.split('|')[5].split(';'):
        name, _, offset = text.partition('+')
        frames.append((symbols[name] + int(offset or '0', 16) if name in symbols else 0, name))
    return frames


def in_image(addr):
    return ADDRESS <= addr < ADDRESS + 4096


def shape(frames):
    """Addresses in the image, and names of the workload's own functions; gdb also shows inlined ones."""
    return [addr if in_image(addr) else name for addr, name in frames
            if in_image(addr) or name in ('called', 'run', 'outer', 'main', '_start')]


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2])
    if not all(map(shutil.which, ('gdb', 'gcc', 'ld', 'objcopy', 'nm'))):
        sys.exit(77)
    elf, image, symbols = make_image(folder)
    p = subprocess.Popen([WORKLOADS + '/made', 'image', image], stdout=subprocess.PIPE, text=True)
    bad = inside = 0
    names = '/tmp/perf-%d.map' % p.pid
    try:
        p.stdout.readline()
        with open(names, 'x') as f:
            ends = sorted(symbols.values())[1:] + [ADDRESS + 4096]
            for (name, at), end in zip(sorted(symbols.items(), key=lambda s: s[1]), ends):
                f.write('%x %x %s\n' % (at, end - at, name))
        for _ in range(rounds):
            time.sleep(random.random() / 50)
            os.kill(p.pid, signal.SIGSTOP)
            mine, other = by_probee(p.pid, folder, symbols), by_gdb(p.pid, elf)
            os.kill(p.pid, signal.SIGCONT)
            inside += in_image(other[0][0])
            if shape(mine) != shape(other):
                bad += 1
                print('probee:', mine, '\ngdb:   ', other)
    finally:
        p.kill()
        p.wait()
        if os.path.exists(names):
            os.unlink(names)
    print('%d of %d equal, %d interrupted in it' % (rounds - bad, rounds, inside))
    sys.exit(1 if bad else 0)


main()
