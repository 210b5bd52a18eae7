# SPDX-License-Identifier: GPL-2.0-or-later
"""ruby_judge.py tree RUBY SECONDS [OPTION...]: `probee sample` of a running program whose stacks prove themselves. Each of its functions is called
in one place only, and its name says where: f01_D_L37 is called by f0_... in line 37, f01_C_L37 by a block there that Array#each
calls, f01_M_L37 by method_missing. So the names and lines of each two neighbours must agree, and there must be native frames between
a block and Array#each, and nowhere else.

ruby_judge.py waits RUBY [OPTION...]: threads that wait in many ways (tests/workloads/ruby_waits.rb). `probee snapshot` takes their
stacks, and these must be what Thread#backtrace_locations says of the same threads: function, file and line of all frames.

ruby_judge.py made RUBY SECONDS: code that is made and freed all the time. Its name, file and line have the same number, so a name that is
that of other code shows. Code that was gone before it was read has no name; never another one.

Prints what was compared, and the first stacks that differ; exit 1 if too many do, or any name is wrong."""
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import judging

PROBEE = os.environ["PROBEE"]
LOOP = "rb_vm_exec"
is_compiled = "--yjit" in sys.argv
# Parts of the loop that run compiled code.
OF_LOOP = ("vm_exec_core", "vm_exec_loop", "vm_sendish", "mjit_exec", "jit_exec", "jit_exec_exception")


def bare(frame):
    return re.sub(r":\d+$", "", frame["name"])


def is_ruby(frame):
    f = frame.get("file", "")
    return f.endswith(".rb") or f.startswith("[ruby ") or f.startswith("(eval") or f.startswith("<internal:")


