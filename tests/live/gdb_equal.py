#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb_equal.py [--rounds N] [--threads N] [-v] [PROGRAM...]: is what probee shows of a stopped thread what gdb shows?

Starts well-known programs, stops them (SIGSTOP) at some moment, takes one snapshot, then asks gdb for all
its frames, and compares address by address. gdb's inline and tail-call frames are left out: they are no
frames of the machine. Threads in which gdb itself does not get to an outermost frame (JIT code) are counted
but not judged. probee prints name+0xoff; the name's address is looked up in the ELF files with nm, so equal
addresses prove the name as well. A frame for which gdb has a name must have one of ours, not [file+0xoff], and be the same one
or another of the symbols at its address. Exits 1 on a difference, 77 without rights or without gdb.

PROBEE and WORKLOADS as in lib.sh.
"""
import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from elf_names import Symbols
from programs import PROGRAMS, family, kill_family

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROBEE = os.path.abspath(os.environ.get('PROBEE', ROOT + '/.out/probee'))
OUTERMOST = {'_start', '__clone3', 'clone3', '__clone', 'clone'}
# Where Go's stacks end, which gdb does not know; and where they change, which .debug_frame cannot say.
GO_OUTERMOST = re.compile(r'runtime\.(goexit|mstart)(\.abi0)?$')
GO_SWITCHES = re.compile(r'(gogo|time\.now|runtime\.(mcall|morestack|systemstack|asmcgocall|cgocallback|nanotime1))(\.abi0)?$')

EH_RETURN = re.compile(r'_Unwind_(RaiseException|ForcedUnwind|Resume|Resume_or_Rethrow)\+')


def holds(ranges, addr):
    return any(start <= addr < end for start, end in ranges)


def believable(symbols, frames):
    """gdb's frames without those that it can only have made up."""
    for i, (_, pc, name) in enumerate(frames):
        if not holds(symbols.code, pc):
            return frames[:i]
        if holds(symbols.anonymous, pc) or GO_OUTERMOST.match(name) or GO_SWITCHES.match(name):
            return frames[:i + 1]
    return frames


def is_whole(frames):
    """A stripped program's _start has no name, but what it calls has."""
    names = [name for _, _, name in frames]
    if any(GO_SWITCHES.match(n) for n in names):
        return False
    return bool(names) and (names[-1] in OUTERMOST or GO_OUTERMOST.match(names[-1]) or
                            len(names) > 1 and names[-2].startswith('__libc_start_main'))


