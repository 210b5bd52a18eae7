#!/usr/bin/env python3
# timeout: 600
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: Makefile sources.mk
"""make builds again what a changed file reaches, and nothing else.

Compares what `make -n -W FILE` would compile with who includes FILE according to the text of the sources.
No source is touched. What is missing is built first.
"""
import os
import re
import subprocess
import sys

OUT = os.environ["OUT"]
HEADERS = [
    "src/base/array.h", "src/base/bytes.h", "src/base/fail.h", "src/base/opt.h", "src/model/record.h",
    "src/profile/profile.h", "src/commands/command.h", "formats/render/renderer.h", "unwind/row.h", "bpf/wire.h",
]
EVERYTHING = ("all", "report-half")		# every source of sources.mk
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
# What a table has for those alone who ask for it: bpf/kinds.def.
WISH = re.compile(r'^#ifdef (\w+)\n(.*?)^#endif', re.M | re.S)


def make(*args):
    # The make that runs this test must not hand its own settings down.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", "OUT=" + OUT, *args], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def listed_sources():
    lines = open("sources.mk").read().split("\n")
    return [w for line in lines if not line.startswith("#") for w in line.split() if w.endswith(".c")]


def included(path, seen, wishes=""):
    """Files that path includes, directly or not; generated ones are not in the tree and end the search."""
    text = open(path, encoding="utf-8", errors="replace").read()
    text = WISH.sub(lambda m: m.group(2) if f"#define {m.group(1)}\n" in wishes else "", text)
    for name in INCLUDE.findall(text):
        if name not in seen and os.path.exists(name):
            seen.add(name)
            included(name, seen, text)
    return seen


def compiled(output):
    return set(re.findall(r"-MMD -MP -c (\S+\.c) -o", output))


def main():
    bad = []
    built = make(*EVERYTHING)
    if built.returncode != 0:
        bad.append("it cannot be built: " + built.stdout[-2000:])
    first = make("-q", *EVERYTHING)
    if first.returncode != 0:
        bad.append("a second make is not content: " + make("-n", *EVERYTHING).stdout[:2000])

    skel_users = {s for s in listed_sources()
                  if "bpf/probee.skel.h" in open(s).read()}
    kernel_side = included("bpf/probee.bpf.c", set()) if os.path.exists("bpf/probee.bpf.c") else set()
    for header in filter(os.path.exists, HEADERS):
        want = {s for s in listed_sources() if header in included(s, set())}
        if header in kernel_side:
            want |= skel_users
        got = compiled(make("-n", "-W", header, *EVERYTHING).stdout)
        if got != want:
            bad.append(f"{header}: compiled without need: {sorted(got - want)}, "
                       f"not compiled: {sorted(want - got)}")

    one = "src/base/opt.c"
    got = compiled(make("-n", "-W", one, *EVERYTHING).stdout)
    if got != {one}:
        bad.append(f"{one}: compiled {sorted(got)}")

    # Other flags must not mix with the objects of these.
    everything = compiled(make("-n", "OPT=-O1", *EVERYTHING).stdout)
    if everything != set(listed_sources()):
        bad.append(f"OPT=-O1 would keep {sorted(set(listed_sources()) - everything)}")
    if make("-q", *EVERYTHING).returncode != first.returncode:
        bad.append("asking make what it would do changed something")

    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
