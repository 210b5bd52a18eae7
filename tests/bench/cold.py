# SPDX-License-Identifier: GPL-2.0-or-later
"""cold.py PROBEE HZ [COMMAND...]: stacks of commands from exec to exit, with their files in the page cache and without.

Each command is recorded three times: with its files read before (warm), and with the page cache dropped before the recording
(cold). Prints METRIC<TAB>COMMAND<TAB>VALUE lines: user stacks, % whole, ms from the first sample to the first whole one, ms
until the last one that is not whole, and how stacks ended that are not whole. CHROMIUM, DENO: where these programs are.
Commands that are not installed are left out.
"""
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile

C_SOURCE = '#include <stdio.h>\n' + ''.join(
    f'int f{n}(int x){{char b[64];int s={n};for(int i=0;i<x;i++)s+=i*x%({n}+3);return sprintf(b,"%d",s)+s;}}\n'
    for n in range(60)) + 'int main(){return f1(3);}\n'
CXX_SOURCE = '#include <map>\n#include <string>\n#include <iostream>\nint main() { std::map<std::string, int> m; ' \
    'for (int i = 0; i < 9; i++) m[std::to_string(i)] = i; for (auto &p : m) std::cout << p.first << p.second; }\n'
RUST_SOURCE = 'use std::collections::HashMap;\nfn main() { let mut m = HashMap::new(); ' \
    'for i in 0..9u32 { *m.entry(i.to_string()).or_insert(0) += i; } println!("{:?}", m); }\n'
JAVA_SOURCE = 'public class A { public static void main(String[] a) { System.out.println("x".repeat(9)); } }\n'
GO_SOURCE = 'package main\nimport "fmt"\nfunc main() { fmt.Println(1) }\n'
JS_SOURCE = 'let s = 0; const t = Date.now();\nwhile (Date.now() - t < 500) s += JSON.stringify([...Array(999).keys()]).length;\n'
HS_SOURCE = 'main :: IO ()\nmain = print (sum [1 .. 9999 :: Int])\n'
FILES = {'a.c': C_SOURCE, 'a.cc': CXX_SOURCE, 'a.rs': RUST_SOURCE, 'A.java': JAVA_SOURCE, 'a.go': GO_SOURCE,
         'a.js': JS_SOURCE, 'a.hs': HS_SOURCE}

COMMANDS = {
    'rustc': 'rustc -O -o r a.rs', 'clang': 'clang -O2 -c a.c -o a.o', 'g++': 'g++ -O2 -c a.cc -o b.o',
    'javac': 'javac -d . A.java', 'java': 'java -version', 'node': 'node a.js', 'git': 'git -C {git} log --stat -n 300',
    'perl': 'perl -MPOSIX -MStorable -e "1 for 1..999999"', 'ls': 'ls -lR /usr/lib',
    'python3': 'python3 -c "import json, re, ssl, decimal, asyncio; json.dumps([*range(9999)])"',
    'chromium': '{chromium} --headless --no-sandbox --disable-gpu --user-data-dir=c --dump-dom "data:text/html,<b>x</b>"',
    'deno': '{deno} run a.js', 'bun': '{bun} run a.js', 'go': 'go tool compile -o a.a -p main -importcfg cfg a.go',
    'ghc': 'ghc -O1 a.hs -o h',
}
PLACES = {'chromium': os.environ.get('CHROMIUM', 'chromium'), 'deno': os.environ.get('DENO', 'deno'),
          'bun': os.environ.get('BUN', 'bun'), 'git': os.environ.get('GIT_DIRECTORY', os.getcwd())}
NOTE = re.compile(r'(?:^|;)\[([a-z-]+)\]$')


def stacks(probee, trace):
    """(time in s, how it ended) of each user stack; whole ones ended with ''."""
    out = subprocess.run([probee, 'report', trace, '--csv'], stdout=subprocess.PIPE, text=True, errors='replace').stdout
    for line in out.splitlines()[1:]:
        cells = line.split('|')
        note = NOTE.search(cells[5])
        if cells[5] and not (note and note.group(1) in ('kthread', 'exec', 'no-mm')):
            yield datetime.datetime.fromisoformat(cells[0]).timestamp(), note.group(1) if note else ''


def run(probee, hz, command, folder):
    subprocess.run([probee, 'sample', '-q', '-F', hz, '-o', 't.pbz', '--', 'sh', '-c', 'exec ' + command], cwd=folder,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    if os.environ.get('KEEP'):
        shutil.copy(folder + '/t.pbz', os.environ['KEEP'])
    return sorted(stacks(probee, folder + '/t.pbz'))


def tell(what, name, rows):
    if not rows:
        return
    first, ends = rows[0][0], [end for _, end in rows if end]
    whole = [t - first for t, end in rows if not end]
    print(f'{name}, {what}: user stacks\t{len(rows)}')
    print(f'{name}, {what}: % whole\t{100 * len(whole) / len(rows):.2f}')
    if whole:
        print(f'{name}, {what}: ms to the first whole stack\t{1000 * whole[0]:.1f}')
    for end in sorted(set(ends)):
        print(f'# {name}, {what}: {ends.count(end)} {end}')
    sys.stdout.flush()


def main():
    probee, hz = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix='probee-cold.') as folder:
        for name, text in FILES.items():
            with open(f'{folder}/{name}', 'w') as f:
                f.write(text)
        open(folder + '/cfg', 'w').close()
        for name in sys.argv[3:] or COMMANDS:
            command = COMMANDS[name].format(**PLACES)
            if not shutil.which(command.split()[0]):
                continue
            run(probee, hz, command, folder)
            tell('warm', name, run(probee, hz, command, folder))
            subprocess.run(['sync'], check=True)
            with open('/proc/sys/vm/drop_caches', 'w') as f:
                f.write('3')
            tell('cold', name, run(probee, hz, command, folder))


main()
