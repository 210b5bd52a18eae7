# SPDX-License-Identifier: GPL-2.0-or-later
"""first.py PROBEE [NAME...]: how long functions of runtimes have no name, from the first sample of their process on.

Each program spins in its own language for a second. It is recorded in three ways: started by probee (command), while probee
records all (all), and running for a second before probee comes (attach). Prints METRIC<TAB>NAME<TAB>VALUE lines about samples
with a frame that should have a name and has none: how many there are in the first 500 ms from the first sample on, when the last
of these is, how many come later; and samples whose names were gone when they were read. Lines that begin with
# say which nameless frames there were, and when. FRESH=1: nothing is kept of earlier recordings (XDG_CACHE_HOME is needed).
KEEP=FOLDER: traces are kept there. WAYS: some of the three. SECONDS_EACH: instead of 1.
"""
import collections
import datetime
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HZ = '999'
JS = '''function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
function mid(n) { let s = 0; for (let i = 0; i < 20; i++) s += leaf(n); return s; }
const end = Date.now() + SECONDS * 1000; let t = 0;
while (Date.now() < end) t += mid(1000);
'''
PYTHON = '''import time
def leaf(n):
    s = 0
    for i in range(n): s += i % 7
    return s
def mid(n):
    return sum(leaf(n) for i in range(20))
end = time.time() + SECONDS
while time.time() < end: mid(1000)
'''
JAVA = '''public class Spin {
    static long leaf(int n) { long s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
    static long mid(int n) { long s = 0; for (int i = 0; i < 20; i++) s += leaf(n); return s; }
    public static void main(String[] a) {
        long end = System.nanoTime() + (long)(SECONDS * 1e9), t = 0;
        while (System.nanoTime() < end) t += mid(1000);
        if (t == 1) System.out.println(t);
    }
}
'''
RUBY = '''def leaf(n) s = 0; n.times { |i| s += i % 7 }; s end
def mid(n) s = 0; 20.times { s += leaf(n) }; s end
t = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
mid(1000) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < t
'''
PERL = '''use Time::HiRes 'time';
sub leaf { my $s = 0; for my $i (1 .. $_[0]) { $s += $i % 7 } $s }
sub mid { my $s = 0; for (1 .. 20) { $s += leaf($_[0]) } $s }
my $t = time + SECONDS;
mid(1000) while time < $t;
'''
PHP = '''<?php
function leaf($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s += $i % 7; return $s; }
function mid($n) { $s = 0; for ($i = 0; $i < 20; $i++) $s += leaf($n); return $s; }
$t = microtime(true) + SECONDS;
while (microtime(true) < $t) mid(1000);
'''
COMMANDS = {
    'node': ['node', 'a.js'], 'node --no-opt': ['node', '--no-opt', 'a.js'],
    'node --jitless': ['node', '--jitless', 'a.js'],
    'java': ['java', '-cp', '.', 'Spin'], 'java -Xint': ['java', '-Xint', '-cp', '.', 'Spin'],
    'java -Xcomp': ['java', '-Xcomp', '-cp', '.', 'Spin'],
    'python3': ['/usr/bin/python3', 'a.py'], 'ruby': ['ruby', 'a.rb'], 'perl': ['perl', 'a.pl'], 'php': ['php', 'a.php'],
}
# What stands for a function whose name is not known, at the beginning of a frame's text.
NAMELESS = ('[jit]', '[frames that could not be read]', '[no-', 'Builtins_InterpreterEntryTrampoline', '_PyEval_EvalFrameDefault',
            'vm_exec_core', 'Perl_runops_standard', 'execute_ex')
GONE = ('[python ', '[v8 ', '[java ', '[ruby ', '[perl ', '[php ')


def write_programs(seconds):
    for name, text in {'a.js': JS, 'a.py': PYTHON, 'a.rb': RUBY, 'a.pl': PERL, 'a.php': PHP, 'Spin.java': JAVA}.items():
        with open(name, 'w') as f:
            f.write(text.replace('SECONDS', str(seconds)))
    if shutil.which('javac'):
        subprocess.run(['javac', 'Spin.java'], check=True)


