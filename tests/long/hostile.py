#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile.py SECONDS: `probee record -a` for so long beside processes of the user nobody that want to stop it, blind it or
fill its memory:

    stacks, a program and futex words in files of a FUSE server that never answers; the words' page is another one all the time
    a process that reads such a file
    a program whose debug file is on such a server
    processes that are stuck in the middle of exec, for 5 s in each 15 s (everything that lists processes waits for them)
    programs with symbol tables of 4 GiB, a new one every 10 s
    storms of processes, threads, programs and locked memory maps
    generated code whose map is a FIFO, a link, a link to a device, 300 MiB of nothing

Wrong is: another exit status than 0; a trace without its end; a snapshot left out; a sample that is neither there nor counted;
more than 128 MiB of memory: RSS of the main process, or PSS of all processes together, looked at every 2 s; an end that takes
30 s; a process of the recording that lives when the servers have gone. How many readers hung, and how many processes were
left behind until then, is told. Needs a mount namespace of its own. Takes 10 s more than SECONDS.
"""
import glob
import os
import signal
import struct
import subprocess
import sys
import threading
import time

import longrun
from longrun import PROBEE, complain, nobody, workload

MOST_MIB = 128
stop = threading.Event()


class Memory(threading.Thread):
    """Looks at a family of processes every 2 s."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.rss, self.pss, self.most, self.looks, self.seen, self.of = pid, 0, 0, 0, 0, set(), {}

    @staticmethod
    def figure(path, key):
        """KiB of a line "Key:  123 kB"; 0: the process is gone."""
        return next((int(line.split()[1]) for line in longrun.read(path).splitlines() if line.startswith(key)), 0)

    def run(self):
        while not stop.wait(2):
            # A number may be that of another process meanwhile.
            ours = [p for p in longrun.family(self.pid) if longrun.comm(p).startswith('probee')]
            self.rss = max(self.rss, self.figure(f'/proc/{self.pid}/status', 'VmHWM:'))
            each = [(self.figure(f'/proc/{p}/smaps_rollup', 'Pss:'), longrun.comm(p)) for p in ours]
            if sum(kib for kib, _ in each) > self.pss:
                self.pss, self.of = sum(kib for kib, _ in each), each
            self.most, self.looks = max(self.most, len(ours)), self.looks + 1
            self.seen.update(ours)

    def largest(self):
        """What the PSS was made of: "68 probee, 31 probee-parser", in MiB."""
        return ', '.join(f'{kib / 1024:.0f} {name}' for kib, name in sorted(self.of, reverse=True)[:5])

    def alive(self):
        """Names of those that still live."""
        return sorted(name for name in map(longrun.comm, self.seen) if name.startswith('probee'))


def serve(directory, *how):
    os.makedirs(directory, exist_ok=True)
    return workload('hungfs', os.path.abspath(directory), *how)


def end_server(process):
    process.send_signal(signal.SIGTERM)
    process.wait()


def hung_files():
    """One server for stacks, words and programs, and one for debug files. Returns them."""
    servers = [serve('mnt')]
    victim, flipping = longrun.copy('victim', 'victim'), longrun.copy('flipping', 'flipping')
    for kind in ('file', 'file', 'shared', 'memfd'):
        workload(victim, kind, os.path.abspath('mnt/stack'), **nobody())
    workload(victim, 'prog', os.path.abspath('mnt/prog'), **nobody())
    workload(flipping, os.path.abspath('mnt/stack'), **nobody())
    longrun.start('cat', os.path.abspath('mnt/stack'), stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL, **nobody())
    os.mkdir('hung', 0o755)
    linked = longrun.copy('chain30', 'hung/linked')
    subprocess.run(['objcopy', '--strip-all', f'--add-gnu-debuglink={longrun.WORKLOADS}/chain30', linked], check=True)
    servers.append(serve('hung/.debug'))
    workload(linked, 'sleep', **nobody())
    return servers


def stuck_in_exec():
    program = longrun.copy('stuckexec', 'stuckexec')
    while not stop.is_set():
        server = serve('flush', 'flush')
        stuck = [workload(program, os.path.abspath('flush/stack'), **nobody()) for _ in range(3)]
        stop.wait(5)
        end_server(server)
        for process in stuck:
            longrun.end(process)
        stop.wait(10)


