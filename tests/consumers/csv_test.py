#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""csv_test.py DIR NAME...: Python's csv module finds in NAME.csv what NAME.xstack and NAME.json say."""
import csv
import json
import sys


def check(path):
    bad = []
    with open(path + '.csv', encoding='utf-8', newline='') as f:
        raw = f.read()
    rows = list(csv.DictReader(raw.splitlines(keepends=True), strict=True))
    with open(path + '.xstack', encoding='utf-8') as f:
        plain = [line.rstrip('\n').split('|') for line in f][1:]
    with open(path + '.json', encoding='utf-8') as f:
        total = json.load(f)['value']
    if raw.count('\r\n') != len(rows) + 1 or raw.replace('\r\n', '').count('\n'):
        bad.append('lines do not end with CR LF')
    if len(rows) != len(plain) or not rows:
        bad.append(f'{len(rows)} rows, not {len(plain)}')
    if sum(int(r['weight']) for r in rows) != total:
        bad.append(f"{sum(int(r['weight']) for r in rows)} in all, not {total}")
    for row, want in zip(rows, plain):
        if None in row or None in row.values():
            bad.append(f'a row has another number of cells: {row}')
        got = [row['tid'], row['tgid'], row['comm'], row['state'], row['ustack'], row['kstack']]
        # The other dialect has ! and : instead of what separates its columns and frames.
        if [g.replace('|', '!').replace(';', ':') for g in got] != [w.replace(';', ':') for w in want[1:]]:
            bad.append(f'{got}, not {want[1:]}')
        if not row['timestamp'].startswith(want[0].replace(' ', 'T')) or not row['timestamp'].endswith('Z'):
            bad.append(f"{row['timestamp']}, not {want[0]}")
        if any(c < ' ' for c in ''.join(row.values())):
            bad.append(f'a control character in {row}')
    for line in bad:
        print(f'{path}: {line}')
    return not bad


sys.exit(not all([check(f'{sys.argv[1]}/{name}') for name in sys.argv[2:]]))
