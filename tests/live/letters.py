#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""letters.py stats [HIDDEN]: "tid letter" of every thread as /proc/PID/task/TID/stat has it; HIDDEN: not of this process.
letters.py judge BEFORE AFTER CSV: of the threads that were in one state before and after the only walk of CSV, how many have
another one in it. A thread that slept before and after may have run meanwhile, and is counted apart: prints both numbers;
fails when one is wrong, or more than a twentieth ran.
"""
import glob
import sys

STATES = {
    'RUNNING': 'R', 'RUNNABLE': 'R', 'NEW': 'R', 'WAKING': 'W', 'SLEEP': 'S', 'DISK': 'D', 'DISK_NOLOAD': 'D', 'KILLABLE': 'D',
    'STOPPED': 'T', 'TRACED': 't', 'ZOMBIE': 'Z', 'DEAD': 'X', 'IDLE': 'I', 'PARKED': 'P',
}


def stats(hidden):
    for path in glob.glob('/proc/[0-9]*/task/[0-9]*/stat'):
        if path.split('/')[2] == hidden:
            continue
        try:
            with open(path, 'rb') as f:
                text = f.read()
        except OSError:
            continue
        tid = path.split('/')[4]
        print(tid, chr(text[text.rindex(b')') + 2]))


def load(path):
    with open(path) as f:
        return dict(line.split() for line in f)


def judge(before, after, csv):
    before, after, rows = load(before), load(after), {}
    with open(csv, errors='replace') as f:
        for line in f:
            cells = line.split('|')
            rows[cells[1]] = STATES.get(cells[4], '?')
    # A killable sleep is a D in /proc, a runnable one an R.
    same = {tid: letter for tid, letter in before.items() if after.get(tid) == letter and tid in rows}
    ran = [t for t, letter in same.items() if rows[t] in 'RW' and letter != 'R' or letter == 'R' and rows[t] in 'SDW']
    wrong = [f'{t}: {letter} in /proc, {rows[t]} in the row' for t, letter in same.items()
             if rows[t] != letter and t not in ran]
    found = ''.join(sorted(set(same.values())))
    print(f'{len(same)} threads in {found}: {len(wrong)} wrong, {len(ran)} ran meanwhile', *wrong[:5])
    return bool(wrong) or len(ran) > len(same) // 20 + 3 or not same


if sys.argv[1] == 'stats':
    stats(sys.argv[2] if len(sys.argv) > 2 else '')
else:
    sys.exit(judge(*sys.argv[2:5]))
