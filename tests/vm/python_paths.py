# SPDX-License-Identifier: GPL-2.0-or-later
"""python_paths.py TRACE SOURCE FILE [--none]: whether the stacks of python_path.py (SOURCE), which ran as FILE, are what its lines say:

  in the main thread, `<module>` calls a, a calls a three times, then b, c, and by C spin: each stack is that path or the outer part
  of it, all frames have the line that the next one is called in, and between c and spin, and nowhere else, are native frames;
  in the other thread, `thread` calls nap in each stack.

A stack may say that frames could not be read, but at most one in twenty does. With --none no stack may have a Python frame at all. Prints what was seen; exit 1 if it is anything else."""
import json
import os
import re
import subprocess
import sys

PATH = ["<module>", "a", "a", "a", "a", "b", "c", "spin"]
SLEEPER = ["thread", "nap"]
MARK = "[frames that could not be read]"
MIN_DEEP = 20           # different stacks in a row (the report puts equal ones together) of the main thread that reach spin
MIN_SLEEPING = 1


def lines_of(source):
    """({(caller, called): line}, the lines of spin) by the comments in it."""
    calls, spin, name = {}, set(), "<module>"
    for nr, line in enumerate(open(source), 1):
        if re.match(r"\S", line):
            d = re.match(r"def (\w+)", line)
            name = d.group(1) if d else "<module>"
        m = re.search(r"# calls (\w+)", line)
        if m:
            calls[name, m.group(1)] = nr
        if name == "spin" and line.strip() and not line.startswith("def"):
            spin.add(nr)
    return calls, spin


def stacks(trace):
    """Frames, outermost first, of each stack."""
    out = subprocess.run([os.environ["PROBEE"], "report", trace, "--speedscope", "--lines"], check=True, stdout=subprocess.PIPE).stdout
    d = json.loads(out)
    for p in d["profiles"]:
        for s in filter(None, p["samples"]):
            yield [d["shared"]["frames"][i] for i in s]


def is_python(frame):
    return frame.get("file", "").endswith(".py") or frame.get("file", "").startswith("<frozen")


def why_wrong(frames, file, calls, spin):
    """None: the stack is a path of the program."""
    at = [i for i, f in enumerate(frames) if is_python(f)]
    names = [re.sub(r":\d+$", "", frames[i]["name"]) for i in at]
    path = SLEEPER if names[0] == SLEEPER[0] else PATH
    if names != path[:len(names)]:
        return "not a path"
    if path is SLEEPER and names != SLEEPER:
        return "not all of the sleeper's"
    for k, (i, name) in enumerate(zip(at, names)):
        f, is_last = frames[i], k + 1 == len(at)
        if f["file"] != file:
            return "file of " + name
        if is_last and name in ("spin", "nap"):
            want = spin if name == "spin" else {calls["nap", "C"]}
        elif not is_last:
            want = {calls[name, names[k + 1]]}
            if (at[k + 1] - i > 1) != (names[k + 1] == "spin"):
                return "native frames behind " + name
        else:
            continue
        if f.get("line") not in want:
            return "line of %s: %s" % (name, f.get("line"))
    return None


def main(trace, source, file, *options):
    calls, spin = lines_of(source)
    seen = {"deep": 0, "sleeping": 0, "outer part": 0, "without": 0, "marked": 0}
    wrong = []
    for frames in stacks(trace):
        names = [re.sub(r":\d+$", "", f["name"]) for f in frames if is_python(f)]
        if not names:
            seen["without"] += 1
            continue
        if not options and any(f["name"] == MARK for f in frames):
            seen["marked"] += 1
            continue
        why = "a Python frame" if options else why_wrong(frames, file, calls, spin)
        if why:
            wrong.append((why, ["%s %s:%s" % (f["name"], f.get("file"), f.get("line")) for f in frames]))
        seen["deep" if names[-1] == "spin" else "sleeping" if names[-1] == "nap" else "outer part"] += 1
    print(", ".join("%s: %d" % kv for kv in seen.items()))
    for why, frames in wrong[:2]:
        print("%s: %s" % (why, ", ".join(frames)))
    few = seen["without"] < MIN_DEEP if options else seen["deep"] < MIN_DEEP or \
        ("snapshot" in trace and seen["sleeping"] < MIN_SLEEPING) or seen["without"] * 50 > sum(seen.values()) or \
        seen["marked"] * 20 > sum(seen.values())
    return 1 if wrong or few else 0


sys.exit(main(*sys.argv[1:]))
