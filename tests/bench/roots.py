# SPDX-License-Identifier: GPL-2.0-or-later
"""
roots.py PROBEE WORKLOADS: of each kind of program, and of a machine that runs them all at once: the share of user stacks
that reach the outermost frame, and of those with guessed frames; sampled and walked. MODES=auto,dwarf,fp for others.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../live')
from programs import PROGRAMS, POSTGRES, family, kill_family  # noqa: E402

PROBEE, WORKLOADS = sys.argv[1:]


def load(name, tmp):
    """Something that makes a server work, or None."""
    if name == 'redis-server':
        return ['redis-benchmark', '-s', tmp + '/redis.sock', '-q', '-n', '100000000', '-t', 'set,get,lpush']
    if name == 'postgres':
        query = "select count(*) from generate_series(1, 1000000000) g where md5(g::text) like 'a%'"
        return ['setpriv', '--reuid=postgres', '--clear-groups', POSTGRES + '/psql', '-h', tmp + '/data', '-c',
                query, 'postgres']
    return None


def recorded(words, trace):
    """(user stacks, whole ones, those with guessed frames, what went wrong) of one run."""
    r = subprocess.run([PROBEE, *words, '-o', trace], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    out = subprocess.run([PROBEE, 'info', trace], stdout=subprocess.PIPE, text=True).stdout
    m = re.search(r'stacks .* of ([\d,]+) user stacks are whole(?: \(<?([\d.]+) % with guessed)?', out)
    if r.returncode or not m:
        return 0, 0, 0, (r.stderr.strip().splitlines() or ['?'])[-1]
    stacks = int(m.group(1).replace(',', ''))
    whole = sum(int(n) for n in re.findall(r'^ +(\d+) +[<\d.]+ %  root(?:-guess)? ', out, re.M))
    return stacks, whole, stacks * float(m.group(2) or 0) / 100, ''


def cell(stacks, whole, guessed):
    return f'{100 * whole / stacks:7.2f} {100 * guessed / stacks:8.2f} {stacks:7}' if stacks else f'{"-":>7} {"-":>8} {0:7}'


def measure(target, trace, seconds):
    """Prints a row; for MODES one each."""
    for mode in MODES:
        cells, why = [], ''
        for words in (['sample', '-F', '499', '-d', str(seconds)], ['snapshot', '-F', '20', '-i', str(20 * seconds)]):
            *numbers, text = recorded(words + ['--unwind', mode, *target], trace)
            cells.append(cell(*numbers))
            why = why or text
        yield mode, cells, why


def row(name, target, trace, seconds):
    for mode, cells, why in measure(target, trace, seconds):
        print(f'{name:18}', *([f'{mode:6}'] if len(MODES) > 1 else []), ' |'.join(cells), why, flush=True)


class Running:
    """A program, and what keeps it busy."""

    def __init__(self, name):
        self.name, self.children = name, []
        needs, make, warm_s = PROGRAMS[name]
        self.tmp = tempfile.mkdtemp(prefix='probee-roots.', dir='/tmp')
        os.chmod(self.tmp, 0o755)
        argv = None if needs and not shutil.which(needs) else make(self.tmp, WORKLOADS)
        if not argv:
            return
        quiet = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
        self.children.append(subprocess.Popen(argv, cwd='/', **quiet))
        time.sleep(warm_s)
        words = load(name, self.tmp)
        if words and shutil.which(words[0]):
            self.children.append(subprocess.Popen(words, cwd='/', **quiet))
            time.sleep(1)

    def pids(self):
        return ','.join(map(str, family(self.children[0].pid)))

    def end(self):
        for child in self.children:
            kill_family(child)
        shutil.rmtree(self.tmp, ignore_errors=True)


def each():
    for name in KINDS:
        running = Running(name)
        try:
            if running.children:
                row(name, ['-p', running.pids()], running.tmp + '/roots.pbz', SECONDS)
            else:
                print(f'{name:18} is not installed')
        finally:
            running.end()


def whole_machine():
    """All of them at once, and whatever else this machine does."""
    all_of_them = []
    try:
        for name in KINDS:
            all_of_them.append(Running(name))
        with tempfile.TemporaryDirectory(prefix='probee-roots.') as tmp:
            row(f'all {sum(bool(r.children) for r in all_of_them)} at once, -a'[:18], ['-a'], tmp + '/roots.pbz', 3 * SECONDS)
    finally:
        for running in all_of_them:
            running.end()


KINDS = ('python3', 'bash', 'redis-server', 'postgres', 'java', 'node', 'perl', 'ruby', 'xz', 'zstd', 'sqlite3', 'openssl sha',
         'gcc', 'git', 'tar', 'gdb', 'vim', 'make', 'systemd-analyze', 'dbus-daemon', 'ssh-agent', 'tmux', 'chromium',
         'shop (C++)', 'throws (C++)', 'crate_rs (Rust)', 'goblin (Go)')
MODES = os.environ.get('MODES', 'auto').split(',')
SECONDS = int(os.environ.get('SECONDS_EACH', '3'))

print(f'{"":18} {"sampled":>24} |{"walked (snapshot)":>24}')
print(f'{"":18} {"whole %":>7} {"guessed %":>9} {"stacks":>6} |{"whole %":>7} {"guessed %":>9} {"stacks":>6}')
each()
whole_machine()
