# SPDX-License-Identifier: GPL-2.0-or-later
"""What the long tests share. They are started by long.sh, which sets PROBEE and WORKLOADS and gives each an empty working
directory of its own.

Processes are found by the lists of children that the kernel keeps (/proc/PID/task/TID/children). Nothing here reads other
files in /proc of processes that probee did not start: some of those wait for locks that a hostile process holds for ever.
"""
import atexit
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

PROBEE = os.environ['PROBEE']
WORKLOADS = os.environ['WORKLOADS']
TICKS = re.compile(r'(\d+) ticks: (\d+) idle, (\d+) of others, (\d+) outside, (\d+) submitted, (\d+) refused')

started = []            # processes that end with the test
wrong = []              # what the test found


def complain(text):
    wrong.append(text)
    print(f'  wrong: {text}', flush=True)


def finish(figures):
    """Prints the line of figures, and ends the test."""
    print(f'{figures}; {len(wrong)} wrong', flush=True)
    sys.exit(1 if wrong else 0)


def end(process):
    for sig in (signal.SIGCONT, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(sig)


@atexit.register
def end_all():
    for process in started:
        end(process)


def start(*command, **options):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
    started.append(process)
    return process


def workload(name, *args, **options):
    """A program of tests/workloads, or a path; waits for its "ready PID"."""
    path = name if '/' in name else os.path.join(WORKLOADS, name)
    process = start(path, *args, stdout=subprocess.PIPE, text=True, **options)
    if not select.select([process.stdout], [], [], 30)[0] or not process.stdout.readline().startswith('ready'):
        print(f'{name} does not get ready')
        sys.exit(77)
    return process


def nobody():
    """Options that make a process one of the user nobody."""
    return {'user': 65534, 'group': 65534, 'extra_groups': []}


def copy(name, to):
    """A copy of a workload that every user may execute."""
    shutil.copy(os.path.join(WORKLOADS, name), to)
    os.chmod(to, 0o755)
    return os.path.abspath(to)


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ''


def children(pid):
    try:
        tasks = os.listdir(f'/proc/{pid}/task')
    except OSError:
        return []
    return [int(c) for t in tasks for c in read(f'/proc/{pid}/task/{t}/children').split()]


def family(pid):
    """The process and all below it. A helper's name is that of its kind: comm()."""
    found = [pid]
    for p in found:
        found += children(p)
    return found


def comm(pid):
    return read(f'/proc/{pid}/comm').strip()


def told(pid):
    """Its name, its state, and where it waits: a file server that does not answer is not probee's mistake."""
    state = read(f'/proc/{pid}/stat').rpartition(') ')[2][:1]
    return f'{comm(pid)} {state} {read(f"/proc/{pid}/wchan")}'


def until(seconds, condition):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def info(trace):
    """What `probee info --json` says; None: it failed."""
    p = subprocess.run([PROBEE, 'info', '--json', trace], capture_output=True, text=True)
    if p.returncode:
        complain(f'info {trace}: exit {p.returncode}: {p.stderr.strip()}')
        return None
    return json.loads(p.stdout)


def has_end(facts):
    return facts['recordings']['finished'] == facts['recordings']['all'] == 1


def losses(facts):
    return ', '.join(f'{n} {cause}' for cause, n in facts['lost']['by_cause'].items()) or 'none'


def samples(facts):
    """Without the rows of snapshots."""
    return facts['samples'] - facts['snapshots']['rows']


def identity(what, err, facts):
    """Each tick of the timer is a sample of the trace or is counted: by the line that -v prints at the end, and by the trace.
    Returns the numbers of that line: ticks, idle, others, outside, submitted, refused."""
    m = TICKS.search(err)
    if not m:
        complain(f'{what}: no line about ticks: {err.strip()[-200:]}')
        return (0,) * 6
    ticks, idle, others, outside, submitted, refused = numbers = tuple(map(int, m.groups()))
    lost = facts['lost']['by_cause']
    if ticks != idle + others + outside + submitted + refused:
        complain(f'{what}: {m.group(0)}: that is not the sum')
    if submitted != samples(facts) + lost.get('bad-record', 0):
        complain(f'{what}: {submitted} submitted, but {samples(facts)} samples in the trace; lost: {losses(facts)}')
    if refused != lost.get('ring-full', 0):
        complain(f'{what}: {refused} refused; lost: {losses(facts)}')
    return numbers


def scans(what, facts, due):
    """Each scan that was due is there or is counted. Returns how many were left out."""
    count, left_out = facts['snapshots']['count'], facts['lost']['by_cause'].get('walks-left-out', 0)
    if abs(count + left_out - due) > 1:
        complain(f'{what}: {due} snapshots were due, {count} are there and {left_out} were left out')
    return left_out
