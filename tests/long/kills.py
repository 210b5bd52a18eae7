#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kills.py N [SEED]: ends N recordings of the whole machine (record, sample, snapshot) by SIGKILL, each at a random moment
in the 3 s after its trace has come to be, four at a time. Half of them make a picture, too. A thread spins all the time, so
that the last sample of a trace tells how much is missing: the time from it to the kill.

Wrong is: a trace that info (0) or report --strict (3) does not read; more than 1.1 s missing; a file that stays beside the
trace; a process of the recording that lives 5 s later. Takes 1.3 s for each.
"""
import concurrent.futures
import glob
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time

import longrun
from longrun import PROBEE, complain

AT_A_TIME, MOST_MS, ALIVE_S = 4, 1100, 5
MODES = ['record', '-a', '--snap-freq', '20'], ['sample', '-a'], ['snapshot', '-a', '-F', '20']
copying = threading.Lock()


def of_program(path):
    """The processes that run this file."""
    found = []
    for link in glob.glob('/proc/[0-9]*/exe'):
        try:
            if os.readlink(link) == path:
                found.append(int(link.split('/')[2]))
        except OSError:
            pass
    return found


def judge(what, trace, killed):
    """Milliseconds from the last sample to the kill, and whether there is one."""
    facts = longrun.info(trace)
    if facts is None:
        return None
    if facts['ended']:
        complain(f'{what}: its trace has an end')
    report = subprocess.run([PROBEE, 'report', '--strict', '-q', '--collapse', trace], capture_output=True)
    if report.returncode != 3:
        complain(f'{what}: report --strict: exit {report.returncode}: {report.stderr[-200:]}')
    ms = killed * 1000 - (facts['begin_real_ns'] + facts['duration_ns']) / 1e6
    return ms, facts['samples'] > 0


def one(number, seed):
    rng = random.Random(f'{seed} {number}')
    what, mode = f'kill {number}', MODES[number % len(MODES)]
    directory = os.path.abspath(f'run{number}')
    os.mkdir(directory)
    program, trace = f'{directory}/probee', f'{directory}/t.pbz'
    os.link('probee', program)
    picture = [f'--svg={directory}/t.svg'] if rng.random() < 0.5 else []
    with open(f'{directory}/err', 'w') as err:
        recorder = longrun.start(program, *mode, '-o', trace, *picture, stderr=err)
    if not longrun.until(60, lambda: os.path.exists(trace) or recorder.poll() is not None):
        complain(f'{what}: no trace in 60 s')
    time.sleep(rng.uniform(0, 3))
    if recorder.poll() is not None:
        complain(f'{what}: {" ".join(mode)} ended: {longrun.read(directory + "/err")[-200:]}')
    killed = time.time()
    recorder.kill()
    recorder.wait()
    if not longrun.until(ALIVE_S, lambda: not of_program(program)):
        complain(f'{what}: alive {ALIVE_S} s later: {[longrun.told(p) for p in of_program(program)]}')
    left = sorted(set(os.listdir(directory)) - {'probee', 't.pbz', 'err'})
    if left:
        complain(f'{what}: files that stay: {left}')
    result = judge(what, trace, killed) if os.path.exists(trace) else None
    if result and result[1] and result[0] > MOST_MS:
        complain(f'{what}: {" ".join(mode)}: {result[0]:.0f} ms are missing')
    longrun.started.remove(recorder)
    shutil.rmtree(directory)
    return result


def main():
    runs = int(sys.argv[1])
    seed = sys.argv[2] if len(sys.argv) > 2 else str(time.time_ns())
    shutil.copy(PROBEE, 'probee')
    longrun.workload('chain30', 'spin')
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        results = [r for r in pool.map(lambda i: one(i, seed), range(runs)) if r]
    tails = [ms for ms, has_samples in results if has_samples] or [0]
    early = [ms for ms, has_samples in results if not has_samples] or [0]
    longrun.finish(f'kills: {runs} recordings killed, {len(results)} traces read, {runs - len(results)} not; missing: '
                   f'{statistics.median(tails) / 1000:.2f} s median, {max(tails) / 1000:.2f} s at most, '
                   f'{sum(ms > MOST_MS for ms in tails)} above {MOST_MS / 1000} s '
                   f'({sum(not has_samples for _, has_samples in results)} had no sample yet, at most '
                   f'{max(early) / 1000:.2f} s after they began); seed {seed}')


main()
