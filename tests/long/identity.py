#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""identity.py N [SEED]: N recordings with random rates (49 to 49,999 Hz), events, targets and memory limits (they make the
ring of samples smaller), which are stopped and continued at random. Each tick of their timers must be a sample of the trace
or be counted, exactly: ticks = idle + others + outside + submitted + refused; submitted = samples + bad records; refused =
ring-full. Where the kernel kills a recording for want of memory, its trace must be readable. Takes 5 s for each.
"""
import os
import random
import re
import signal
import sys
import time

import longrun
from longrun import PROBEE, complain

GROUPS = '/sys/fs/cgroup/memory', '/sys/fs/cgroup'
EVENTS = [], [], [], ['-e', 'cpu-clock,page-faults'], ['-e', 'cpu-clock,context-switches']


def group_of(mib, number):
    """A control group with so little memory, or None."""
    for parent, name in zip(GROUPS, ('memory.limit_in_bytes', 'memory.max')):
        group = f'{parent}/probee-long-{os.getpid()}-{number}'
        try:
            os.mkdir(group)
            with open(f'{group}/{name}', 'w') as f:
                f.write(str(mib << 20))
            return group
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    return None


def enter(group):
    with open(f'{group}/cgroup.procs', 'w') as f:
        f.write(str(os.getpid()))


def leave(what, group):
    """Removes the group. Returns whether the kernel killed a process in it for want of memory."""
    kills = ''.join(longrun.read(f'{group}/{name}') for name in ('memory.oom_control', 'memory.events'))
    pids = f'{group}/cgroup.procs'
    if longrun.until(30, lambda: not longrun.read(pids)):
        os.rmdir(group)
    else:
        complain(f'{what}: alive 30 s later: {[longrun.told(p) for p in longrun.read(pids).split()]}')
    return re.search(r'^oom_kill [1-9]', kills, re.M) is not None


def targets(rng, spin, storm):
    return rng.choice([['-a'], ['-a'], ['-a', '--include-idle'], ['-a', '-C', '0'], ['-p', str(spin)],
                       ['-p', f'{spin},{storm}'], ['-t', str(spin)], []])


def stop_and_continue(rng, recorder):
    """Until it ends. Returns how often it was stopped."""
    stops, limit = 0, time.monotonic() + 60
    most = rng.choice([0, 1, 2, 8])
    while recorder.poll() is None and time.monotonic() < limit:
        time.sleep(rng.uniform(0.02, 1))
        if stops < most and recorder.poll() is None:
            recorder.send_signal(signal.SIGSTOP)
            time.sleep(rng.uniform(0.02, 2))
            recorder.send_signal(signal.SIGCONT)
            stops += 1
    return stops


def one(rng, number, spin, storm):
    hz = int(49 * (49999 / 49) ** rng.random())
    mib = rng.choice([0, 0, 0, 64, 96])
    group = group_of(mib, number) if mib else None
    where = targets(rng, spin, storm)
    command = [rng.choice(['sample', 'sample', 'sample', 'record']), '-v', '-F', str(hz), *rng.choice(EVENTS), *where]
    what = f'run {number}: {" ".join(command)}' + (f' in {mib} MiB' if group else '')
    command += ['-d', f'{rng.uniform(0.5, 4):.2f}', '-o', 't.pbz']
    if not where:
        command += ['--', f'{longrun.WORKLOADS}/brief', str(rng.randrange(100, 3000))]
    with open('err', 'w') as err, open('/dev/null', 'w') as null:
        recorder = longrun.start(PROBEE, *command, stdout=null, stderr=err,
                                 preexec_fn=(lambda: enter(group)) if group else None)
    stops = stop_and_continue(rng, recorder)
    longrun.end(recorder)
    recorder.wait()
    longrun.started.remove(recorder)
    # A parser that is killed costs no recording.
    no_memory = leave(what, group) and recorder.returncode == -signal.SIGKILL if group else False
    numbers, facts = (0,) * 6, None
    if no_memory:
        longrun.info('t.pbz')
    elif recorder.returncode:
        complain(f'{what}: exit {recorder.returncode}: {longrun.read("err").strip()[-300:]}')
    else:
        facts = longrun.info('t.pbz')
    if facts:
        numbers = longrun.identity(what, longrun.read('err'), facts)
    return numbers, stops, no_memory


def main():
    runs = int(sys.argv[1])
    seed = sys.argv[2] if len(sys.argv) > 2 else str(time.time_ns())
    rng = random.Random(seed)
    spin, storm = longrun.workload('chain30', 'spin'), longrun.workload('storm', 'procs', '2')
    sums, stops, rings, killed = [0] * 6, 0, 0, 0
    for number in range(runs):
        numbers, stopped, no_memory = one(rng, number, spin.pid, storm.pid)
        sums = [a + b for a, b in zip(sums, numbers)]
        stops += stopped
        rings += numbers[5] > 0
        killed += no_memory
    ticks, idle, others, outside, submitted, refused = sums
    longrun.finish(f'identity: {runs} runs, stopped {stops} times: {ticks} ticks = {idle} idle + {others} others + '
                   f'{outside} outside + {submitted} submitted + {refused} refused (in {rings} runs); {killed} runs '
                   f'were killed for want of memory; seed {seed}')


main()