def stacks(trace, *options):
    """(name of the thread, frames from the innermost to the outermost) for each sample."""
    out = subprocess.run([PROBEE, "report", trace, "--speedscope", "--native-loops", "--lines", *options], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    d = json.loads(out)
    frames = d["shared"]["frames"]
    for p in d["profiles"]:
        for s in filter(None, p["samples"]):        # an empty one is time in which the thread did not run
            yield p["name"], [frames[i] for i in reversed(s)]


def make_tree(depth, fan):
    """Functions f, f0, f01, ...; each is called from one line."""
    out, todo = ["def method_missing(name, *a); name[0, 8] == 'missing_' ? send(name[8..-1], *a) : super; end"], [("f_D_L0", "f", 0)]
    while todo:
        name, path, d = todo.pop(0)
        out += ["def %s(n)" % name, "  x = 0"]
        for k in range(fan if d < depth else 0):
            way = "DCMC"[(k + len(path)) % 4]
            child = "%s%d_%s_L%d" % (path, k, way, len(out) + 1)
            out.append({"D": "  x += %s(n)", "C": "  [n].each { |v| x += %s(v) }", "M": "  x += missing_%s(n)"}[way] % child)
            todo.append((child, path + str(k), d + 1))
        out += ["  i = 0", "  while i < n", "    x = (x * 31 + i) % 65521; i += 1", "  end", "  x", "end"]
    return "\n".join(out + ["def top; while true", "  f_D_L0(30)", "end; end", "top"]) + "\n"


def loops_without_frames(frames):
    """How many of the interpreter's loops have no frame of Ruby; the innermost may have none. Those of compiled code are in front of the
    loop that has called it, through one or two of its own functions."""
    loops = [i for i, f in enumerate(frames) if bare(f) == LOOP]
    return sum(not (is_compiled and any(map(is_ruby, frames[i - 3:i]))) and (i + 1 == len(frames) or not is_ruby(frames[i + 1])) for i in loops[1:])


def what_is_called(name):
    m = re.match(r"(?:Object#)?(f\d*)_([DCM])_L(\d+)$", name)
    return m and (m.group(1), m.group(2), int(m.group(3)))


def why_wrong(frames):
    """None: the stack is a path of the tree. Else what is wrong: its place, or a name."""
    frames = [f for f in frames if not is_compiled or bare(f) not in OF_LOOP]
    if loops_without_frames(frames):
        return "%d loops have no frames" % loops_without_frames(frames)
    child = way = line = None
    native, between = 0, []             # since the last frame of Ruby, and frames since the child
    for f in frames:
        if not is_ruby(f):
            native += bare(f) != LOOP
            continue
        name = bare(f)
        if name in ("Object#top", "top"):
            return None if child in (None, "f") else "%s under top" % child
        if name == "<main>":
            return None if child is None else "%s under <main>" % child
        here = what_is_called(name)
        if here and child:
            got = [n for n, _, _ in between]
            block = [g for g in got if g.startswith("block in ")]
            want = {"D": [], "C": block + ["Array#each"],
                    "M": got if got and got[-1].endswith("method_missing") else None}[way]
            if here[0] != child[:-1]:
                return "%s is called by %s" % (child, name)
            if f.get("line") != line:
                return "%s is called in line %s, and not %s" % (child, line, f.get("line"))
            if got != want:
                return "%s between %s and %s" % (got, child, name)
            if way == "C" and (between[0][0] != "block in " + name.split("#")[-1] or between[0][1] != line):
                return "%s:%s calls %s" % (between[0][0], between[0][1], child)
            if is_compiled:         # Array#each may be Ruby's own code then, or not; compiled code calls without a native frame
                native = 0
            elif way == "C" and (between[0][2] or not between[1][2] or native):
                return "native frames around the block that calls %s: %s" % (child, [n for _, _, n in between] + [native])
            elif way != "C" and native + sum(n for _, _, n in between):
                return "native frames between %s and %s" % (child, name)
        if here:
            (child, way, line), between = here, []
        else:
            between.append((name, f.get("line"), native))
        native = 0
    return "it ends at %s" % child if child else None


def is_name_wrong(why):
    return " is called " in why or " calls " in why or " under " in why


def tree(ruby, seconds, options):
    with open("judge_tree.rb", "w") as f:
        f.write(make_tree(7, 3))
    p = subprocess.Popen([ruby, *options, os.path.abspath("judge_tree.rb")])
    time.sleep(2)
    try:
        warm = judging.sample(p.pid, seconds, "judge.pbz")
    finally:
        p.kill()
        p.wait()
    nr = wrong = ruby_frames = without = names = nameless = 0
    for _, frames in stacks("judge.pbz", "--from", warm):
        nr += 1
        ruby_frames += sum(map(is_ruby, frames))
        without += not any(map(is_ruby, frames))
        if any(bare(f).startswith("[ruby ") for f in frames):
            nameless += 1     # a busy recorder had no time to read the name: that is no wrong one
            continue
        why = why_wrong(frames)
        if why:
            wrong += 1
            names += is_name_wrong(why)
            if wrong <= 5:
                print("%s: %s" % (why, " ".join(f["name"] for f in frames)) if "VERBOSE" in os.environ else why)
    print("%d samples, %d true paths (%.2f %%), %d wrong names or lines, %d nameless, %.1f frames of Ruby each, %d without any" %
          (nr, nr - wrong, 100 * (nr - wrong) / max(nr, 1), names, nameless, ruby_frames / max(nr, 1), without))
    return nr < 40 or wrong > nr * 0.01 or without > nr * 0.01 or names or nr - nameless < 40


def judged(out):
    """What the program says: thread -> [(label, file, line)]."""
    said = {}
    for row in iter(out.readline, "end\n"):
        thread, label, path, line = row.rstrip("\n").split("\t")
        # Under an Enumerator's fiber are methods in C which no loop has called, and which therefore stand nowhere among native frames.
        if int(line):
            said.setdefault(thread, []).append((label, path, int(line)))
    return said


def as_judged(frames):
    """The same of the frames that were seen: a method in C has the place of its caller."""
    seen, place = [], (None, None)
    for f in reversed([f for f in frames if is_ruby(f) or "line" in f and f["file"] in ("made.rb", "other.rb")]):
        name = bare(f)
        if "line" in f:
            place = (f["file"], f["line"])
        seen.append((name,) + place)
    return seen[::-1]


IN_CODE = ("block ", "rescue ", "ensure ", "<")


def without_class(label):
    """'block in Base#over', 'Base.over': what is behind the class."""
    if label.startswith("<"):
        return label
    where = re.match(r"((?:block|rescue|ensure)\b.* in )(.*)$", label)
    return (where.group(1) if where else "") + re.split(r"[#.](?=[^#.]+$)", where.group(2) if where else label)[-1]


def without_rescue(frames):
    """Since 3.4 Ruby does not say frames of rescue and ensure: the frame around them is where they are."""
    out, line = [], None
    for name, path, at in frames:
        if name.startswith(("rescue in ", "ensure in ")):
            line = line or at
            continue
        out.append((name, path, line or at))
        line = None
    return out


def are_equal(want, got):
    """Whether these are the frames that Ruby says. It says classes since 3.4; in frames they are those of methods only."""
    if len(want) != len(got):
        return False
    if is_compiled and got and without_class(want[0][0]) == without_class(got[0][0]):
        want, got = want[1:], got[1:]       # compiled code need not have stored its line
    return all(w[1:] == g[1:] and without_class(w[0]) == without_class(g[0]) and
               (w[0].startswith(IN_CODE) or w[0] == without_class(w[0]) or w[0] == g[0]) for w, g in zip(want, got))


def waits(ruby, options):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../workloads/ruby_waits.rb")
    p = subprocess.Popen([ruby, "-W0", *options, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if p.stdout.readline() != "ready\n":
            return print("the program did not begin") or 1
        subprocess.run([PROBEE, "snapshot", "-i", "1", "-p", str(p.pid), "-o", "waits.pbz"], check=True, stderr=subprocess.DEVNULL)
        p.stdin.write("x\n")
        p.stdin.flush()
        said = judged(p.stdout)
    finally:
        p.kill()
        p.wait()
    seen = {re.sub(r"^.*: | \(\d+\)$", "", name): as_judged(frames) for name, frames in stacks("waits.pbz")}
    different = 0
    for thread, want in said.items():
        got = seen.get(thread[:15], [])
        if len(want) < len(got):
            got = without_rescue(got)
        if are_equal(want, got):
            continue
        different += 1
        k = next((i for i, (a, b) in enumerate(zip(want, got)) if not are_equal([a], [b])), min(len(want), len(got)))
        if different > 5:
            continue
        print("%s, frame %d of %d and %d: Ruby says %s, probee says %s" % (thread, k, len(want), len(got), want[k:k + 2], got[k:k + 2]))
    print("%d threads, %d equal, %d frames" % (len(said), len(said) - different, sum(map(len, said.values()))))
    return different or len(said) < 40


MADE = """
k = 0
while true
  k += 1
  at = (k % 9) * 7
  eval("\\n" * at + "def made_#{k}(n)\\n  n.times { |x| [x].each { |y| y.hash } }\\nend", TOPLEVEL_BINDING, "made_#{k}.rb", 1000 * k)
  send("made_#{k}", 200)
  Object.send(:undef_method, "made_#{k}")
  GC.start if k % 50 == 0
end
"""


def made(ruby, seconds):
    with open("judge_made.rb", "w") as f:
        f.write(MADE)
    p = subprocess.Popen([ruby, "-W0", os.path.abspath("judge_made.rb")])
    time.sleep(1)
    try:
        subprocess.run([PROBEE, "sample", "-p", str(p.pid), "-F", "999", "-d", str(seconds), "-o", "made.pbz"], check=True,
                       stderr=subprocess.DEVNULL)
    finally:
        p.kill()
        p.wait()
    named = gone = wrong = 0
    for _, frames in stacks("made.pbz", "--from", "1s"):
        for f in frames:
            m = re.match(r"made_(\d+)\.rb$", f.get("file", ""))
            gone += bare(f).startswith("[ruby ")
            if not m:
                continue
            named += 1
            k, first = int(m.group(1)), 1000 * int(m.group(1)) + int(m.group(1)) % 9 * 7
            name = re.search(r"(made_\d+|^<main>)$", bare(f))
            if not name or name.group(1) not in ("made_%d" % k, "<main>") or f.get("line", first) not in range(first, first + 3):
                wrong += 1
                if wrong <= 5:
                    print("%s has the name %s" % (f["file"], f["name"]))
    print("%d frames of made code with names, %d of them wrong, %d frames of code that was gone" % (named, wrong, gone))
    return wrong or named + gone < 40


if sys.argv[1] == "made":
    sys.exit(bool(made(sys.argv[2], float(sys.argv[3]))))
if sys.argv[1] == "waits":
    sys.exit(bool(waits(sys.argv[2], sys.argv[3:])))
if sys.argv[1] == "tree":
    sys.exit(bool(tree(sys.argv[2], float(sys.argv[3]), sys.argv[4:])))
