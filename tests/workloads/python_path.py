# SPDX-License-Identifier: GPL-2.0-or-later
"""One path of calls, over and over, and a thread that sleeps. Comments say what a line calls, for tests/vm/python_paths.py. All modules
are built in, so that the library need not be whole."""
import _thread
import posix
import time


def spin(x):
    for _ in range(3000):
        x += 1
    return -x


def c(n):
    return sorted([n, 3, 1, 2], key=spin)       # calls spin, by C


def b(n):
    return c(n)[0]      # calls c


def a(n):
    if n:
        return a(n - 1) + 1     # calls a
    return b(n)     # calls b


def nap():
    time.sleep(100000)      # calls C


def thread():
    nap()       # calls nap


_thread.start_new_thread(thread, ())        # calls thread
time.sleep(0.5)
print("ready", posix.getpid(), flush=True)
while True:
    a(3)        # calls a
