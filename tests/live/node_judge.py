# SPDX-License-Identifier: GPL-2.0-or-later
"""node_judge.py NODE SECONDS [OPTION...]: `probee sample` of a JavaScript program that node runs with these options, and whose
stacks prove themselves. Each of its functions is called in one place only, and its name says where: f01_D_L37 is called by
f0_... in line 37; with M through Array.prototype.map, with G a getter, with C a constructor is between. So the names and lines
of each two neighbours must agree, also where one was inlined into the other; only the line of the innermost one is not told by
another, and must be one of the function's own.

Prints what was compared, and the first stacks that are wrong; exit 1 if too many are. LEAST=PERCENT: how many must be right;
HZ=N. Wrong names or lines are never fine; marks (frames that could not be read) and frames without a name count as not right."""
import json
import os
import re
import subprocess
import sys
import time

PROBEE = os.environ["PROBEE"]
LEAST = float(os.environ.get("LEAST", "99"))
HZ = os.environ.get("HZ", "999")
NAME = re.compile(r"(f\d*)_([DMGC])_L(\d+)$")
MARKS = ("[frames that could not be read]", "[inlined functions, if any]")


def make_tree(depth, fan):
    """Lines of the program; {name: (first line, last line)}."""
    out, ranges, todo = [], {}, [("f_D_L0", "f", 0)]
    while todo:
        name, path, d = todo.pop(0)
        way = NAME.match(name).group(2)
        first = len(out) + 1
        if way == "G":
            out += ["const o_%s = { get %s() {" % (path, name), "  const n = 40;"]
        elif way == "C":
            out += ["class %s { constructor(n) {" % name, "  this.x = 0;"]
        else:
            out += ["function %s(n) {" % name]
        out += ["  let x = 0;"]
        for k in range(fan if d < depth else 0):
            to = "DMDGDCD"[(k * 3 + len(path) * 2 + d) % 7]
            child = "%s%d_%s_L%d" % (path, k, to, len(out) + 1)
            out.append({"D": "  x += %s(n);" % child, "M": "  x += [n].map(%s)[0];" % child,
                        "G": "  x += o_%s%d.%s;" % (path, k, child), "C": "  x += new %s(n).x;" % child}[to])
            todo.append((child, path + str(k), d + 1))
        out += ["  for (let i = 0; i < n; i++)", "    x = (x * 31 + i) % 65521;"]
        out += {"G": ["  return x;", "} };"], "C": ["  this.x = x;", "} }"]}.get(way, ["  return x;", "}"])
        ranges[name] = (first, len(out))
    out += ["function top() {", "  for (;;)", "    f_D_L0(40);", "}", "top();"]
    return out, ranges


def plain(frame):
    return re.sub(r"(:\d+)?$", "", frame["name"])


def short(name):
    """V8 puts what a function is before the name of a getter."""
    return re.sub(r"^(get|set|new) ", "", name)


def why_wrong(frames, ranges):
    """frames from the outermost on. None: the stack is a path of the tree."""
    parent, seen = None, 0
    for f in frames:
        name = short(plain(f))
        if name in MARKS or name.startswith("[javascript") or name == "[jit]" or name.startswith("[v8"):
            return "unknown: %s" % name
        m = NAME.match(name)
        if not m:
            if seen and parent and name not in ("map", "(anonymous)") and f.get("file", "").endswith("judge_tree.js"):
                return "wrong: %s within the tree" % name
            continue
        path, way, line = m.group(1), m.group(2), int(m.group(3))
        if not f.get("file", "").endswith("judge_tree.js"):
            return "wrong: the file is %s" % f.get("file")
        if not parent and path != "f":
            return "wrong: it begins with %s" % name
        if parent:
            if path[:-1] != parent[0]:
                return "wrong: %s is called by %s" % (name, parent[1])
            if parent[2] is None:
                return "unknown: line of %s, which calls %s" % (parent[1], name)
            if parent[2] != line:
                return "wrong: %s is called in line %d, and not %s" % (name, line, parent[2])
        parent, seen = (path, name, f.get("line")), seen + 1
    if parent and parent[2] is not None and not ranges[parent[1]][0] <= parent[2] <= ranges[parent[1]][1]:
        return "wrong: line %d is not of %s" % (parent[2], parent[1])
    return None


def stacks(trace, *options):
    out = subprocess.run([PROBEE, "report", trace, "--speedscope", "--lines", *options], check=True, stdout=subprocess.PIPE).stdout
    d = json.loads(out)
    frames = d["shared"]["frames"]
    for p in d["profiles"]:
        weights = p.get("weights", [])
        for i, s in enumerate(p["samples"]):
            if s:
                yield p["name"], [frames[k] for k in s], weights[i]


def main():
    node, seconds, options = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    program, ranges = make_tree(int(os.environ.get("DEPTH", "6")), 2)
    with open("judge_tree.js", "w") as f:
        f.write("\n".join(program) + "\n")
    p = subprocess.Popen([node] + options + [os.path.abspath("judge_tree.js")])
    time.sleep(float(os.environ.get("BEFORE", "1.5")))
    try:
        subprocess.run([PROBEE, "sample", "-p", str(p.pid), "-F", HZ, "-d", str(seconds + 1), "-o", "judge.pbz"], check=True,
                       stderr=subprocess.DEVNULL)
    finally:
        p.kill()
        p.wait()
    nr = in_tree = js_frames = with_lines = innermost = 0
    bad = {"wrong": 0, "unknown": 0}
    said, begun = 0, False
    # In the first second unwind tables are made; stacks from before can be without frames of JavaScript, and say so.
    for name, frames, weight in stacks("judge.pbz", "--from", "1s"):
        if "tree" not in "%s" % name and not any(NAME.match(short(plain(f))) or plain(f) == "top" for f in frames) \
                and not any(plain(f) in MARKS for f in frames):
            continue                    # another thread, or V8's own work
        n = max(1, round(weight * float(HZ) / 1e9))
        nr += n
        tree = [f for f in frames if NAME.match(short(plain(f)))]
        in_tree += n * bool(tree)
        js_frames += n * len(tree)
        if tree:
            innermost += n
            with_lines += n * (tree[-1].get("line") is not None)
        # Until the tables of node are there, which may take long on a busy machine, no frames of JavaScript are.
        if not begun and not tree:
            nr -= n
            continue
        begun = True
        why = why_wrong(frames, ranges)
        if why:
            bad[why.split(":")[0]] += n
            said += 1
            if said <= int(os.environ.get("SAY", "4")):
                print("%s (%d)%s" % (why, n, ": " + " ".join("%s" % f["name"] for f in frames[-14:]) if "VERBOSE" in os.environ else ""))
    right = nr - bad["wrong"] - bad["unknown"]
    print("%d samples, %d true paths (%.2f %%), %d wrong, %d with unknown frames; %.1f frames of the tree each, %.1f %% of the "
          "innermost with a line" % (nr, right, 100 * right / max(nr, 1), bad["wrong"], bad["unknown"], js_frames / max(in_tree, 1),
                                     100 * with_lines / max(innermost, 1)))
    return nr < 30 or right < nr * LEAST / 100 or bad["wrong"] > nr * float(os.environ.get("WRONG", "0")) / 100


sys.exit(main())
