# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and addresses of the code that a process has mapped, by readelf and nm: Symbols(pid)."""
import bisect
import os
import re
import subprocess
import tempfile


class Symbols:
    """Addresses of names, of every ELF file a process has mapped; the kernel's own, too."""
    tables = {}
    sorted_tables = {}
    vdso = None                     # a copy of it: the same for all processes

    def __init__(self, pid):
        self.biases = set()         # a file may be mapped twice (V8's builtins)
        self.files, self.from_offset, self.code, self.anonymous, self.places = {}, {}, [], [], []
        with open(f'/proc/{pid}/maps') as f:
            for line in f:
                field = line.split(maxsplit=5)
                start, end = (int(x, 16) for x in field[0].split('-'))
                if 'x' not in field[1]:
                    continue
                self.code.append((start, end))
                if len(field) < 6:
                    self.anonymous.append((start, end))
                if field[5:] == ['[vdso]\n']:
                    path = self.copy_vdso(pid, start, end)
                    self.biases.add((path, start))
                    self.files[path] = start
                    self.places.append((start, end, path, start))
                if len(field) < 6 or not field[5].startswith('/'):
                    continue
                pgoff, path = int(field[2], 16), field[5].strip()
                if path not in self.files and os.path.exists(path):
                    self.files[path] = start - pgoff - self.slide(path, pgoff)
                if path in self.files:
                    self.biases.add((path, start - pgoff - self.slide(path, pgoff)))
                    self.places.append((start, end, path, self.files[path]))
                    self.from_offset.setdefault(path, start - pgoff)

    @classmethod
    def copy_vdso(cls, pid, start, end):
        if not cls.vdso:
            with open(f'/proc/{pid}/mem', 'rb') as f:
                f.seek(start)
                image = f.read(end - start)
            cls.vdso = tempfile.NamedTemporaryFile(prefix='probee-vdso.')
            cls.vdso.write(image)
            cls.vdso.flush()
        return cls.vdso.name

    @staticmethod
    def run(*argv):
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              errors='replace').stdout

    def slide(self, path, pgoff):
        """vaddr minus offset of the executable segment in which pgoff lies."""
        for line in self.run('readelf', '-lW', path).splitlines():
            f = line.split()
            if f and f[0] == 'LOAD' and 'E' in f[6:-1]:
                offset, vaddr, size = int(f[1], 16), int(f[2], 16), int(f[4], 16)
                if (offset & ~0xfff) <= pgoff < offset + size:
                    return vaddr - offset
        return 0

    def table(self, path):
        if path not in self.tables:
            found = []
            debug = re.search(r'Build ID: (\w+)', self.run('readelf', '-n', path))
            paths = [path]
            if debug:
                debug = debug.group(1)
                paths.append(f'/usr/lib/debug/.build-id/{debug[:2]}/{debug[2:]}.debug')
            for p in paths:
                for dynamic in ([], ['-D']):
                    for line in self.run('nm', '--defined-only', *dynamic, p).splitlines():
                        m = re.match(r'([0-9a-f]+) \w (.*)$', line)
                        if m:
                            found.append((int(m.group(1), 16), m.group(2).split('@')[0]))
            entry = re.search(r'Entry point address: *0x(\w+)', self.run('readelf', '-h', path))
            if entry and int(entry.group(1), 16):       # stripped programs have a _start as well, libraries have none
                found.append((int(entry.group(1), 16), '_start'))
            self.tables[path] = self.by_name(found)
        return self.tables[path]

    @staticmethod
    def by_name(found):
        """Under the name as it is and, as probee prints it, demangled without hashes."""
        readable = subprocess.run(['c++filt', '-i', '-r'], input='\n'.join(n for _, n in found), text=True,
                                  stdout=subprocess.PIPE).stdout.splitlines()
        names = {}
        for (value, raw), name in zip(found, readable):
            for n in (raw, re.sub(r'::h[0-9a-f]{16}$|\[[0-9a-f]{6,16}\]', '', name)):
                names.setdefault(n, set()).add(value)
        return names

    def addresses(self, frame):
        """All addresses a frame of the CSV can mean."""
        m = re.match(r'(.*?)(\+0x([0-9a-f]+)\])?(?:\+0x([0-9a-f]+))?$', frame)
        offset = sum(int(x, 16) for x in m.group(3, 4) if x)
        if m.group(1) in ('[jit]', '[unknown]', '[anon]'):
            return {offset}
        if not offset and '+0x' not in frame:
            return {int(frame, 16)} if re.fullmatch(r'0x[0-9a-f]+', frame) else set()
        name = m.group(1)
        out = set()
        for path, bias in self.biases:
            if name.lstrip('[') in (path, os.path.basename(path)):
                out.add(bias + offset)
            for value in self.table(path).get(name, ()):
                out.add(bias + value + offset)
        return out

    def starts(self, name):
        """The addresses of the process at which a symbol of this name stands."""
        return {bias + value for path, bias in self.biases for value in self.table(path).get(name, ())}

    def function_at(self, addr):
        """(file, name of the function) of an address of the process; the name is '' where none is known."""
        for start, end, path, bias in self.places:
            if start <= addr < end:
                starts, names = self.ordered(path)
                i = bisect.bisect_right(starts, addr - bias) - 1
                return (path, names[i].removesuffix('.cold') if i >= 0 else '')
        return None

    def functions(self, frame):
        """All functions, as function_at() calls them, that a frame "name+0xoffset" of a report can be in."""
        name, _, offset = frame.partition('+0x')
        if frame.startswith(('[', '0x')) or not offset:
            return {self.function_at(a - 1) for a in self.addresses(frame)} - {None}
        out = set()
        for path, bias in self.files.items():
            starts, names = self.ordered(path)
            for value in self.table(path).get(name, ()):
                i = bisect.bisect_left(starts, value)
                if i + 1 == len(starts) or value + int(offset, 16) <= starts[i + 1]:
                    out.add((path, names[i].removesuffix('.cold')))
        return out

    def ordered(self, path):
        """The symbols of a file by address; of several names for one address always the same."""
        if path not in self.sorted_tables:
            by_value = {}
            for name, values in self.table(path).items():
                for value in values:
                    by_value[value] = min(by_value.get(value, name), name, key=lambda n: (n.startswith('__GI_'), n))
            starts = sorted(by_value)
            self.sorted_tables[path] = (starts, [by_value[v] for v in starts])
        return self.sorted_tables[path]