def make_bomb(path, number):
    """chain30 with a build-id of its own, and a .symtab of 4 GiB, nearly all of it a hole."""
    longrun.copy('chain30', path)
    with open(path, 'r+b') as f:
        data = f.read()
        at = data.index(b'GNU\0', data.index(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0') + 8) + 4
        f.seek(at)
        f.write(struct.pack('<I', number))
        table, (size, count) = struct.unpack_from('<Q', data, 40)[0], struct.unpack_from('<HH', data, 58)
        end = len(data) + 4095 & ~4095
        for header in range(table, table + size * count, size):
            if struct.unpack_from('<I', data, header + 4)[0] == 2:
                f.seek(header + 24)
                f.write(struct.pack('<QQ', end, 4 << 30))
        f.truncate(end + (4 << 30))
    return os.path.abspath(path)


def bombs():
    alive, number = [], 0
    while not stop.is_set():
        number += 1
        alive.append((workload(make_bomb(f'bomb{number}', number), 'sleep', **nobody()), f'bomb{number}'))
        if len(alive) > 4:
            process, path = alive.pop(0)
            longrun.end(process)
            os.remove(path)
        stop.wait(10)


def storms():
    program = longrun.copy('storm', 'storm')
    for kind, makers in ('procs', '2'), ('threads', '2'), ('maps', '1'):
        workload(program, kind, makers, **nobody())
    longrun.start('bash', '-c', 'while :; do /bin/true; done', **nobody())


def generated_code():
    """One process at a time. Their maps stay until the recording has ended, which may look for names only then."""
    program, modes, number = longrun.copy('jit', 'jit'), ('fifo', 'link', 'null', 'huge', 'silent', 'moved'), 0
    maps = []
    while not stop.is_set():
        process = workload(program, modes[number % len(modes)], '2', **nobody())
        maps.append(f'/tmp/perf-{process.pid}.map')
        process.wait()
        number += 1
    for path in maps:
        for name in glob.glob(path + '*'):
            os.remove(name)


def record(seconds):
    """Returns the memory that was seen, the exit status, and how long the recording took."""
    began = time.monotonic()
    with open('err', 'w') as err:
        recorder = longrun.start(PROBEE, 'record', '-a', '-v', '-d', str(seconds), '-o', 't.pbz', stderr=err)
    memory = Memory(recorder.pid)
    memory.start()
    try:
        status = recorder.wait(seconds + 60)
    except subprocess.TimeoutExpired:
        status = 'none'
    return memory, status, time.monotonic() - began


def end_attackers(servers, attackers):
    stop.set()
    for server in servers:
        end_server(server)
    for thread in attackers:
        thread.join(30)
    longrun.end_all()


def main():
    seconds = int(sys.argv[1])
    os.chmod('.', 0o755)
    servers = hung_files()
    attackers = [threading.Thread(target=t, name=t.__name__, daemon=True) for t in (stuck_in_exec, bombs, generated_code)]
    storms()
    for thread in attackers:
        thread.start()
    memory, status, took = record(seconds)
    longrun.until(2, lambda: not memory.alive())        # those that do not hang
    left_behind = memory.alive()
    for thread in attackers:
        if not thread.is_alive():
            complain(f'{thread.name} ended')
    end_attackers(servers, attackers)
    if not longrun.until(10, lambda: not memory.alive()):
        complain(f'alive when the servers have gone: {memory.alive()}')
    err = longrun.read('err')
    if status != 0:
        complain(f'exit status {status}: {err.strip()[-500:]}')
    if took > seconds + 30:
        complain(f'it took {took:.0f} s')
    facts = longrun.info('t.pbz')
    if facts is None:
        longrun.finish('hostile: no trace')
    if not longrun.has_end(facts):
        complain('the trace has no end')
    left_out = longrun.scans('hostile', facts, seconds)
    if left_out:
        complain(f'{left_out} snapshots were left out')
    numbers = longrun.identity('hostile', err, facts)
    for what, kib in ('RSS of the main process', memory.rss), ('PSS of all processes', memory.pss):
        if not 0 < kib <= MOST_MIB << 10:
            complain(f'{what}: {kib / 1024:.0f} MiB')
    longrun.finish(f'hostile: {seconds} s, ended after {took:.1f} s: {facts["snapshots"]["count"]} snapshots, {left_out} left '
                   f'out; {numbers[4]} samples submitted, {numbers[5]} refused; lost: {longrun.losses(facts)}; memory: '
                   f'{memory.rss / 1024:.0f} MiB RSS, {memory.pss / 1024:.0f} MiB PSS ({memory.largest()}), at most {memory.most} '
                   f'processes ({memory.looks} looks); {facts["snapshots"]["readers_hung"]} readers hung; left behind until the servers '
                   f'ended: {" ".join(left_behind) or "none"}')


main()
