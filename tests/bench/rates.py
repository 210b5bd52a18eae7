# SPDX-License-Identifier: GPL-2.0-or-later
"""rates.py PROBEE LOAD HZ SECONDS [--cold]: one recording of programs that keep all CPUs busy.

The load is the command of the recording, so all its binaries are new to it, except for `long`, which runs before. Prints
METRIC<TAB>VALUE lines. Losses are those of `probee info`; memory is the peak of all processes of probee together (PSS, asked
ten times a second). --cold: the page cache is dropped before. --say: what probee said, on stderr. AUTOGROUP=NICE: of the
recording and its load, where the scheduler groups sessions and others use the machine. KEEP=FILE: a copy of the trace.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

C_SOURCE = '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n' + ''.join(
    f'int f{n}(int x){{char b[64];int s={n};for(int i=0;i<x;i++)s+=i*x%({n}+3);sprintf(b,"%d",s);return strlen(b)+s;}}\n'
    for n in range(60)) + 'int main(){return f1(3);}\n'
RUST_SOURCE = 'use std::collections::HashMap;\nfn main() { let mut m = HashMap::new(); ' \
    'for i in 0..9u32 { *m.entry(i.to_string()).or_insert(0) += i; } println!("{:?}", m); }\n'

LOADS = {
    # one shell for each CPU; each begins at another place of the ring
    'compile': ['gcc -O2 -c a.c -o $$.o', 'clang -O2 -c a.c -o $$.o', 'rustc -O --crate-name r$$ -o $$.r a.rs',
                'gcc -O1 -g -c a.c -o $$.o', 'clang -O1 -g -c a.c -o $$.o'],
    'start': ['python3 -c "import json, re, ssl, decimal, asyncio; json.dumps([*range(9999)])"',
              'node -e "JSON.stringify([...Array(99999).keys()])"', 'java -XshowSettings:all -version',
              'perl -MPOSIX -MStorable -e "1 for 1..999999"'],
    'long': ['python3 -c "while 1: sorted(map(str, range(9999)))"',
             'node -e "while (1) JSON.stringify([...Array(9999).keys()])"'],
}


def load_of(name):
    """A shell's text: it keeps all CPUs busy for ever."""
    commands, cpus = LOADS[name], os.cpu_count()
    rings = []
    for k in range(cpus):
        turn = commands[k % len(commands):] + commands[:k % len(commands)]
        rings.append(turn[0] if name == 'long' else 'while :; do ' + '; '.join(turn) + '; done')
    return ''.join(f'({ring.replace("$$", f"x{k}")}) >/dev/null 2>&1 & ' for k, ring in enumerate(rings)) + 'wait'


def pss(pid):
    """KiB of the process and of all below it."""
    children = {}
    for d in os.listdir('/proc'):
        if d.isdigit():
            try:
                with open(f'/proc/{d}/stat') as f:
                    children.setdefault(int(f.read().rsplit(')', 1)[1].split()[1]), []).append(int(d))
            except OSError:
                pass
    todo, total = [pid], 0
    while todo:
        p = todo.pop()
        todo += children.get(p, [])
        try:
            with open(f'/proc/{p}/smaps_rollup') as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith('Pss:'))
        except OSError:
            pass
    return total


def cpu_ms(pid):
    with open(f'/proc/{pid}/stat') as f:
        words = f.read().rsplit(')', 1)[1].split()
    return 10 * (int(words[11]) + int(words[12]))


def watch(pid, seen, over):
    while not over.wait(0.1):
        seen['pss'] = max(seen['pss'], pss(pid))
        try:
            seen['cpu'] = cpu_ms(pid)
        except OSError:
            pass


def record(probee, load, hz, seconds, folder):
    """Runs one recording of the load; what it said on the way, and what was seen of it."""
    seen, over, procs = {'pss': 0, 'cpu': 0}, threading.Event(), []
    command = [probee, 'sample', '-v', '-F', hz, '-d', seconds, '-o', f'{folder}/t.pbz']
    if load == 'long':
        procs.append(subprocess.Popen(['sh', '-c', load_of(load)], cwd=folder, start_new_session=True))
        time.sleep(1)
        with open(f'/proc/{procs[0].pid}/task/{procs[0].pid}/children') as f:
            command += ['-p', ','.join(f.read().split())]
    else:
        command += ['--', 'sh', '-c', load_of(load)]
    tool = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                            start_new_session=True)
    if os.environ.get('AUTOGROUP'):
        with open(f'/proc/{tool.pid}/autogroup', 'w') as f:
            f.write(os.environ['AUTOGROUP'])
    thread = threading.Thread(target=watch, args=(tool.pid, seen, over))
    thread.start()
    said = [line.decode(errors='replace').rstrip() for line in tool.stderr]
    over.set()
    thread.join()
    for p in [tool, *procs]:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()
    return said, seen


def main():
    probee, load, hz, seconds = os.path.abspath(sys.argv[1]), *sys.argv[2:5]
    with tempfile.TemporaryDirectory(prefix='rates.') as folder:
        for name, text in (('a.c', C_SOURCE), ('a.rs', RUST_SOURCE)):
            with open(f'{folder}/{name}', 'w') as f:
                f.write(text)
        if '--cold' in sys.argv:
            os.sync()
            with open('/proc/sys/vm/drop_caches', 'w') as f:
                f.write('1')
        said, seen = record(probee, load, hz, seconds, folder)
        info = json.loads(subprocess.run([probee, 'info', '--json', '--no-limits', f'{folder}/t.pbz'],
                                         stdout=subprocess.PIPE).stdout)
        if os.environ.get('KEEP'):
            shutil.copy(f'{folder}/t.pbz', os.environ['KEEP'])
    if '--say' in sys.argv:
        print('\n'.join(said), file=sys.stderr)
    stacks = info['stacks']
    print(f'whole\t{100 * stacks["whole"] / max(1, stacks["user"]):.2f}')
    print(f'stacks\t{stacks["user"]}')
    print(f'lost\t{info["lost"]["samples"]}')
    for line in said:
        waiting = re.search(r'late stacks: .* ([0-9.]+) MiB at most', line)
        if waiting:
            print(f'waiting\t{waiting[1]}')
    print(f'pss\t{seen["pss"] / 1024:.1f}')
    print(f'main_cpu_ms\t{seen["cpu"]}')
    print('ends\t' + ' '.join(f'{k}={v}' for k, v in info['ends'].items()))
    print('losses\t' + ' '.join(f'{k}={v}' for k, v in info['lost']['by_cause'].items()))


main()
