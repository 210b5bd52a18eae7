# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of .pbz traces, written from formats/trace/TRACE.md alone; section numbers are of that page.

  for segment in read_file(path).segments: ...      with SIGNPOSTs: the way to read a file
  read_raw(octets)                                  what `zstd -dc` makes of one (end of section 3)

Needs the zstd program. Made to be compared with the page, not to be fast.
"""
import bisect
import collections
import os
import struct
import subprocess

IDENT, SIGNPOST, SKIPPABLE, DATA = 0x184D2A50, 0x184D2A51, range(0x184D2A52, 0x184D2A60), 0xFD2FB528
NAME = b'PROBEE-PBZ\0'
MIB = 1 << 20
U32, U64 = (1 << 32) - 1, (1 << 64) - 1


class Refused(Exception):
    """A segment that needs a newer version."""


class Rejected(Exception):
    """A chunk, before its first record."""


class Broken(Exception):
    """The rest of a chunk."""


def crc_table():
    table = []
    for c in range(256):
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
        table.append(c)
    return table


CRC = crc_table()


def crc32c(data):
    c = U32
    for b in data:
        c = CRC[(c ^ b) & 0xFF] ^ c >> 8
    return c ^ U32


assert crc32c(b'123456789') == 0xE3069283


class Cursor:
    """Section 1: the types of fields."""

    def __init__(self, data, base=0):
        self.data, self.at, self.base = data, 0, base

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        if n > self.left():
            raise Broken('payload ends within a field')
        self.at += n
        return self.data[self.at - n:self.at]

    def u8(self):
        return self.take(1)[0]

    def u64(self):
        return int.from_bytes(self.take(8), 'little')

    def uv(self, limit=U64):
        v = 0
        for i in range(10):
            b = self.u8()
            v |= (b & 0x7F) << 7 * i
            if b < 0x80:
                if v > limit:
                    raise Broken(f'{v} is above {limit}')
                return v
        raise Broken('uv of more than 10 octets')

    def uv32(self):
        return self.uv(U32)

    def sv(self):
        v = self.uv()
        return -(v + 1 >> 1) if v & 1 else v >> 1

    def sv32(self):
        v = self.sv()
        if not -1 << 31 <= v < 1 << 31:
            raise Broken('sv32 out of range')
        return v

    def octets(self, limit=U64):
        return bytes(self.take(self.uv(limit)))

    def text(self):
        return self.octets(65536)

    def time(self):
        return self.base + self.sv() & U64


class Kind:
    """Section 6: all ids of one type."""

    def __init__(self, name, limit):
        self.name, self.limit, self.highest, self.items = name, limit, 0, {}

    def define(self, first, values):
        if not values:
            return
        if not self.highest < first <= self.highest + MIB + 1:
            raise Broken(f'{self.name} id {first} after {self.highest}')
        if first + len(values) - 1 > self.limit:
            raise Broken(f'{self.name} id above the limit')
        for i, v in enumerate(values):
            self.items[first + i] = v
        self.highest = first + len(values) - 1

    def get(self, i):
        return self.items.get(i)


KINDS = {'string': 1 << 24, 'binary': 1 << 20, 'process': 1 << 22, 'thread': 1 << 22, 'frame': 1 << 24,
         'node': 1 << 26, 'func': 1 << 24, 'event': 1 << 16}
NAMES = {1: 'META', 3: 'CLOCK', 5: 'STRING', 7: 'BINARY', 9: 'PROCESS', 11: 'THREAD', 34: 'THREADNAME', 12: 'TASKEV', 13: 'MAPPING',
         15: 'FRAME', 17: 'NODE', 19: 'FUNC', 20: 'SYMBOL', 32: 'PLACE', 21: 'EVENT', 23: 'SCAN', 25: 'SAMPLES', 26: 'LOST',
         28: 'NOTE', 29: 'END', 30: 'RAWSTACK', 31: 'REPEAT'}
ORDER = [[1], [3], [5], [7], [9], [11], [34], [21], [13], [12], [15], [17], [19], [20], [32], [25, 31], [30], [26], [23], [28], [29]]
COLUMNS = {1: ('time', 64), 3: ('event', 32), 5: ('thread', 32), 7: ('cpu', 32), 9: ('kstack', 32),
           11: ('ustack', 32), 13: ('weight', 64), 15: ('state', 8), 16: ('end', 8), 18: ('flags', 32),
           20: ('walk', 32), 22: ('ran', 64), 24: ('syscall', 32), 26: ('wait', 64), 28: ('owner', 32),
           30: ('wait_kind', 8), 32: ('holders', 32), 34: ('object', 64), 36: ('variable', 32), 38: ('arg1', 64),
           40: ('arg2', 64), 42: ('arg3', 64), 44: ('arg4', 64), 46: ('arg5', 64), 48: ('arg6', 64), 50: ('file', 32), 52: ('mount', 32)}
REFERENCES = {'event': 'event', 'thread': 'thread', 'kstack': 'node', 'ustack': 'node',
              'variable': 'frame', 'file': 'string', 'mount': 'string'}
Sample = collections.namedtuple('Sample', [name for name, _ in COLUMNS.values()])


class Segment:
    def __init__(self, uuid):
        self.uuid, self.number = uuid, int.from_bytes(uuid[:4], 'little')
        self.seq, self.raw = -1, 0
        self.missing = False            # chunks are known to be missing
        self.last_rows, self.repeated, self.left_out = {}, 0, 0     # of threads; REPEAT: of a chunk; of all
        self.seqs, self.rejected, self.gaps, self.broken = set(), [], 0, 0
        self.refused = ''
        self.records, self.skipped = collections.Counter(), 0
        self.meta, self.clocks, self.symbols = {}, [], {}
        self.mappings, self.taskevs = [], []
        self.stored = []                # samples but for those of REPEATs
        self.samples, self.walks, self.lost, self.notes, self.end = [], [], [], [], None
        self.rawstacks = []
        self.remarks = []               # what a writer should have done otherwise
        for name, limit in KINDS.items():
            setattr(self, name, Kind(name, limit))

    def damaged(self):
        """How many chunks are missing, rejected or broken."""
        return self.gaps + self.broken + sum(seq > self.seq or seq in self.seqs for seq in self.rejected)

    def lose(self):
        """Chunks are missing here."""
        self.missing = True
        self.last_rows = {}

    # --- references and batches

    def ref(self, i, kind):
        highest = getattr(self, kind).highest
        if i <= highest:
            return i
        if self.missing:
            return 0
        raise Broken(f'{kind} {i} is referred to before it is defined (highest {highest})')

    def id(self, c, kind):
        return self.ref(c.uv32(), kind)

    @staticmethod
    def count(c, smallest):
        n = c.uv()
        if n > c.left() // smallest:
            raise Broken(f'batch of {n} in {c.left()} octets')
        return n

    def batch(self, c, kind, smallest, item):
        first = c.uv32()
        n = self.count(c, smallest)
        getattr(self, kind).define(first, [item(c, first + i) for i in range(n)])

    # --- section 4, in its order

    def r1(self, c):
        key, value = c.octets(), c.text()
        if not 1 <= len(key) <= 63 or b'\0' in key:
            raise Broken('bad META key')
        self.meta[key.decode('latin-1')] = value

    def r3(self, c):
        self.clocks.append((c.u64(), c.u64(), c.u64(), c.uv()))

    def r5(self, c):
        self.batch(c, 'string', 1, lambda c, i: c.text())

    def r7(self, c):
        b = {'id': c.uv32(), 'kind': c.u8(), 'path': self.id(c, 'string'), 'build_id': c.octets(64),
             'size': c.uv(), 'mtime': c.sv(), 'dev': c.uv(), 'ino': c.uv(), 'flags': c.uv32()}
        b['segments'] = [(c.uv(), c.uv(), c.uv()) for _ in range(c.uv(4096))]
        self.binary.define(b['id'], [b])

    def r9(self, c):
        p = {'id': c.uv32(), 'tgid': c.uv32(), 'start': c.uv(), 'parent': self.id(c, 'process'),
             'comm': self.id(c, 'string'), 'exe': self.id(c, 'binary'), 'flags': c.uv32(), 'ns_tgid': c.uv32(),
             'uid': c.uv32(), 'cgroup': self.id(c, 'string'), 'cmdline': self.id(c, 'string')}
        self.process.define(p['id'], [p])

    def r11(self, c):
        t = {'id': c.uv32(), 'process': self.id(c, 'process'), 'tid': c.uv32(), 'comm': self.id(c, 'string'),
             'start': c.uv(), 'ns_tid': c.uv32(), 'name': 0}
        self.thread.define(t['id'], [t])

    def r34(self, c):
        stored = c.uv32()
        thread, name = self.thread.get(self.ref(stored, 'thread')), self.id(c, 'string')
        if not stored:
            raise Broken('THREADNAME of thread 0')
        if thread and name:
            thread['name'] = name

    def r12(self, c):
        time, event, process, arg = c.time(), c.u8(), self.id(c, 'process'), c.uv32()
        kind = {0: 'process', 2: 'string'}.get(event)
        self.taskevs.append((time, event, process, self.ref(arg, kind) if kind else arg))

    def r13(self, c):
        self.mappings.append((c.time(), self.id(c, 'process'), c.u8(), c.u8(), c.uv(), c.uv(), c.uv(),
                              self.id(c, 'binary')))

    def r15(self, c):
        self.batch(c, 'frame', 4, lambda c, i: {'kind': c.u8(), 'flags': c.u8(), 'binary': self.id(c, 'binary'),
                                                'addr': c.uv()})

    def r17(self, c):
        depths = {}

        def node(c, i):
            distance, frame = c.uv32(), self.id(c, 'frame')
            if distance >= i:
                raise Broken(f'node {i} with distance {distance}')
            parent = i - distance if distance else 0
            known = self.node.get(parent)
            depths[i] = 1 + (depths.get(parent) or (known[2] if known else 0))
            if depths[i] > 4096:
                raise Broken('stack too deep')
            return parent, frame, depths[i]
        self.batch(c, 'node', 2, node)

    def r19(self, c):
        self.batch(c, 'func', 6, lambda c, i: {
            'name': self.id(c, 'string'), 'sysname': self.id(c, 'string'), 'file': self.id(c, 'string'),
            'start_line': c.uv32(), 'lang': c.u8(), 'flags': c.u8()})

    def r20(self, c):
        symbols = []
        for _ in range(self.count(c, 4)):
            stored = c.uv32()
            frame, status, offset = self.ref(stored, 'frame'), c.u8(), c.uv()
            lines = [(self.id(c, 'func'), 0, c.uv32(), c.uv32()) for _ in range(c.uv(256))]
            if not stored:
                raise Broken('SYMBOL of frame 0')
            symbols.append((frame, (status, offset, lines)))
        for frame, symbol in symbols:
            if frame in self.symbols:
                self.remark(f'two SYMBOLs for frame {frame}')
            elif frame:
                self.symbols[frame] = symbol

    def r32(self, c):
        places = []
        for _ in range(self.count(c, 5)):
            stored = c.uv32()
            places.append((self.ref(stored, 'frame'), c.uv32(), self.id(c, 'string'), c.uv32(), c.uv32()))
            if not stored:
                raise Broken('PLACE of frame 0')
        for frame, nth, file, line, column in places:
            lines = self.symbols.get(frame, (0, 0, []))[2]
            if nth < len(lines) and not lines[nth][2]:
                lines[nth] = (lines[nth][0], file, line, column)

    def r21(self, c):
        e = {'id': c.uv32(), 'name': self.id(c, 'string'), 'kind': c.u8(), 'freq': c.uv(), 'period': c.uv(),
             'unit': self.id(c, 'string')}
        self.event.define(e['id'], [e])

    def r23(self, c):
        self.walks.append({'walk': c.uv32(), 'time': c.time(), **{k: c.uv() for k in (
            'duration', 'interval', 'tasks_seen', 'rows', 'skipped_idle_kthreads', 'filtered', 'read_faults',
            'vanished', 'on_cpu', 'torn')}, **{k: c.uv() if c.left() else 0 for k in ('hung', 'kernel_failed')},
            'ends': self.ends(c)})

    @staticmethod
    def ends(c):
        n, ends = c.uv() if c.left() else 0, collections.Counter()
        if n > c.left() // 2:
            raise Broken(f'{n} ends in {c.left()} octets')
        for _ in range(n):
            end = c.u8()
            ends[end] += c.uv()
        return ends

    def r25(self, c):
        n, n_columns, columns = c.uv(), c.uv(), {}
        if not n:
            return
        if n > min(262144, c.left()):
            raise Broken(f'{n} rows in {c.left()} octets')
        for _ in range(n_columns):
            number, encoding, payload = c.uv(), c.u8(), c.octets()
            if number in COLUMNS:
                if number in columns:
                    raise Broken(f'column {number} twice')
                columns[number] = self.column(number, encoding, payload, n)
            elif number & 1:
                raise Refused(f'column {number}')
            else:
                self.skipped += 1
        if 1 not in columns:
            raise Broken('SAMPLES without times')
        times = columns[1] = [c.base + t & U64 for t in columns[1]]
        if any(a > b for a, b in zip(times, times[1:])):
            raise Broken('times decrease')
        columns[22] = [self.ran(v, c.base) for v in columns.get(22, [])] or [0] * n
        zeros = [0] * n
        rows = list(map(Sample, *(columns.get(number, zeros) for number in COLUMNS)))
        self.last_rows.update((s.thread, s) for s in rows if s.walk and s.thread)
        self.samples += rows
        self.stored += rows

    @staticmethod
    def ran(v, base):
        """0: unknown, else 1 plus the zig-zag of base minus time."""
        ago = -(v >> 1) if v and not v & 1 else v - 1 >> 1
        return base - ago & U64 if v else 0

    def column(self, number, encoding, payload, n):
        name, bits = COLUMNS[number]
        c = Cursor(payload)
        if (encoding == 4) != (number == 1):
            raise Broken(f'column {name} with encoding {encoding}')
        if encoding in (0, 4):
            values = [c.uv() for _ in range(n)]
        elif encoding == 1:
            values = [c.uv()] * n
        elif encoding == 2:
            values = [c.sv() for _ in range(n)]
        elif encoding == 3:
            values = []
            while len(values) < n:
                run, value = c.uv(), c.uv()
                if not 1 <= run <= n - len(values):
                    raise Broken(f'run of {run}')
                values += [value] * run
        else:
            raise Broken(f'encoding {encoding}')
        if c.left():
            raise Broken(f'octets left over in column {name}')
        if encoding in (2, 4):
            total = 0
            for i, v in enumerate(values):
                values[i] = total = total + v & U64
        if max(values) >> bits:
            raise Broken(f'value too large in column {name}')
        kind = REFERENCES.get(name)
        return [self.ref(v, kind) for v in values] if kind else values

    def r26(self, c):
        self.lost.append((c.time(), c.uv(), c.u8(), c.uv32(), c.uv()))

    def r28(self, c):
        self.notes.append((c.u8(), c.time(), c.text()))

    def r29(self, c):
        self.end = {'time': c.time(), 'reason': c.u8(), **{k: c.uv() for k in (
            'samples', 'walks', 'lost', 'unresolved', 'raw_bytes', 'cpu_time')}, 'target_status': c.sv32()}
        self.end['raw_before'] = self.raw

    def r30(self, c):
        self.rawstacks.append({'time': c.time(), 'thread': self.id(c, 'thread'), 'ustack': self.id(c, 'node'),
                               'end': c.u8(), 'regs': c.text(), 'start': c.uv(), 'bytes': c.text()})

    def r31(self, c):
        time, walk, n, behind, runs = c.time(), c.uv32(), c.uv(), 1, []
        if not walk or n > c.left() // 2:
            raise Broken(f'walk {walk}, {n} runs in {c.left()} octets')
        for _ in range(n):
            first, nr = behind + c.uv32(), c.uv32()
            behind = first + nr
            if not nr or behind - 1 > KINDS['thread']:
                raise Broken(f'run of {nr} threads from {first} on')
            runs.append(range(first, behind))
        asked = sum(map(len, runs))
        self.repeated += asked
        if self.repeated > 1 << 23:
            raise Broken(f'{self.repeated} rows of REPEATs')
        if self.missing:                # there may be far more threads in a run than there are
            rows = [s for t, s in sorted(self.last_rows.items()) if any(t in run for run in runs)]
        else:
            rows = [self.last_rows.get(t) for run in runs for t in run]
        if None in rows:
            raise Broken('REPEAT of a thread without a row')
        if any(s.walk >= walk for s in rows):
            self.remark(f'REPEAT of walk {walk} behind rows of later walks, or of the same thread and walk')
        self.left_out += asked - len(rows)
        rows = [s._replace(time=time, walk=walk) for s in rows]
        self.last_rows.update((s.thread, s) for s in rows)
        self.samples += rows

    # --- section 3

    def refuse(self, why):
        """Nothing of a refused segment is used."""
        self.__init__(self.uuid)
        self.refused = why

    def remark(self, text):
        self.remarks.append(f'chunk {self.seq}: {text}')

    def chunk(self, raw, post=None):
        magic, number, seq, length, base = struct.unpack_from('<4sIIIQ', raw)
        if magic != b'PBC1' or number != self.number or length != len(raw) - 24 or post and seq != post['seq']:
            raise Rejected('chunk head')
        if seq <= self.seq:
            raise Rejected(f'seq {seq} after {self.seq}')
        self.gaps += seq - self.seq - 1
        if seq - self.seq > 1:
            self.lose()
        self.seq = seq
        self.seqs.add(seq)
        had, types, self.repeated = len(self.stored), [], 0
        try:
            self.all_records(Cursor(raw[24:], base), types)
            if post:
                self.check_post(post, self.stored[had:], types)
        except Broken as why:
            self.broken += 1
            self.lose()
            self.remark(str(why))
        self.raw += len(raw)

    def all_records(self, c, types):
        while c.left():
            kind = c.uv()
            payload = Cursor(c.octets(), c.base)
            if kind in NAMES:
                if self.end:
                    self.remark(f'{NAMES[kind]} behind END')
                getattr(self, f'r{kind}')(payload)
                self.records[NAMES[kind]] += 1
                types.append(kind)
            elif kind & 1:
                raise Refused(f'record type {kind}')
            else:
                self.skipped += 1

    # --- what a reader need not mind, but a writer has to do

    def check_post(self, post, samples, types):
        times = [s.time for s in samples]
        said = post['first'], post['last'], post['n'], *(bool(post['contents'] & bit) for bit in (1, 2, 4))
        definitions = any(t not in (25, 29) for t in types) or any(s.walk for s in samples)
        found = min(times, default=0), max(times, default=0), len(times), definitions, 25 in types, 29 in types
        if said != found:
            self.remark(f'SIGNPOST says {said}, not {found}')
        places = [i for t in types for i, same in enumerate(ORDER) if t in same]
        if places != sorted(places):
            self.remark('order of records')

    def check_whole(self):
        """Remarks about a segment of which nothing is missing."""
        required = {'tool', 'argv', 'mode', 'kernel.release', 'kernel.version', 'arch', 'page_size', 'cpus.possible',
                    'cpus.online', 'clock', 'boot_id', 'kptr_restrict', 'unwind', 'symbolize'}
        words = {'mode': 'sample snapshot record', 'arch': 'x86_64 aarch64', 'clock': 'monotonic',
                 'unwind': 'auto fp dwarf none', 'symbolize': 'stream late none'}
        if b'host' not in self.meta.get('privacy', b'').split(b','):
            required.add('host')
        self.remarks += [f'no META {key}' for key in sorted(required - self.meta.keys())]
        for key, allowed in words.items():
            value = self.meta.get(key, b'').decode('latin-1')
            if key in self.meta and value not in allowed.split():
                self.remarks.append(f'META {key} is {value}')
        for key in ('page_size', 'kptr_restrict', 'reorder_ns', 'recording.part'):
            if key in self.meta and not self.meta[key].isdigit():
                self.remarks.append(f'META {key} is not decimal: {self.meta[key].decode("latin-1")}')
        for kind in KINDS:
            k = getattr(self, kind)
            if len(k.items) != k.highest:
                self.remarks.append(f'{k.highest - len(k.items)} {kind} ids are left out')
        rows = collections.Counter(s.walk for s in self.samples)
        for w in self.walks:
            if rows[w['walk']] != w['rows']:
                self.remarks.append(f'walk {w["walk"]} has {rows[w["walk"]]} rows, says {w["rows"]}')
        self.check_end()

    def check_end(self):
        if not self.end:
            self.remarks.append('no END')
            return
        found = {'samples': len(self.samples), 'walks': len(self.walks), 'lost': sum(x[4] for x in self.lost)}
        if self.end['raw_bytes']:
            found['raw_bytes'] = self.end['raw_before']
        for key, value in found.items():
            if self.end[key] != value:
                self.remarks.append(f'END says {key} {self.end[key]}, not {value}')


# --- section 2


class File:
    def __init__(self, data):
        self.data, self.segments, self.truncated, self.octets_skipped = data, [], False, 0
        self.found = sorted(self.anchors())

    def segment(self):
        return self.segments[-1]

    def ident(self, at):
        """The uuid of a good IDENT."""
        d = self.data[at:at + 43]
        if len(d) == 43 and d[:19] == struct.pack('<II', IDENT, 35) + NAME and crc32c(d[:39]) == read_u32(d, 39):
            return d[23:39]
        return None

    def signpost(self, at):
        d = self.data[at:at + 52]
        if len(d) < 52 or struct.unpack_from('<II', d) != (SIGNPOST, 44) or crc32c(d[:48]) != read_u32(d, 48):
            return None
        keys = 'contents', 'segment', 'seq', 'data_size', 'raw_size', 'first', 'last', 'n'
        return dict(zip(keys, struct.unpack_from('<B3xIIIIQQI', d, 8)))

    def anchors(self):
        """Where whole IDENTs and SIGNPOSTs with a good crc are: section 8, 1."""
        for magic, good in ((IDENT, self.ident), (SIGNPOST, self.signpost)):
            at = self.data.find(struct.pack('<I', magic))
            while at >= 0:
                if good(at):
                    yield at
                at = self.data.find(struct.pack('<I', magic), at + 1)

    def resync(self, start, behind):
        """Section 8: where to go on."""
        i = bisect.bisect_left(self.found, behind)
        if self.segments:
            self.segment().lose()
        to = self.found[i] if i < len(self.found) else len(self.data)
        self.octets_skipped += to - start
        return to

    def begin(self, uuid):
        self.segments.append(Segment(uuid))

    def read(self):
        at = 0
        while at < len(self.data):
            magic = read_u32(self.data, at)
            uuid, post = self.ident(at), self.signpost(at)
            end = at + 8 + read_u32(self.data, at + 4)
            if uuid:
                self.begin(uuid)
                self.check_ident(at)
                at += 43
            elif post:
                at = self.read_chunk(at, post)
            elif magic in SKIPPABLE and end <= len(self.data):
                at = end
            else:
                at = self.resync(at, at + 1)
                self.truncated = at == len(self.data)
        return self

    def check_ident(self, at):
        major, flags = self.data[at + 19], int.from_bytes(self.data[at + 21:at + 23], 'little')
        if major != 1 or flags & 0xFF00:
            self.segment().refuse(f'version {major}, flags {flags:#x}')

    def read_chunk(self, at, post):
        if not self.segments or self.segment().number != post['segment']:
            self.begin(struct.pack('<I', post['segment']))
            self.segment().remarks.append('IDENT was lost')
        seg, start = self.segment(), at + 52
        data = self.data[start:start + post['data_size']]
        try:
            if not 1 <= post['data_size'] <= 4 * MIB or not 24 <= post['raw_size'] <= 4 * MIB:
                raise Rejected('sizes')
            if len(data) < post['data_size'] and bisect.bisect_left(self.found, start) == len(self.found):
                self.truncated = True
                return self.resync(at, start)
            if not seg.refused:
                seg.chunk(unpack(data, post['raw_size']), post)
        except Rejected as why:
            seg.remarks.append(f'chunk {post["seq"]} rejected: {why}')
            seg.rejected.append(post['seq'])
            to = self.resync(at, start)
            self.truncated = to == len(self.data) > start + post['data_size']
            return to
        except Refused as why:
            seg.refuse(str(why))
        return start + len(data)


def read_u32(data, at):
    return int.from_bytes(data[at:at + 4], 'little')


def unpack(data, raw_size):
    """Section 2.3: the chunk in a data frame."""
    if read_u32(data, 0) != DATA or len(data) < 6:
        raise Rejected('no zstd frame')
    how = data[4]
    single, at = how >> 5 & 1, 5
    at += not single
    if how & 3 or not how & 4:
        raise Rejected('dictionary or no checksum')
    size = (single, 2, 4, 8)[how >> 6]
    if not size or int.from_bytes(data[at:at + size], 'little') + (256 if size == 2 else 0) != raw_size:
        raise Rejected('no Frame_Content_Size, or another')
    at += size
    last = False
    while not last:                     # one frame exactly: by its blocks
        if at + 3 > len(data):
            raise Rejected('zstd frame is cut')
        block = int.from_bytes(data[at:at + 3], 'little')
        last, at = block & 1, at + 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
    if at + 4 != len(data):
        raise Rejected('data_size')
    z = subprocess.run(['zstd', '-dcq', '--long=31'], input=data, stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, env={**os.environ, 'ZSTD_NBTHREADS': '1'}, check=False)
    if z.returncode or len(z.stdout) != raw_size:
        raise Rejected('zstd frame does not decode')
    return z.stdout


def read_file(path):
    with open(path, 'rb') as f:
        data = f.read()
    return File(data).read()


def read_raw(data):
    """Chunks one behind the other; nothing is searched for behind damage."""
    f, at = File(b''), 0
    while at < len(data):
        _, number, seq, length = struct.unpack_from('<4sIII', data, at)
        if not f.segments or f.segment().number != number or not seq:
            f.begin(struct.pack('<I', number))
        try:
            if not f.segment().refused:
                f.segment().chunk(data[at:at + 24 + length])
        except Refused as why:
            f.segment().refuse(str(why))
        at += 24 + length
    return f