def gdb_threads(pid):
    """{tid: [(type, pc, name)]}"""
    out = subprocess.run(['gdb', '-nx', '-p', str(pid), '-batch', '-ex', 'set debuginfod enabled off',
                          '-x', HERE + '/gdb_frames.py'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, timeout=120).stdout
    threads, frames = {}, None
    for line in out.splitlines():
        f = line.split(maxsplit=3)
        if f and f[0] == 'T':
            frames = []
            threads[int(f[1])] = frames
        elif f and f[0] == 'F' and frames is not None and f[1] not in ('inline', 'tailcall'):
            frames.append((f[1], int(f[2], 16), f[3]))
    return threads


def probee_threads(pid, tmp):
    trace = tmp + '/gdb.pbz'
    r = subprocess.run([PROBEE, 'snapshot', '-q', '-p', str(pid), '-i', '1', '-o', trace], stderr=subprocess.PIPE)
    if r.returncode == 77:
        print(r.stderr.decode(errors='replace').strip())
        sys.exit(77)
    csv = subprocess.run([PROBEE, 'report', trace, '--csv', '--native-only'], stdout=subprocess.PIPE, check=True, text=True,
                         stderr=subprocess.DEVNULL, errors='replace').stdout
    threads = {}
    for line in csv.splitlines()[1:]:
        f = line.split('|')
        if int(f[2]) == pid:
            threads[int(f[1])] = [x for x in f[5].split(';')
                                  if not x.endswith(('_[i]', ' (inlined)')) and not x.startswith('[truncated')]
    return threads


def lands(symbols, ours, gdbs, i, rooted):
    """Whether our frame behind libgcc's is where libgcc is about to go on, and i is the first that differs. libgcc has put the
    registers of that frame in the places of its own saved ones already (uw_install_context_1), and its return address is used
    no more. gdb still shows the frames in between, or loses its way; of a function that calls itself the first may look
    alike."""
    behind = next((n + 1 for n in range(i) if EH_RETURN.match(ours[n])), None)
    if behind is None:
        return False
    if not rooted:
        return behind == i
    at = len(gdbs) - (len(ours) - behind)
    name = ours[behind].rpartition('+')[0]
    return at > behind and gdbs[at][2] in (name, name.partition('(')[0]) and all(    # gdb's has no parameters
        symbols.addresses(frame) & {pc, pc - 1} for frame, (_, pc, _) in zip(ours[behind + 1:], gdbs[at + 1:]))


def difference(symbols, ours, gdbs, rooted):
    """None, or the first frame in which they differ."""
    for i, (kind, pc, name) in enumerate(gdbs):
        if i >= len(ours):
            return f'frame {i}: gdb has {name} {pc:x}, we have no more'
        plt = re.fullmatch(r'(.*@plt)\+0x[0-9a-f]', ours[i])
        if plt and plt.group(1) == name:        # made up from relocations by both: nm does not know it
            continue
        allowed = {pc} if i == 0 else {pc, pc - 1}
        if not symbols.addresses(ours[i]) & allowed:
            if lands(symbols, ours, gdbs, i, rooted):
                return None
            return f'frame {i} of {len(gdbs)}: gdb {name} {pc:x}, we {ours[i]}'
    if rooted and len(ours) > len(gdbs):
        return f'after gdb\'s last frame we have {ours[len(gdbs)]}'
    return None


def bare(name):
    """Without offset, parameters, template arguments and what marks a part of a function, which gdb writes in other ways."""
    name = re.sub(r'\+0x[0-9a-f]+$', '', name).removesuffix('@plt')
    name = re.sub(r' \[clone .*\]$|@@?[\w.]+$', '', name.replace('(anonymous namespace)', '{anonymous}'))
    name = re.sub(r'\{closure#\d+\}', '{{closure}}', name)
    before = None
    while before != name:
        before, name = name, re.sub(r'(::)?<[^<>]*>', '', name)
    name = name.partition('(')[0]
    return re.sub(r'\.(cold|part|constprop|isra|lto_priv)\b.*|\.abi0$', '', name).rpartition(' ')[2]


def name_kind(symbols, our, pc, name):
    """How our name of a frame and gdb's compare."""
    if name == '??':
        return 'gdb has none'
    if our.startswith(('[', '0x')):
        return 'only gdb'
    if bare(our) == bare(name):
        return 'same'
    starts = symbols.starts(our.rpartition('+0x')[0])
    return 'alias' if starts & symbols.starts(name) else 'different'


def compare_names(symbols, ours, gdbs, count, thread):
    for our, (kind, pc, name) in zip(ours, gdbs):
        if not symbols.addresses(our) & {pc, pc - 1}:       # lands(), or a stub that nm does not know
            continue
        found = 'same' if kind == 'signal' else name_kind(symbols, our, pc, name)
        count.names[found] += 1
        if found in ('only gdb', 'different'):
            count.name_differences.append(f'{thread}: {found}: gdb {name} {pc:x}, we {our}')


def stop(pid):
    """False: a thread of it cannot be stopped (it waits for a vfork), so gdb would hang."""
    os.kill(pid, signal.SIGSTOP)
    for _ in range(200):
        states = []
        for tid in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{tid}/stat') as f:
                states.append(f.read().rpartition(')')[2].split()[0])
        if set(states) <= {'T', 'Z'}:
            return True
        time.sleep(0.01)
    return False


class Count:
    """judged: gdb reached an outermost frame. Others are compared as far as gdb got: part, part_equal."""
    KEYS = ('threads', 'judged', 'equal', 'part', 'part_equal', 'frames')

    def __init__(self):
        for k in self.KEYS:
            setattr(self, k, 0)
        self.differences, self.name_differences = [], []
        self.names = collections.Counter()

    def add(self, other):
        for k in self.KEYS:
            setattr(self, k, getattr(self, k) + getattr(other, k))
        self.differences += other.differences
        self.name_differences += other.name_differences
        self.names += other.names


def compare(name, pid, tmp, count):
    try:
        if not stop(pid):
            return
        ours = probee_threads(pid, tmp)
        theirs = gdb_threads(pid)
        symbols = Symbols(pid)
        os.kill(pid, signal.SIGCONT)
    except (FileNotFoundError, ProcessLookupError):     # it was not there for long
        return
    for tid, frames in theirs.items():
        count.threads += 1
        frames = believable(symbols, frames)
        rooted = is_whole(frames)
        diff = difference(symbols, ours.get(tid, []), frames, rooted)
        if not rooted:
            count.part += 1
            count.part_equal += diff is None
        else:
            count.judged += 1
            count.frames += len(frames)
            count.equal += diff is None
        if not diff:
            compare_names(symbols, ours.get(tid, []), frames, count, f'{name}: thread {tid}')
        if diff and (rooted or VERBOSE):
            count.differences.append(f'{name}: thread {tid}{"" if rooted else " (gdb did not get to its root)"}: {diff}')
            if VERBOSE:
                count.differences += [f'    gdb {k} {pc:x} {n}' for k, pc, n in frames[:40]]
                count.differences += [f'    we  {n}' for n in ours.get(tid, [])[:40]]


def run(name, rounds, count):
    """None, or why it was not judged."""
    needs, make, warm_s = PROGRAMS[name]
    if needs and not shutil.which(needs):
        return f'{needs} is not installed'
    tmp = tempfile.mkdtemp(prefix='probee-gdb.', dir='/tmp')
    os.chmod(tmp, 0o755)
    argv = make(tmp, WORKLOADS)
    if not argv:
        shutil.rmtree(tmp, ignore_errors=True)
        return 'its workload is not built'
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                             cwd='/')
    try:
        time.sleep(warm_s)
        for _ in range(rounds):
            for pid in family(child.pid):
                compare(name, pid, tmp, count)
            time.sleep(random.random() / 10)
    finally:
        kill_family(child)
        shutil.rmtree(tmp, ignore_errors=True)
    return None if count.threads else 'gdb saw no thread of it'


