#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What a receiver has of a trace, compared with what the reports say of that trace.

    readback.py otlp FILE TRACE [OPTION...]         FILE: of the collector's file exporter
    readback.py pyroscope URL TRACE [OPTION...]     URL: of a Pyroscope server, whose tenant has
                                                    nothing else

Compared are, exactly:

    stacks      for each event, process, thread and stack the sum of what was pushed with that of --pprof: functions, files,
                lines, inlined functions; of OTLP also addresses, binaries, build ids, system names
    labels      for each event, set of labels and stack of functions and lines the sum with that of --csv
    windows     for each event, process and window of time likewise
    sums        for each event the sum with that of --collapse
    losses      with `probee info`

Prints what differs, at most ten lines of each kind, and exits with 1. When nothing does, what came is changed in one place at a
time, and it exits with 1 if that is not seen. All times may be later by one amount (--rebase-time).
"""
import argparse
import collections
import os
import re
import sys
import time

import otlp
import push_names
import pyroscope_api
import truth

Pushed = collections.namedtuple('Pushed', 'event labels stack value begin end')
SECOND = 10**9


class Differences:
    def __init__(self, is_silent=False):
        self.number, self.is_silent = 0, is_silent

    def equal(self, what, got, want):
        """Two counters."""
        keys = [k for k in got.keys() | want.keys() if got.get(k, 0) != want.get(k, 0)]
        for key in sorted(keys, key=repr)[:10]:
            self.say(f'{what}: {got.get(key, 0)}, not {want.get(key, 0)}: {key!r}')
        if len(keys) > 10:
            self.say(f'{what}: {len(keys) - 10} more differ')
        self.number += len(keys)

    def fail(self, what):
        self.number += 1
        if self.number <= 20:
            self.say(what)

    def say(self, what):
        if not self.is_silent:
            print(what)


# --- what came

def from_collector(path, names, bad):
    """A message that came twice, because its sender did not get the answer, counts once: its profiles have the same ids."""
    seen = collections.defaultdict(dict)
    for nr, octets in enumerate(otlp.messages(path)):
        message = otlp.parse(octets)
        for fault in otlp.faults(message):
            bad.fail(f'message {nr}: {fault}')
        for s in otlp.samples(message):
            event, is_multiplied = names.of_otlp(s.type)
            value = (sum(s.values) if s.values else len(s.times)) * (s.period if is_multiplied else 1)
            labels = push_names.labels_of_otlp({**s.resource, **s.labels})
            key = s.index, tuple(sorted(labels.items()))
            pushed = Pushed(event, labels, s.stack, value, s.begin, s.end)
            if seen[s.profile].setdefault(key, pushed) != pushed:
                bad.fail(f'message {nr}: another profile of the id {s.profile.hex()}')
    return [p for profile in seen.values() for p in profile.values()]


def from_pyroscope(url, tenant, names, span, bad):
    """All that the server has, by windows of time. It tells when a profile began, and not how long it lasted."""
    server = pyroscope_api.Server(url, tenant)
    pushed, times = [], {}
    for series in server.series(*span):
        kind = series['__profile_type__']
        event = names.of_pyroscope(kind)
        if event is None:
            continue
        if kind not in times:
            times[kind] = times_of(server, kind, span)
        labels = push_names.labels_of_pyroscope(series)
        for begin in times[kind]:
            profile = server.profile(kind, series, begin, begin + 10**6)
            pushed += [Pushed(event, labels, row.stack, row.values[0], begin, None) for row in profile.rows]
    return pushed


def times_of(server, kind, span):
    """When profiles of a type begin: by halves, until a span that has something is a millisecond."""
    def total(begin, end):
        return sum(row.values[0] for row in server.profile(kind, {}, begin * 10**6, end * 10**6).rows)

    whole = [(span[0] // 10**6, -(-span[1] // 10**6))]
    found = []
    while whole:
        begin, end = whole.pop()
        if not total(begin, end):
            continue
        if end - begin == 1:
            # Both ends belong to a span, so what began with the next millisecond is there as well.
            if total(begin, end) != total(end, end):
                found.append(begin * 10**6)
            continue
        middle = (begin + end) // 2
        whole += [(begin, middle), (middle, end)]
    return sorted(found)


def settled(read, again):
    """What the server has when that no longer differs: what was pushed a moment ago may not be there yet."""
    end = time.monotonic() + 40
    while True:
        bad, pushed = Differences(is_silent=True), read()
        if pushed:
            again(pushed, bad)
        if pushed and not bad.number or time.monotonic() > end:
            return pushed
        time.sleep(0.5)


# --- both sides as counters

def lines_only(stack):
    """What Pyroscope keeps of a stack."""
    return tuple((line.function, line.file, line.line) for location in stack for line in location.lines)


def functions(stack):
    """As --csv has them, which separates frames by ';'."""
    return tuple((line.function.replace(';', ':'), line.line) for location in stack for line in location.lines)


def as_pushed(stack):
    """
    Of a stack of --pprof: that leaves out a system name that equals the name (formats/render/pprof_message.c says why), and it has
    addresses where functions have names.
    """
    return tuple(location._replace(address=location.address if is_unnamed(location) else 0,
                                   lines=tuple(line._replace(system=line.system or line.function) for line in location.lines))
                 for location in stack)


def is_unnamed(location):
    return re.fullmatch(r'\[(unknown|jit|.*\+0x[0-9a-f]+)\]', location.lines[0].function)


def with_system_names(stack):
    return tuple(location._replace(lines=tuple(line._replace(system=line.system or line.function) for line in location.lines))
                 for location in stack)


class Comparison:
    def __init__(self, trace, names, bad, whole, all_rows):
        self.trace, self.names, self.bad = trace, names, bad
        self.of_pushed, self.of_trace = whole
        self.kernel = {r.cells['tgid'] for rows in all_rows.values() for r in rows if is_kernel_thread(r.cells)}

    def is_of_kernel(self, cells):
        """All kernel threads, and what a CPU does when it has nothing to do, are one process."""
        return cells['tgid'] in self.kernel

    def process(self, pid):
        """What a process is told by; kernel threads are none."""
        return '' if pid in self.kernel else pid

    def value(self, event, count, weight):
        return count if self.names.counts_samples(event) else weight

    def stacks(self, event, pushed):
        got, want = collections.Counter(), collections.Counter()
        for p in pushed:
            got[self.process(p.labels.get('tgid', '')), p.labels.get('tid', ''), self.of_pushed(p.stack)] += p.value
        for row in self.trace.profile(event).rows:
            pid, tid = (str(row.labels.get(k, '')) for k in ('pid', 'tid'))
            want[self.process(pid), tid, self.of_trace(row.stack)] += self.value(event, *row.values)
        self.bad.equal(f'{event}: stacks', got, want)

    def labels(self, event, pushed, rows, expected):
        """expected: labels that all of it must have."""
        keys = ['tgid', 'tid', 'comm', 'process', 'exe', 'cgroup', 'service.name', *expected]
        if any('activity' in p.labels for p in pushed):
            keys.append('activity')
        got, want = collections.Counter(), collections.Counter()
        for p in pushed:
            got[tuple(p.labels.get(k, '') for k in keys), functions(p.stack)] += p.value
        for r in rows:
            cells = self.labels_of(r.cells, expected)
            want[tuple(cells.get(k, '') for k in keys), r.stack] += self.value(event, 1, r.weight)
        self.bad.equal(f'{event}: labels {keys}', got, want)

    def labels_of(self, cells, expected):
        cells = {**cells, **expected}
        if self.is_of_kernel(cells):
            return {**cells, 'tgid': '', 'process': '', 'exe': '', 'cgroup': '', 'service.name': 'kernel'}
        return {**cells, 'service.name': expected.get('service.name') or push_names.service_of(cells)}

    def windows(self, event, pushed, rows, moved, longest):
        """
        Each sample is in one profile of its process that covers its time, and in no other. Pyroscope tells times in whole
        milliseconds, so where times were moved, a sample this near to the edge of a window is in either.
        """
        if moved is None or not pushed[0:1] or (moved and not pushed[0].end and
                                                any((r.time + moved + 10**6) % longest < 2 * 10**6 for r in rows)):
            return
        got, want = collections.Counter(), collections.Counter()
        begins = collections.defaultdict(set)
        for p in pushed:
            pid = self.process(p.labels.get('tgid', ''))
            begins[pid].add((p.begin, p.end or p.begin + longest))
            got[pid, p.begin] += p.value
        for r in rows:
            pid = self.process(r.cells['tgid'])
            inside = [b for b, e in begins[pid] if b <= r.time + moved <= e]
            # A window ends where the next one begins, which Pyroscope does not tell; the last one has the recording's last instant.
            begin = max(inside) if inside else f'no window: {r.time + moved}'
            want[pid, begin] += self.value(event, 1, r.weight)
        self.bad.equal(f'{event}: windows', got, want)
        for pid, spans in begins.items():
            spans = sorted(spans)
            for (_, end), (begin, _) in zip(spans, spans[1:]):
                if end > begin and pushed[0].end:
                    self.bad.fail(f'{event}: windows of process {pid} overlap')

    def sums(self, event, pushed):
        got = sum(p.value for p in pushed)
        rows = self.trace.profile(event).rows
        want = sum(self.value(event, *row.values) for row in rows)
        stacks = self.trace.folded(event)
        folded, counted, weight = sum(stacks.values()), sum(row.values[0] for row in rows), sum(row.values[1] for row in rows)
        if got != want:
            self.bad.fail(f'{event}: {got} in all, not {want}')
        # Time off the CPU is in whole microseconds there, each stack's rounded.
        if folded not in (counted, weight) and abs(weight / 1000 - folded) > len(stacks) / 2:
            self.bad.fail(f'{event}: --collapse has {folded}, --pprof {counted} and {weight}')

    def losses(self, pushed):
        got = collections.Counter()
        for p in pushed:
            got[functions(p.stack)] += p.value
        want = {((f'[lost: {cause}]', 0),): number for cause, number in self.trace.losses.items()}
        self.bad.equal('losses', got, want)


def is_kernel_thread(cells):
    return cells['ppid'] == '2' or cells['tid'] in ('0', '2') or cells['stack_end'] == 'kthread'


def compare(pushed, trace, names, options, bad, whole):
    all_rows = {event: list(trace.rows(event)) for event in trace.units}
    c = Comparison(trace, names, bad, whole, all_rows)
    expected = dict(word.split('=', 1) for word in options.label)
    if options.service:
        expected['service.name'] = options.service
    moved = shift(pushed, trace, options.window) if options.rebased and pushed else 0
    for event, rows in all_rows.items():
        here = [p for p in pushed if p.event == event]
        if not rows and not here:
            continue
        c.stacks(event, here)
        c.labels(event, here, rows, expected)
        c.windows(event, here, rows, moved, options.window * SECOND)
        c.sums(event, here)
        if not bad.number:
            bad.say(f'{event}: {len(rows)} samples, {sum(p.value for p in here)} {names.unit(event)}, {len(here)} rows')
    c.losses([p for p in pushed if p.event == 'lost'])


# --- whether a difference would be seen

def with_stack(pushed, change):
    """change: of the innermost location."""
    return pushed._replace(stack=(change(pushed.stack[0]), *pushed.stack[1:]))


def with_line(pushed, **fields):
    return with_stack(pushed, lambda l: l._replace(lines=(l.lines[0]._replace(**fields), *l.lines[1:])))


def with_label(pushed, name, value):
    return pushed._replace(labels={**pushed.labels, name: value})


CHANGES = {
    'a value': lambda p: [p._replace(value=p.value + 1)],
    'one less': lambda p: [],
    'one twice': lambda p: [p, p],
    'an event': lambda p: [p._replace(event='c0ffee')],
    'a process': lambda p: [with_label(p, 'tgid', '4711')],
    'a thread': lambda p: [with_label(p, 'tid', '4711')],
    'the name of a thread': lambda p: [with_label(p, 'comm', 'c0ffee')],
    'the name of a process': lambda p: [with_label(p, 'process', 'c0ffee')],
    'a service': lambda p: [with_label(p, 'service.name', 'c0ffee')],
    'a function': lambda p: [with_line(p, function='c0ffee')],
    'a file': lambda p: [with_line(p, file='c0ffee')],
    'a line': lambda p: [with_line(p, line=4711)],
    'a frame less': lambda p: [p._replace(stack=p.stack[1:])],
    'the order of frames': lambda p: [p._replace(stack=p.stack[::-1])],
    'a window': lambda p: [p._replace(begin=p.begin + 20 * SECOND, end=p.end and p.end + 20 * SECOND)],
}
OF_OTLP = {
    'an address': lambda p: [with_stack(p, lambda l: l._replace(address=l.address + 1))],
    'a binary': lambda p: [with_stack(p, lambda l: l._replace(mapping='c0ffee'))],
    'a build id': lambda p: [with_stack(p, lambda l: l._replace(build_id='c0ffee'))],
    'a system name': lambda p: [with_line(p, system='c0ffee')],
}


def prove(pushed, again, changes, bad):
    """again(pushed, bad) compares. The row that is changed has a stack that does not read the same from both ends."""
    at = next(i for i, p in enumerate(pushed) if p.event != 'lost' and p.stack[::-1] != p.stack)
    for what, change in changes.items():
        seen = Differences(is_silent=True)
        again(pushed[:at] + change(pushed[at]) + pushed[at + 1:], seen)
        if not seen.number:
            bad.fail(f'{what} was changed, which is not seen')
    lost = next((i for i, p in enumerate(pushed) if p.event == 'lost'), None)
    if lost is not None:
        seen = Differences(is_silent=True)
        again(pushed[:lost] + pushed[lost + 1:], seen)
        if not seen.number:
            bad.fail('a loss was taken out, which is not seen')


def shift(pushed, trace, window):
    """
    By how much times were moved. The first window begins with the recording, and only later ones at whole windows, so either the
    first beginning tells it or the last end; None: neither does.
    """
    begin = min(p.begin for p in pushed)
    if begin % (window * SECOND):
        return begin - trace.info['begin_real_ns']
    return max(p.end for p in pushed) - trace.end_ns() if pushed[0].end else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument('how', choices=('otlp', 'pyroscope'))
    p.add_argument('where')
    p.add_argument('trace')
    p.add_argument('--probee', default=os.environ.get('PROBEE', '.out/probee'))
    p.add_argument('--rebased', action='store_true')
    p.add_argument('--service')
    p.add_argument('--tenant')
    p.add_argument('--label', action='append', default=[])
    p.add_argument('--quick', action='store_true', help='without proving that differences would be seen')
    p.add_argument('--window', type=int, default=10, help='seconds')
    options = p.parse_args()
    bad = Differences()
    trace = truth.Trace(options.probee, options.trace)
    names = push_names.Names(trace.units)
    if options.how == 'pyroscope':
        changes, whole = CHANGES, (lines_only, lines_only)
    else:
        changes, whole = {**CHANGES, **OF_OTLP}, (with_system_names, as_pushed)


    def again(pushed, bad):
        compare(pushed, trace, names, options, bad, whole)

    if options.how == 'otlp':
        pushed = from_collector(options.where, names, bad)
    else:
        times = [time.time_ns()] if options.rebased else [r.time for event in trace.units for r in trace.rows(event)]
        span = min(times) - 600 * SECOND, max(times) + 60 * SECOND
        pushed = settled(lambda: from_pyroscope(options.where, options.tenant, names, span, bad), again)
    if not pushed:
        bad.fail('nothing was received')
        return 1

    again(pushed, bad)
    if not bad.number and not options.quick:
        prove(pushed, again, changes, bad)
    return bad.number != 0


if __name__ == '__main__':
    sys.exit(main())
