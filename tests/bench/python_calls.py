# SPDX-License-Identifier: GPL-2.0-or-later
"""python_calls.py DEPTH [UNITS]: as many nested calls of Python functions, the innermost of which works. Prints "ready PID".
Without UNITS it works for ever; with it, it waits for a signal, does that much, and prints "took SECONDS"."""
import os
import signal
import sys
import time


def work(n):
    x = 0
    for i in range(n):
        x = (x * 31 + i) % 65521
    return x


def call(depth, f):
    return f() if depth <= 0 else call(depth - 1, f)


def endless():
    while True:
        work(1000)


def measured():
    """Each unit is a stack of its own, so that names and stacks change as in other programs."""
    begin = time.monotonic()
    for i in range(int(sys.argv[2])):
        call(i % 7, lambda: work(300))
    print("took", time.monotonic() - begin, flush=True)


depth = int(sys.argv[1]) - 2        # <module> and the innermost function
if len(sys.argv) > 2:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("ready", os.getpid(), flush=True)
if len(sys.argv) > 2:
    signal.sigwait({signal.SIGUSR1})
call(depth - 1, measured if len(sys.argv) > 2 else endless)