def judge(name, rounds):
    count = Count()
    return name, run(name, rounds, count), count


def report(name, c):
    print(f'{name:18} {c.threads:4} threads, {c.judged:4} judged, {c.equal:4} equal,'
          f' {c.judged - c.equal:3} different, {c.frames:6} frames'
          + (f'; {c.part} that gdb cannot unwind to a root, {c.part_equal} equal so far' if c.part else ''), flush=True)


def is_too_few(total, programs):
    return total.judged < 10 or len(programs) < 4


def main():
    global VERBOSE
    p = argparse.ArgumentParser()
    p.add_argument('--rounds', type=int, default=1, help='how often each program is stopped, at random moments')
    p.add_argument('--threads', type=int, default=0, help='more rounds until so many threads were judged')
    p.add_argument('--share', type=int, default=1, help='one program in so many, others each day')
    p.add_argument('-v', action='store_true', help='whole stacks of differences; also where gdb does not get to the root')
    p.add_argument('program', nargs='*')
    args = p.parse_args()
    VERBOSE = args.v
    if os.getuid() or not shutil.which('gdb') or not os.access(PROBEE, os.X_OK):
        print('needs root, gdb and', PROBEE)
        sys.exit(77)
    total, programs = Count(), set()
    names = [n for n in PROGRAMS if not args.program or n.split()[0] in args.program or n in args.program]
    rest = []
    if not args.program:
        every, names = names, names[int(time.time() // 86400) % args.share::args.share]
        rest = [n for n in every if n not in names]
    todo = names
    pool = ThreadPoolExecutor(os.cpu_count())     # what is compared has been stopped
    while True:
        for name, why, count in pool.map(lambda name: judge(name, args.rounds), todo):
            if why:
                print(f'{name:18} SKIP: {why}')
                continue
            report(name, count)
            total.add(count)
            if count.judged:
                programs.add(name)
        # Of those that are chosen today some may not be installed here: others take their place.
        if rest and is_too_few(total, programs):
            todo = [rest.pop(0)]
            names = names + todo
            continue
        todo = names
        if total.judged >= args.threads or not total.judged:
            break
    for line in total.differences[:40 if not VERBOSE else None]:
        print(line)
    for line in total.name_differences[:40 if not VERBOSE else None]:
        print(line)
    print('names of frames: ' + ', '.join(f'{n} {kind}' for kind, n in total.names.most_common()))
    report(f'{len(programs)} programs', total)
    # Where gdb sees only the first thread of each process (no libthread_db for it) fewer remain to be judged.
    if not args.program and is_too_few(total, programs):
        print('gdb_equal: too few threads or programs to mean anything')
        sys.exit(1)
    sys.exit(total.equal != total.judged or bool(total.names['only gdb'] or total.names['different']))


VERBOSE = False
WORKLOADS = os.environ.get('WORKLOADS', ROOT + '/.out/workloads')
if not os.getuid():
    WORKLOADS = subprocess.run([ROOT + '/tests/workloads/build.sh', WORKLOADS],
                               stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
main()
