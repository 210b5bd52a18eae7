# SPDX-License-Identifier: GPL-2.0-or-later
"""
What a trace says, by the reports of `probee report`, which share no code with what is pushed.

    trace = Trace(probee, path)
    trace.units             {event: unit}
    trace.rows(event)       from --csv: one Row for each sample, with time, labels and {function, line} of its stack
    trace.profile(event)    from --pprof: pprof_profile.Profile, with addresses, files, lines
    trace.folded(event)     from --collapse: {stack: number}
    trace.losses            {cause: number}, from `probee info --json`
"""
import collections
import csv
import datetime
import functools
import json
import re
import subprocess

import pprof_profile

Row = collections.namedtuple('Row', 'time weight stack cells')
EPOCH = datetime.datetime(1970, 1, 1)


def time_ns(text):
    """2026-09-21 14:13:20.010000000, in UTC."""
    whole, part = re.fullmatch(r'(\d+-\d+-\d+[ T]\d+:\d+:\d+)\.(\d+)(?:Z|\+00:00)?', text).groups()
    seconds = int((datetime.datetime.fromisoformat(whole) - EPOCH).total_seconds())
    return seconds * 10**9 + int(part.ljust(9, '0')[:9])


def unquoted(cell):
    """Cells that a spreadsheet would take for a formula have an apostrophe before them."""
    return cell[1:] if re.match("'[=+@-]", cell) else cell


def frames_in(cell):
    """
    inner:7_[i]+0x1f;main:12+0x12;f:x.h:3 -> (inner, 7), (main, 12), (f, 0): innermost first. A line of another file than the
    function's (of a macro) cannot be told where there is only one file, so it is none.
    """
    frames = []
    for one in unquoted(cell).split(';') if cell else ():
        name, line = re.sub(r'(_\[i\])?(\+0x[0-9a-f]+)?$', '', one), 0
        elsewhere = re.fullmatch(r'(.*[^:]):[^:]*\.[^:]*:\d+', name)
        here = re.fullmatch(r'(.*):(\d+)', name)
        if elsewhere:
            name = elsewhere[1]
        elif here:
            name, line = here[1], int(here[2])
        frames.append((name, line))
    return tuple(frames)


class Trace:
    def __init__(self, probee, path):
        self.probee, self.path = probee, path
        self.info = json.loads(self.run('info', path, '--json'))
        self.units = {e['name']: e['unit'] for e in self.info['events'] if self.has(e['name'])}
        self.losses = self.info["lost"]["by_cause"]

    def run(self, *words):
        return subprocess.run([self.probee, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def has(self, event):
        """Some events have no samples, which a report says by failing."""
        return not subprocess.run([self.probee, 'report', self.path, '--event', event, '--text=/dev/null'], check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def end_ns(self):
        """Of a single recording."""
        return self.info['begin_real_ns'] + self.info['duration_ns']

    def report(self, event, *words):
        return self.run('report', self.path, '--event', event, '--all-threads', *words)

    @functools.cache
    def rows(self, event):
        return list(self.read_rows(event))

    def read_rows(self, event):
        text = self.report(event, '--csv', '--lines', '--columns', 'all', '--csv-dialect', 'rfc4180').decode()
        for cells in csv.DictReader(text.splitlines()):
            cells = {name: unquoted(cell) for name, cell in cells.items()}
            kernel, user = frames_in(cells['kstack']), frames_in(cells['ustack'])
            # What stands in the place of a user stack where there can be none says nothing about this one.
            yield Row(time_ns(cells['timestamp']), int(cells['weight']),
                      kernel if kernel and user == (('[kthread]', 0),) else kernel + user, cells)

    @functools.cache
    def profile(self, event):
        return pprof_profile.from_octets(self.report(event, '--pprof'))

    @functools.cache
    def folded(self, event):
        found = collections.Counter()
        for line in self.report(event, '--collapse', '--marks', 'none', '--by', 'none').decode().splitlines():
            stack, number = line.rsplit(' ', 1)
            found[stack] += int(number)
        return found
