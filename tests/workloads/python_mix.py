# SPDX-License-Identifier: GPL-2.0-or-later
"""python_mix.py THREADS [OPTION...]: Python stacks of all kinds, until it is ended. Runs in every Python from 3.8 on.

	--fd N,...	faulthandler writes the stack of a thread that gets SIGUSR1 there; tests compare with it. With several
			numbers there are as many processes, each with its own, and as many lines "ready PID"
	--exec		functions that are compiled all the time, and thrown away
	--deep N	the deepest stacks (default 60)
	--asleep	all threads sleep at the end of a stack, and none runs

C functions stand between Python functions (sorted, map, reduce, re.sub, json, class creation), there are generators,
coroutines, exceptions, comprehensions, properties and decorators. The first line it prints is "ready PID"."""
import argparse
import asyncio
import contextlib
import faulthandler
import functools
import json
import os
import random
import re
import signal
import sys
import threading
import time


class Choice(threading.local):
    """Random numbers of a thread's own, so that a run of one thread is the same each time."""
    def __init__(self):
        self.r = random.Random(threading.current_thread().name)


choice = Choice()
options = None


def spin(n):
    x = 1
    for i in range(n):
        x = (x * 31 + i) % 65521
    return x


class Pair:
    def __init__(self, v, depth):
        self.v, self.depth = v, depth

    def __lt__(self, other):
        return go(self.depth) * 0 + self.v < other.v

    @property
    def doubled(self):
        return go(self.depth) + 2 * self.v


def by_sorting(depth):
    return sorted([Pair(spin(k), depth - 2) for k in range(3)])[0].doubled


def by_map(depth):
    return functools.reduce(lambda a, b: a + b, map(lambda k: go(depth - 1) + k, (1, 2)))


def by_pattern(depth):
    return len(re.sub("[aeiou]",
                      lambda m: m.group(0) * (1 + go(depth - 1) % 2),
                      "expressive"))


class Odd:
    pass


def by_json(depth):
    return len(json.dumps([Odd(), spin(5)], default=lambda o: go(depth - 1)))


def count_down(n):
    if n:
        yield spin(3)
        yield from count_down(n - 1)
    else:
        yield go(0)


def by_generator(depth):
    return sum(count_down(depth % 7 + 1))


async def step(depth):
    await asyncio.sleep(0)
    return go(depth - 3)


async def steps(depth):
    return sum(await asyncio.gather(step(depth), step(depth)))


def by_coroutines(depth):
    if depth < 4 or threading.current_thread() is not threading.main_thread() or asyncio._get_running_loop():
        return spin(depth)
    return asyncio.run(steps(depth))


@contextlib.contextmanager
def around(depth):
    spin(4)
    yield go(depth - 2)
    spin(4)


def by_exception(depth):
    try:
        with around(depth) as x:
            raise ValueError(x)
    except ValueError:
        return go(depth - 1)
    finally:
        spin(6)


def by_class(depth):
    class Made:
        value = go(depth - 1)

        def wärme(self):
            return (self.value +
                    spin(9))

    return Made().wärme()


def by_comprehension(depth):
    return sum({k: go(depth - 1) + v for k, v in enumerate([spin(i) for i in range(2)])}.values())


def by_exec(depth):
    k = choice.r.randrange(500)
    names = {"go": go}
    exec(compile("%sdef made_%d(n):\n    return go(n - 1)\n" % ("\n" * (k % 40), k), "<made %d>" % k, "exec"), names)
    return names["made_%d" % k](depth)


WAYS = [by_sorting, by_map, by_pattern, by_json, by_generator, by_coroutines, by_exception, by_class, by_comprehension]


def go(depth):
    if depth <= 0:
        return spin(12)
    return choice.r.choice(WAYS)(depth - choice.r.randrange(4)) % 1000


def descend(n):
    return go(6) if n == 0 else descend(n - 1)


def fall_asleep(n):
    if n == 0:
        time.sleep(1000)
    else:
        fall_asleep(n - 1)


def work():
    if options.asleep:
        fall_asleep(options.deep // 2)
    while True:
        descend(choice.r.randrange(options.deep))


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("threads", type=int)
    parser.add_argument("--fd", type=lambda s: [int(n) for n in s.split(",")], default=[])
    parser.add_argument("--exec", action="store_true", dest="executes")
    parser.add_argument("--deep", type=int, default=60)
    parser.add_argument("--asleep", action="store_true")
    options = parser.parse_args()
    if options.executes:
        WAYS.extend([by_exec] * 3)
    for n in options.fd[1:]:
        if os.fork() == 0:
            options.fd[0] = n
            choice.r.seed(n)
            break
    if options.fd:
        faulthandler.register(signal.SIGUSR1, file=options.fd[0], all_threads=False)
    sys.setrecursionlimit(20000)
    for _ in range(options.threads - 1):
        threading.Thread(target=work, daemon=True).start()
    os.write(1, b"ready %d\n" % os.getpid())
    work()


main()
