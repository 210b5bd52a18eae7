# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells of its own code objects, for codes.c to compare with what it reads from this process's memory. Runs in every
Python from 3.8 on, so it uses no newer syntax.

One line each: address, name, file, first line, octets of code, and OFFSET:LINE for each instruction, with tabs between. LINE is
empty or 0 where there is none. The names are escaped as by Python's unicode_escape. Then it waits until its standard input ends."""
import dis
import gc
import sys
import types

sys.setrecursionlimit(100000)


def öffentlich_größe(n):
    """A name that is not ASCII."""
    return [m for m in range(n)
            if m != 3]


def 漢字(n):
    def 𝔘nter(m):
        return m + n
    return 𝔘nter


class Outer:
    class Inner:
        def method(self, x=lambda: 1):
            return (x(),
                    x())


def many_lines():
    x = 0
    exec_me = compile("\n" * 70000 + "def far():\n" + "\n" * 300 + " return 1\n", "<far away>", "exec")
    return x, exec_me


KEPT = [many_lines()[1], compile("x = 1\n" * 30000, "<long code>", "exec"), 漢字(1)]


def codes():
    seen, todo = {}, [o.__code__ for o in gc.get_objects() if isinstance(o, types.FunctionType)]
    todo += [k for k in KEPT if isinstance(k, types.CodeType)]
    while todo:
        c = todo.pop()
        if id(c) not in seen:
            seen[id(c)] = c
            todo += [k for k in c.co_consts if isinstance(k, types.CodeType)]
    return seen.values()


def lines_of(c):
    """The line of each instruction, as tracebacks of this version would tell it."""
    n = len(c.co_code)
    if hasattr(c, "co_lines"):
        for start, end, line in c.co_lines():
            for at in range(start, min(end, n), 2):
                yield at, line
        return
    starts, line = dict(dis.findlinestarts(c)), c.co_firstlineno
    for at in range(0, n, 2):
        line = starts.get(at, line)
        yield at, line


def escape(s):
    return s.encode("unicode_escape").decode("ascii")


def main():
    import argparse, asyncio, decimal, difflib, email.message, http.client, json, logging, unittest    # noqa: to have code
    kept = list(codes())
    for c in kept:
        words = ["%d" % id(c), escape(getattr(c, "co_qualname", c.co_name)), escape(c.co_filename),
                 "%d" % c.co_firstlineno, "%d" % len(c.co_code)]
        words += ["%d:%s" % (at, "" if line is None else line) for at, line in lines_of(c)]
        sys.stdout.write("\t".join(words) + "\n")
    sys.stdout.write("end\n")
    sys.stdout.flush()
    sys.stdin.read()


main()
