#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
rows_match.py LIVE REPORT [TGID...]: rows that were written while recording, against those of a report of the trace.

They are the same bytes, but for frames of other programs that happen to run here: code made at run time has its name only
at the end, and so has a frame whose name took longer than its part of the recording. What the rows written first call
"[jit]", gone, or an address of a file may be anything in the report. Rows of the processes TGID must be the same in any case.
"""
import re
import sys

UNNAMED = re.compile(r'\[jit\](?:\+0x[0-9a-f]+)?|\[[^];|]+: gone\]|\[[^];|]+\+0x[0-9a-f]+\](?:\+0x[0-9a-f]+)?')


def may_be(live, report):
    """Whether the row differs only in frames that had no name."""
    parts, at = UNNAMED.split(live), 0
    if len(parts) == 1 or not report.startswith(parts[0]) or not report.endswith(parts[-1]):
        return False
    for part in parts[:-1]:
        at = report.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return at <= len(report) - len(parts[-1])


def is_of(row, tgids):
    return any(cell in tgids for cell in re.split('[|,]', row)[:6])


def main():
    with open(sys.argv[1], encoding='utf-8', errors='surrogateescape') as f:
        live = f.read().split('\n')
    with open(sys.argv[2], encoding='utf-8', errors='surrogateescape') as f:
        report = f.read().split('\n')
    tgids = set(sys.argv[3:])
    if len(live) != len(report):
        sys.exit(f'{len(live)} lines were written while recording, the report has {len(report)}')
    named_later = 0
    for i, (a, b) in enumerate(zip(live, report)):
        if a == b:
            continue
        if is_of(a, tgids) or not may_be(a, b):
            sys.exit(f'line {i + 1} differs:\n{a}\n{b}')
        named_later += 1
    if named_later > len(live) / 10:
        sys.exit(f'{named_later} of {len(live)} rows had frames without names')


main()