def begun(*command):
    """A recorder that records: its file is there once it does."""
    if os.path.exists('t.pbz'):
        os.unlink('t.pbz')
    recorder = subprocess.Popen(command)
    while recorder.poll() is None and not (os.path.exists('t.pbz') and os.path.getsize('t.pbz')):
        time.sleep(.005)
    return recorder


def forget_tables():
    folder = os.environ.get('XDG_CACHE_HOME', '') + '/probee'
    names = os.listdir(folder) if os.environ.get('FRESH') and os.path.isdir(folder) else []
    for name in names:
        if name.endswith('.table'):
            os.unlink(f'{folder}/{name}')


def record(probee, way, command):
    """Records it; returns its pid, or None: it is the only one."""
    sample = [probee, 'sample', '-q', '-F', HZ, '-o', 't.pbz']
    if way == 'command':
        subprocess.run(sample + ['--'] + command, check=True, timeout=60)
        return None
    if way == 'attach':
        program = subprocess.Popen(command)
        time.sleep(1.2)
        subprocess.run(sample + ['-p', str(program.pid), '-d', '.5'], check=True, timeout=60)
        program.kill()
    else:
        recorder = begun(*sample, '-a')
        program = subprocess.Popen(command)
        program.wait()
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
    program.wait()
    return program.pid


def samples(probee, pid):
    """(seconds, frames) of each sample of the process."""
    out = subprocess.run([probee, 'report', 't.pbz', '--csv', '-q'], stdout=subprocess.PIPE, text=True, errors='replace').stdout
    for line in sorted(out.splitlines()[1:]):
        cells = line.split('|')
        if cells[5] and (pid is None or cells[2] == str(pid)):
            yield datetime.datetime.fromisoformat(cells[0]).timestamp(), cells[5].split(';')


def tell(name, rows):
    first = rows[0][0]
    nameless = [(t - first, stack) for t, stack in rows if any(f.startswith(NAMELESS) for f in stack)]
    begin = [t for t, _ in nameless if t < .5]
    gone = sum(any(f.startswith(GONE) for f in stack) for _, stack in rows)
    early = sum(t - first < .5 for t, _ in rows)
    kinds = collections.Counter(k for _, stack in nameless for k in NAMELESS if any(f.startswith(k) for f in stack))
    print(f'nameless in the first 500 ms: ms to the last\t{name}\t{1000 * begin[-1] if begin else 0:.1f}')
    print(f'nameless in the first 500 ms: samples\t{name}\t{len(begin)}')
    print(f'nameless in the first 500 ms: %\t{name}\t{100 * len(begin) / early:.2f}')
    print(f'nameless later: samples\t{name}\t{len(nameless) - len(begin)}')
    print(f'names that were gone: samples\t{name}\t{gone}')
    print(f'# {name}: {len(rows)} samples; ' + ', '.join(f'{n} {k}' for k, n in kinds.items()) + '; at ' +
          ' '.join(f'{1000 * t:.0f}' for t, _ in nameless[:40]), flush=True)


def main():
    probee = os.path.abspath(sys.argv[1])
    seconds = float(os.environ.get('SECONDS_EACH', '1'))
    ways = os.environ.get('WAYS', 'command all attach').split()
    with tempfile.TemporaryDirectory(prefix='probee-first.') as folder:
        os.chdir(folder)
        for way in ways:
            write_programs(seconds + 2 if way == 'attach' else seconds)
            for name in sys.argv[2:] or COMMANDS:
                if not shutil.which(COMMANDS[name][0]):
                    continue
                forget_tables()
                pid = record(probee, way, COMMANDS[name])
                if os.environ.get('KEEP'):
                    shutil.copy('t.pbz', os.environ['KEEP'] + f'/{way}.{name.replace(" ", "")}.pbz')
                tell(f'{way}, {name}', list(samples(probee, pid)))


main()
