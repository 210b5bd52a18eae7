#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""helpers.py SECONDS [SEED]: `probee record -a` for so long beside processes that come and go, while its helper processes are
killed at random, some five a second: the keeper once in two seconds or so, the one that puts files in their places once, and
all other kinds as they are there.

Wrong is: another exit status than 0; a trace without its end; a sample or a snapshot that is neither there nor counted; more
readers told as killed than were killed, or none; a program that ran all the time and has no names; a kind of helper that was
never there. Takes 5 s more than SECONDS.
"""
import collections
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import longrun
from longrun import PROBEE, complain

KINDS = 'keeper', 'opener', 'parser', 'names', 'reader', 'outputs', 'memory'
MAY_BE_MISSING = 'memory',       # only code that is generated while a stack waits for it needs one
SCANS_HZ = 5


def kill(pid, name):
    """Kills the process if that is its name still. Its number may be another's by now."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if longrun.comm(pid) != name:
            return False
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


def turns(rng, kind, killed, seconds):
    """Whether one of this kind may be killed now; asked five times a second or so."""
    if kind == 'keeper':
        return rng.random() < 0.5
    if kind == 'outputs':
        return not killed['outputs'] and rng.random() < 10 / seconds
    return True


def kill_helpers(rng, recorder, seconds):
    """Until the recording ends. Returns how many of each kind were killed."""
    killed, limit = collections.Counter(), time.monotonic() + seconds + 60
    while recorder.poll() is None and time.monotonic() < limit:
        time.sleep(rng.uniform(0.05, 0.35))
        there = collections.defaultdict(list)
        for pid in longrun.family(recorder.pid)[1:]:
            name = longrun.comm(pid)
            if name.startswith('probee-') and os.path.exists('t.pbz'):
                there[name[len('probee-'):]].append(pid)
        kind = rng.choice(sorted(there)) if there else None
        if kind and turns(rng, kind, killed, seconds):
            killed[kind] += kill(rng.choice(there[kind]), f'probee-{kind}')
    longrun.end(recorder)
    return killed


def generated_code(stop):
    while not stop.is_set():
        process = longrun.workload('jit', 'plain', '1')
        process.wait()
        os.remove(f'/tmp/perf-{process.pid}.map')


def judge(killed, status, facts, due):
    err = longrun.read('err')
    if status:
        complain(f'exit status {status}: {err.strip()[-500:]}')
    if not longrun.has_end(facts):
        complain('the trace has no end')
    for kind in KINDS:
        if not killed[kind] and kind not in MAY_BE_MISSING:
            complain(f'no {kind} was killed')
    longrun.scans('helpers', facts, due)
    if 'f29;f30' not in subprocess.run([PROBEE, 'report', '-q', '--collapse', 't.pbz'], capture_output=True, text=True).stdout:
        complain('a program that ran all the time has no names')
    told = re.search(r'(\d+) processes? that read the stacks w', err)
    told = int(told.group(1)) if told else 0
    if not (killed['reader'] >= told > 0):
        complain(f'{killed["reader"]} readers were killed, {told} are told')
    return longrun.identity('helpers', err, facts)


def main():
    seconds = int(sys.argv[1])
    seed = sys.argv[2] if len(sys.argv) > 2 else str(time.time_ns())
    stop = threading.Event()
    longrun.workload('chain30', 'spin')
    longrun.workload('storm', 'procs', '2')
    longrun.start('bash', '-c', 'while :; do /bin/true; done')
    code = threading.Thread(target=generated_code, args=[stop], daemon=True)
    code.start()
    with open('err', 'w') as err:
        recorder = longrun.start(PROBEE, 'record', '-a', '-v', '--snap-freq', str(SCANS_HZ), '-d', str(seconds), '-o', 't.pbz',
                                 stderr=err)
    killed = kill_helpers(random.Random(seed), recorder, seconds)
    status = recorder.wait()
    stop.set()
    code.join(10)
    facts = longrun.info('t.pbz')
    if facts is None:
        longrun.finish('helpers: no trace')
    numbers = judge(killed, status, facts, seconds * SCANS_HZ)
    named = facts['frames']['distinct'] - facts['frames']['unnamed']
    longrun.finish(f'helpers: {seconds} s, killed: {", ".join(f"{killed[k]} {k}" for k in KINDS)}; '
                   f'{facts["snapshots"]["count"]} of {seconds * SCANS_HZ} snapshots, {numbers[4]} samples submitted, '
                   f'{numbers[5]} refused; lost: {longrun.losses(facts)}; {named} of {facts["frames"]["distinct"]} frames '
                   f'have names; seed {seed}')


main()
