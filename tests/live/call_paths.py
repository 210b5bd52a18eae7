# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose stacks prove themselves, and the judge of their stacks. Each function of a program is called in one place only, and its
name says where: f01_D_L37 is called by f0_... in line 37; the letter says how. So the names and lines of each two neighbours must
agree, up to the script, and between them there must be native frames if and only if C is between.

Code that lives for a moment only may be gone when its name is looked for; then it must be unnamed, and is counted."""
import collections
import json
import os
import re
import subprocess
import sys
import time

import judging

PROBEE = os.environ["PROBEE"]
GONE = "(gone)"
# title: "[title" begins names that are missing; loop: the native one; ways: by letter: code, functions between, whether C is between;
# fleeting: names of what may be gone; others: names of functions without a file; shown: a name as it is in ways;
# make: (depth, fan, sleeps) to the text of the program; suffix: of its file.
Language = collections.namedtuple("Language", "title loop ways fleeting others shown make suffix")


def stacks(trace, *options):
    """Frames from the innermost to the outermost for each sample."""
    out = subprocess.run([PROBEE, "report", trace, "--speedscope", "--native-loops", "--lines", *options], check=True, stdout=subprocess.PIPE).stdout
    d = json.loads(out)
    frames = d["shared"]["frames"]
    for p in d["profiles"]:
        for s in filter(None, p["samples"]):
            yield [frames[i] for i in reversed(s)]


def make_tree(ways, depth, fan, begin, body, leaf, sleeping_leaf, end):
    """The text of a program. body: the first lines of a function, with %s for its name, and its last one."""
    out, todo = list(begin), [("f_D_L0", "f", 0)]
    while todo:
        name, path, d = todo.pop(0)
        out += (body[0] % name).split("\n")
        for k in range(fan if d < depth else 0):
            way = list(ways)[(k * 3 + d + sum(map(int, path[1:]))) % len(ways)]
            child = "%s%d_%s_L%d" % (path, k, way, len(out) + 1)
            code = ways[way][0]
            out.append("    " + (code(child) if callable(code) else code % child))
            todo.append((child, path + str(k), d + 1))
        out += [sleeping_leaf if sleeping_leaf and d == depth else leaf, body[1]]
    return "\n".join(out + end) + "\n"


def name_of(lang, frame):
    n = re.sub(r":\d+$", "", frame["name"])
    return GONE if n.startswith("[%s " % lang.title) else lang.shown(n)


def is_own(lang, frame, name):
    f = frame.get("file", "")
    return f.endswith(lang.suffix) or "eval" in f or name in lang.others or name == GONE


def are_between(lang, names, expect):
    return len(names) == len(expect) and all(a == b or (a == GONE and b in lang.fleeting) for a, b in zip(names, expect))


def why_wrong(lang, frames):
    """None: the stack is a path of the tree. Else what is wrong."""
    child, line, way, between, native = None, None, None, [], 0
    for f in frames:
        name = name_of(lang, f)
        if not is_own(lang, f, name):
            native += name != lang.loop and child is not None
            continue
        m = re.match(r"(f\d*)_([A-Z])_L(\d+)$", name)
        if not m and name != "{main}":
            between.append(name)
            continue
        if child is not None:
            expect = lang.ways[way][1]
            if not are_between(lang, between, expect):
                return "%s is between %s and %s" % (between, child, name)
            if name == "{main}":
                return None if child == "f" else "%s under {main}" % child
            if m.group(1) != child[:-1]:
                return "%s is called by %s" % (child, name)
            if f.get("line") != line:
                return "%s is called in line %s, and not %s" % (child, line, f.get("line"))
            if lang.ways[way][2] != (native > 0):
                return "%d native frames between %s and %s" % (native, child, name)
        if name == "{main}":
            return None
        child, way, line, between, native = m.group(1), m.group(2), int(m.group(3)), [], 0
    return "it ends at %s" % child if child else "no frame of its own"


def take(lang, program, seconds, sleeps):
    """Records; how long it took until tables were there. A program that runs is sampled for so many seconds of CPU time."""
    path = os.path.abspath("judge_tree" + lang.suffix)
    with open(path, "w") as f:
        f.write(lang.make(int(os.environ.get("DEPTH", "6")), int(os.environ.get("FAN", "3")), sleeps))
    p = subprocess.Popen([program, path], stdout=subprocess.DEVNULL)
    time.sleep(1)
    try:
        if not sleeps:
            return judging.sample(p.pid, seconds, "judge.pbz")
        subprocess.run([PROBEE, "snapshot", "-F", "100", "-d", str(seconds), "-p", str(p.pid), "-o", "judge.pbz"], check=True,
                       stderr=subprocess.DEVNULL)
        return "1s"
    finally:
        p.kill()
        p.wait()


def judge(lang, program, seconds, sleeps):
    """Prints what was compared, and the first stacks that are wrong. 1 if too many are."""
    warm = take(lang, program, seconds, sleeps)
    nr = wrong = own_frames = without = gone = 0
    # At first unwind tables are made; stacks from before can be without own frames, and say so.
    for frames in stacks("judge.pbz", "--from", warm):
        nr += 1
        own = sum(is_own(lang, f, name_of(lang, f)) for f in frames)
        own_frames += own
        without += not own
        gone += sum(name_of(lang, f) == GONE for f in frames)
        why = why_wrong(lang, frames)
        if why:
            wrong += 1
            if wrong <= 5:
                print("%s: %s" % (why, " ".join("%s" % f["name"] for f in frames)) if "VERBOSE" in os.environ else why)
    print("%d samples, %d true paths (%.2f %%), %.1f own frames each, %d without any, %d frames of code that was gone" %
          (nr, nr - wrong, 100 * (nr - wrong) / max(nr, 1), own_frames / max(nr, 1), without, gone))
    # Contexts are not on the C stack: where one has just begun or ended, all are one loop too far in or out.
    return nr < 50 or wrong > 3 + nr * 0.01


def main(lang):
    return judge(lang, sys.argv[1], float(sys.argv[2]), sys.argv[3:] == ["sleep"])
