#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""decode.py [--stats] [--check] [--collapse] [--rows] [--raw] FILE...: takes a .pbz trace apart without probee.

  --stats      numbers, one a line: records, samples, losses, walks, ends of user stacks
  --check      what the trace's writer did against formats/trace/TRACE.md; exit 1 if there is anything
  --collapse   as `probee report FILE --collapse`
  --rows       a line per sample, tabs between: nanoseconds (CLOCK_MONOTONIC), tid, tgid, comm, state, end,
               kernel stack, user stack (both innermost first, frames joined by ';'), then what it waits for:
               nanoseconds since it ran (- unknown), system call (- none), what it waits on, owner's tid
  --into DIR   --stats and --collapse of each FILE go to DIR/FILE.stats and DIR/FILE.folded
  --raw        FILE (- is stdin) is what `zstd -dc` makes of a trace

Exit 1 when a FILE holds no segment that can be read.
"""
import argparse
import collections
import os
import sys

import pbz

ENDS = ('none root root-guess truncated no-process no-mapping jit no-table no-fde bad-rule read-ra read-fp ra-zero '
        'sp-back busy on_cpu torn compat32 kthread no-mm bug fp-end exec not-read').split()
STATES = ('UNKNOWN RUNNING RUNNABLE SLEEP DISK DISK_NOLOAD KILLABLE STOPPED TRACED IDLE ZOMBIE DEAD PARKED WAKING NEW '
          'RTLOCK FROZEN').split()
MISSING = b'[missing]'
KERNEL, JIT, BPF = 1, 2, 3
UNSAFE = ((0, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x200B, 0x200F), (0x2028, 0x202E),
          (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F))


def name_of(table, i):
    return table[i] if i < len(table) else '?'


def escape(name):
    """A name as folded text shows it."""
    out = bytearray()
    for ch in name.decode('utf-8', 'surrogateescape'):
        code = ord(ch)
        octets = ch.encode('utf-8', 'surrogateescape')
        unsafe = 0xDC80 <= code <= 0xDCFF or code & 0xFFFE == 0xFFFE or any(a <= code <= b for a, b in UNSAFE)
        out += b''.join(b'\\x%02x' % b for b in octets) if unsafe else b':' if ch == ';' else octets
    return bytes(out)


class Names:
    """How the things of a segment are called in a report: what is missing but has a name keeps it."""

    def __init__(self, segment, lines=False):
        self.seg, self.lines, self.frames, self.stacks = segment, lines, {}, {}

    def string(self, i):
        s = self.seg.string.get(i)
        return b'' if not i else MISSING if s is None else s

    def comm(self, thread):
        t = self.seg.thread.get(thread)
        return escape((self.string(t['comm']) if t else MISSING) or b'[no name]')

    def name(self, thread):
        t = self.seg.thread.get(thread)
        return escape((self.string(t['name'] or t['comm']) if t else MISSING) or b'[no name]')

    def ids(self, thread):
        t = self.seg.thread.get(thread)
        p = self.seg.process.get(t['process']) if t else None
        return t['tid'] if t else 0, p['tgid'] if p else 0

    def file(self, binary):
        b = self.seg.binary.get(binary)
        path = self.string(b['path']) if b and b['kind'] != 1 else b''
        path = path[path.rfind(b'/') + 1:] or path
        if len(path) > 2 and path[:1] + path[-1:] == b'[]':
            path = path[1:-1]
        return path[:288] or (b'vmlinux' if b and b['kind'] == 1 else b'')

    def address(self, i):
        """A frame without a name: file and start of its function, or what stands for all code that is in no file."""
        frame, symbol = self.seg.frame.get(i), self.seg.symbols.get(i)
        if not frame:
            return MISSING
        file = self.file(frame['binary'])
        if not file:
            known = self.seg.binary.get(frame['binary'])
            by_kind = {KERNEL: b'[kernel]', BPF: b'[bpf]', JIT: b'[jit]'}
            return by_kind.get(frame['kind'], b'[anon]' if known else b'[unknown]')
        if frame['flags'] & 16:         # section 4.9: an address would mean nothing
            return b'[%s%s]' % (file, b': gone' if symbol and symbol[0] == 5 else b'')
        offset = symbol[1] if symbol and not symbol[2] and symbol[1] <= frame['addr'] else 0
        return b'[%s+0x%x]' % (file, frame['addr'] - offset)

    def function(self, frame, func, file, line):
        f = self.seg.func.get(func)
        name = (self.string(f['name']) or self.address(frame)) if f else MISSING
        if not self.lines or not line or f and not self.string(f['name']):
            return name
        file = b'' if not file or f and file == f['file'] else self.string(file)
        return b':'.join([name] + [file[file.rfind(b'/') + 1:] or file] * bool(file) + [b'%d' % line])

    def frame(self, i):
        """The functions of a frame, outermost first."""
        if i not in self.frames:
            f, symbol = self.seg.frame.get(i), self.seg.symbols.get(i)
            names = [self.function(i, *line[:3]) for line in reversed(symbol[2])] if symbol else []
            is_kernel = f and f['kind'] in (KERNEL, BPF)
            suffixes = [b'_[k]' if is_kernel else b'_[i]' if k else b'' for k in range(max(len(names), 1))]
            self.frames[i] = [escape(n) + s for n, s in zip(names or [self.address(i)], suffixes)]
        return self.frames[i]

    def is_loop(self, node):
        """Whether it is the loop of the interpreter that runs the function in its parent, or leads to one (section 4.9)."""
        frame, up = self.seg.frame.get(node[1]), self.seg.node.get(node[0])
        caller = self.seg.frame.get(up[1]) if up else None
        if not frame or frame['flags'] & 128 or not caller:
            return bool(frame and frame['flags'] & 128)
        if frame['kind'] == 0 and caller['flags'] & 16:
            return not self.is_java(caller)
        return caller['kind'] == 0 and frame['flags'] & 96 == 32 and self.is_java(frame)

    def is_java(self, frame):
        binary = self.seg.binary.get(frame['binary']) if frame['flags'] & 16 else None
        return bool(binary and self.string(binary['path']).startswith(b'[java '))

    def stack(self, node):
        """The functions of a stack, outermost first."""
        if node not in self.stacks:
            frames, at = [], node
            while at:
                n = self.seg.node.get(at)
                while n and self.is_loop(n):
                    at = n[0]
                    n = self.seg.node.get(at)
                frames.append(self.frame(n[1]) if n else [MISSING])
                at = n[0] if n else 0
            self.stacks[node] = [name for names in reversed(frames) for name in names]
        return self.stacks[node]


def note(end, has_frames):
    """What a report shows in place of the user frames that are not there."""
    name = name_of(ENDS, end)
    if name in ('none', 'kthread', 'fp-end', 'root', 'root-guess'):
        return []
    if not has_frames or name in ('truncated', 'torn', 'on_cpu'):
        return [f'[{name}]'.encode()]
    return [f'[truncated: {name}]'.encode()]


def event_of(names, s):
    """(name, unit) of what made a sample, its kind, and its weight. Events of two recordings are one when both are equal."""
    e = names.seg.event.get(s.event)
    if e is None:
        return (b'[unknown snapshot]' if s.walk else b'[unknown event]', b'samples'), 6 if s.walk else None, 0
    return (names.string(e['name']), names.string(e['unit'])), e['kind'], s.weight or e['period']


def shown(segments, lines=False):
    """The samples that a report shows if nobody asks for others: of the first event that measures CPU time (kinds 0 and 1),
    else of the first one that has samples. (names, sample, weight) each, and whether weights or samples are counted."""
    events, kinds = {}, {}
    for segment in segments:
        names = Names(segment, lines)
        for s in segment.samples:
            event, kind, weight = event_of(names, s)
            kinds.setdefault(event, kind)
            events.setdefault(event, []).append((names, s, weight))
    chosen = next((e for e in events if kinds[e] in (0, 1)), next(iter(events), None))
    samples = events.get(chosen, [])
    by_weight = chosen and chosen[1] not in (b'ns', b'samples') and all(weight for _, _, weight in samples)
    return samples, by_weight


def collapse(segments, lines=False):
    total, rows = collections.Counter(), collections.Counter()
    samples, by_weight = shown(segments, lines)
    for names, s, weight in samples:
        rows[names, s.thread, s.end, s.ustack, s.kstack] += weight if by_weight else 1
    for (names, thread, end, ustack, kstack), n in rows.items():
        frames = [names.comm(thread)] + note(end, ustack) + names.stack(ustack) + names.stack(kstack)
        total[b';'.join(frames)] += n
    return sorted(b'%s %d' % line for line in total.items())


def rows(segments):
    last = None
    found = []
    for names, s, _ in shown(segments)[0]:
        if names is not last:
            found.append((names, []))
            last = names
        found[-1][1].append(s)
    for names, samples in found:
        for s in sorted(samples, key=lambda s: s.time):
            stacks = [b';'.join(reversed(names.stack(n))) for n in (s.kstack, s.ustack)]
            what = [str(v).encode() for v in (s.time, *names.ids(s.thread))]
            words = [name_of(STATES, s.state).encode(), name_of(ENDS, s.end).encode()]
            waits = [s.time - s.ran if s.ran else '-', s.syscall - 1 if s.syscall else '-', f'{s.wait:#x}', s.owner]
            yield b'\t'.join(what + [names.name(s.thread)] + words + stacks + [str(w).encode() for w in waits])


def stats(file):
    segments, sums, records, ends = file.segments, collections.Counter(), collections.Counter(), collections.Counter()
    for s in segments:
        sums.update({'chunks': len(s.seqs), 'octets_unpacked': s.raw, 'damaged': s.damaged(), 'skipped': s.skipped,
                     'samples': len(s.samples), 'lost': sum(x[4] for x in s.lost), 'walks': len(s.walks),
                     'refused': int(bool(s.refused)), 'without_end': int(not s.end), 'processes': len(s.process.items),
                     'threads': len(s.thread.items), 'binaries': len(s.binary.items),
                     'frames': len(s.frame.items), 'nodes': len(s.node.items)})
        records.update(s.records)
        ends.update(name_of(ENDS, x.end) for x in s.samples)
    yield f'segments {len(segments)}'
    for key, value in sums.items():
        yield f'{key} {value}'
    yield f'octets_skipped {file.octets_skipped}'
    yield f'truncated {int(file.truncated)}'
    for name in pbz.NAMES.values():
        yield f'record {name} {records[name]}'
    for name in ENDS + ['?']:
        if ends[name]:
            yield f'end {name} {ends[name]}'


def put(lines, out=sys.stdout.buffer):
    for line in lines:
        out.write((line if isinstance(line, bytes) else line.encode()) + b'\n')


def put_into(directory, path, file):
    for suffix, lines in (('.stats', stats(file)), ('.folded', collapse(file.segments)),
                          ('.lines', collapse(file.segments, True))):
        with open(os.path.join(directory, os.path.basename(path) + suffix), 'wb') as out:
            put(lines, out)


def read(path, raw):
    if not raw:
        return pbz.read_file(path)
    if path == '-':
        return pbz.read_raw(sys.stdin.buffer.read())
    with open(path, 'rb') as f:
        return pbz.read_raw(f.read())


def show(args, path):
    """True when all is well."""
    file = read(path, args.raw)
    remarks = []
    for i, s in enumerate(file.segments):
        if not (s.refused or s.missing):
            s.check_whole()
        remarks += [f'segment {i}: {r}' for r in s.remarks]
        if s.refused and not args.into:
            print(f'segment {i} needs a newer version: {s.refused}', file=sys.stderr)
    if args.stats:
        put(stats(file))
    if args.collapse:
        put(collapse(file.segments))
    if args.rows:
        put(rows(file.segments))
    if args.check:
        put(remarks)
    if args.into:
        put_into(args.into, path, file)
    readable = any(not s.refused for s in file.segments)
    return readable and not (args.check and remarks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ('stats', 'check', 'collapse', 'rows', 'raw'):
        parser.add_argument('--' + option, action='store_true')
    parser.add_argument('--into')
    parser.add_argument('files', nargs='+')
    args = parser.parse_args()
    return 0 if all([show(args, path) for path in args.files]) else 1


if __name__ == '__main__':
    sys.exit(main())
