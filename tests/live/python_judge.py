# SPDX-License-Identifier: GPL-2.0-or-later
"""python_judge.py stopped PYTHON PROCESSES ROUNDS [OPTION...]: processes of python_mix.py (with these options) are stopped
somewhere, `probee snapshot` takes their stacks, and then one thread of each writes its own (faulthandler, in the handler of a
signal that it gets before anything else). All Python frames must be equal: function, file, line.

python_judge.py tree PYTHON SECONDS [perf]: `probee sample` of a running program whose stacks prove themselves. Each of its functions is
called in one place only, and its name says where: f01_L37 is called by f0_... in line 37; f01_C_L37 through a C function. So the
names and lines of each two neighbours must agree, and between them there must be native frames if and only if C is between;
with perf (PYTHON runs with -X perf) they always are, and each function has a trampoline, which must be no frame of its own.

Prints what was compared, and the first stacks that differ; exit 1 if any does."""
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import judging

HERE = os.path.dirname(os.path.abspath(__file__))
PROBEE = os.environ["PROBEE"]
LOOP = "_PyEval_EvalFrameDefault"


def is_python(frame):
    f = frame.get("file", "")
    return f.endswith(".py") or f.startswith("<") or f == "__init__"     # what 3.13 on calls __init__ through


def stacks(trace, *options):
    """(name of the thread, frames from the innermost to the outermost) for each sample."""
    out = subprocess.run([PROBEE, "report", trace, "--speedscope", "--native-loops", "--lines", *options], check=True, stdout=subprocess.PIPE).stdout
    d = json.loads(out)
    frames = d["shared"]["frames"]
    for p in d["profiles"]:
        for s in filter(None, p["samples"]):        # an empty one is time in which the thread did not run
            yield p["name"], without_trampolines([frames[i] for i in reversed(s)])


def without_trampolines(frames):
    """--native-loops shows the trampolines of -X perf, too: the function once more, without a line, right outside of it."""
    def is_trampoline(f, inner):
        return is_python(f) and "line" not in f and re.sub(r":\d+$", "", inner["name"]) == f["name"]
    return frames[:1] + [f for f, inner in zip(frames[1:], frames) if not is_trampoline(f, inner)]


def text(frames):
    """As faulthandler would write it."""
    lines = []
    for f in [f for f in frames if is_python(f)][:100]:
        name = re.sub(r":\d+$", "", f["name"]).rsplit(".", 1)[-1]
        lines.append('  File "%s", line %s in %s' % (f["file"], f.get("line", "???"), name))
    return "\n".join(lines).encode("ascii", "backslashreplace").decode()


def loop_is_empty(frames):
    """Whether the innermost loop has no frame yet: faulthandler of some versions fails there."""
    for i, f in enumerate(frames):
        if re.sub(r":\d+$", "", f["name"]) == LOOP:
            return i + 1 == len(frames) or not is_python(frames[i + 1])
    return False


def whole(t):
    last = t[:-1].rsplit("\n", 1)[-1]
    if t.count("\n  File ") >= 100 and t.endswith("\n"):     # 3.13 does not say that more follow
        return True
    return t.endswith("  ...\n") or t.endswith(" in _bootstrap\n") or t.endswith("<invalid frame>\n") or \
        (t.endswith(" in <module>\n") and "\"<made" not in last)


def truth(fd):
    t, end = "", time.monotonic() + 5
    while not whole(t) and time.monotonic() < end:
        if select.select([fd], [], [], 0.2)[0]:
            t += os.read(fd, 65536).decode("ascii", "replace")
    return t


class Targets:
    def __init__(self, python, nr, options):
        pipes = [os.pipe() for _ in range(nr)]
        for r, w in pipes:
            os.set_inheritable(w, True)
        fds = ",".join("%d" % w for r, w in pipes)
        self.p = subprocess.Popen([python, "-B", os.path.join(HERE, "../workloads/python_mix.py"), "2", "--fd", fds] + options,
                                  close_fds=False, stdout=subprocess.PIPE, start_new_session=True)
        for r, w in pipes:
            os.close(w)
        try:
            self.meet(pipes)
        except BaseException:
            self.end()
            raise

    def meet(self, pipes):
        pids = [int(self.p.stdout.readline().split()[1]) for _ in pipes]
        self.fds = {}
        # All have inherited all pipes. Each writes into one: into which, it is asked.
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
            ready = []
            end = time.monotonic() + 20
            while not ready and time.monotonic() < end:
                ready = select.select([r for r, w in pipes], [], [], 0.2)[0]
            self.fds[pid] = ready[0]
            truth(ready[0])

    def end(self):
        os.killpg(self.p.pid, signal.SIGCONT)
        os.killpg(self.p.pid, signal.SIGKILL)
        self.p.wait()


def wait_stopped(pid):
    while not all(open("/proc/%d/task/%s/stat" % (pid, t)).read().rsplit(")", 1)[1].split()[0] in "TZX"
                  for t in os.listdir("/proc/%d/task" % pid)):
        time.sleep(0.001)


def stopped(python, processes, rounds, options):
    count = dict.fromkeys(["stacks", "equal", "left_out", "frames"], 0)
    t = Targets(python, processes, options)
    try:
        for n in range(rounds):
            time.sleep(0.05 + n % 7 * 0.013)
            for pid in t.fds:
                os.kill(pid, signal.SIGSTOP)
            for pid in t.fds:
                wait_stopped(pid)
            subprocess.run([PROBEE, "snapshot", "-i", "1", "-p", ",".join(map(str, t.fds)), "-o", "judge.pbz"], check=True,
                           stderr=subprocess.DEVNULL)
            seen = {int(re.search(r"\((\d+)\)$", name).group(1)): frames for name, frames in stacks("judge.pbz")}
            for k, (pid, fd) in enumerate(t.fds.items()):
                tids = sorted(map(int, os.listdir("/proc/%d/task" % pid)))
                tid = tids[(n + k) % len(tids)]
                frames = seen.get(tid, [])
                if loop_is_empty(frames):
                    count["left_out"] += 1
                    os.kill(pid, signal.SIGCONT)
                    continue
                signal_thread(pid, tid)
                os.kill(pid, signal.SIGCONT)
                judge(count, truth(fd), frames, tid)
    finally:
        t.end()
    print("%d stacks of stopped threads, %d equal (%.2f %%), %d frames, %d left out" %
          (count["stacks"], count["equal"], 100 * count["equal"] / max(count["stacks"], 1), count["frames"], count["left_out"]))
    return count["stacks"] < processes * rounds / 2 or count["equal"] < count["stacks"] * 0.995


def signal_thread(pid, tid):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall({"x86_64": 234, "aarch64": 131}[os.uname().machine], pid, tid, int(signal.SIGUSR1))


def judge(count, said, frames, tid):
    # There are instants at which the judge itself has no name for a frame, or an incomplete one.
    if "first):\n" not in said or re.search(r"<invalid frame>|in <interpreter trampoline>|  File \?\?\?| in (\?\?\?)?$", said, re.M):
        count["left_out"] += 1
        return
    want = said.split("first):\n", 1)[1].replace("  ...\n", "").rstrip("\n")
    got = text(frames)
    count["stacks"] += 1
    count["frames"] += got.count("\n") + 1
    # Instructions that belong to no line of the source (0 is none) are shown with the first line of their function.
    a, b = re.sub(r", line 0 in ", ", line ??? in ", want).split("\n"), got.split("\n")
    if len(a) == len(b) and all(x == y or x == re.sub(r"line \d+ in ", "line ??? in ", y) for x, y in zip(a, b)):
        count["equal"] += 1
    elif count["stacks"] - count["equal"] <= 3:
        k = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        print("thread %d, frame %d of %d and %d: the judge says %s, probee says %s" %
              (tid, k, len(a), len(b), a[k:k + 1], b[k:k + 1]))


def make_tree(depth, fan):
    """Functions f, f0, f01, ...; each is called from one line."""
    out, todo = ["import sys", "sys.setrecursionlimit(5000)"], [("f_D_L0", "f", 0)]
    while todo:
        name, path, d = todo.pop(0)
        out += ["def %s(n):" % name, "    x = 0"]
        for k in range(fan if d < depth else 0):
            way = "DC"[(k + len(path)) % 2]
            child = "%s%d_%s_L%d" % (path, k, way, len(out) + 1)
            out.append("    x += %s(n)" % child if way == "D" else "    x += sum(map(%s, (n,)))" % child)
            todo.append((child, path + str(k), d + 1))
        out += ["    for i in range(n):", "        x = (x * 31 + i) % 65521", "    return x"]
    out += ["def top():", "    while True:", "        f_D_L0(30)", "top()"]
    return "\n".join(out) + "\n"


def loops_without_frames(frames):
    """How many of the interpreter's loops have no Python frame; the innermost may have none."""
    names = [re.sub(r":\d+$", "", f["name"]) for f in frames]
    loops = [i for i, n in enumerate(names) if n == LOOP]
    return sum(i + 1 == len(frames) or not is_python(frames[i + 1]) for i in loops[1:])


def why_wrong(frames, is_native_between):
    """None: the stack is a path of the tree. Else what is wrong."""
    # What is further out is no part of the tree. (It has no frames where another interpreter of the thread has called this one.)
    tops = [i for i, f in enumerate(frames) if re.sub(r":\d+$", "", f["name"]) == "top"]
    frames = frames[:tops[0] + 1] if tops else frames
    if loops_without_frames(frames):
        return "%d loops have no frames" % loops_without_frames(frames)
    child, line, native_between, nr = None, None, 0, 0
    for f in frames:
        name = re.sub(r":\d+$", "", f["name"])
        if not is_python(f):
            native_between += name != LOOP and child is not None
            continue
        if name == "top":
            return None if child is None or child == "f" else "%s under top" % child
        if name == "<module>":
            return None if child is None else "%s under <module>" % child
        m = re.match(r"(f\d*)_([DC])_L(\d+)$", name)
        if not m:
            return "an unknown function %s" % name
        if child is not None:
            if m.group(1) != child[:-1]:
                return "%s is called by %s" % (child, name)
            if f.get("line") != line:
                return "%s is called in line %s, and not %s" % (child, line, f.get("line"))
            if (way == "C" or is_native_between) != (native_between > 0):
                return "%d native frames between %s and %s" % (native_between, child, name)
        child, way, line, native_between = m.group(1), m.group(2), int(m.group(3)), 0
        nr += 1
    return "it ends at %s" % child if child else None


def tree(python, seconds, with_perf):
    minor = int(subprocess.check_output([python, "-S", "-c", "import sys; print(sys.version_info[1])"]))
    with open("judge_tree.py", "w") as f:
        f.write(make_tree(9, 2))
    p = subprocess.Popen([python, "-B", os.path.abspath("judge_tree.py")])
    time.sleep(1.5)
    try:
        warm = judging.sample(p.pid, seconds, "judge.pbz")
    finally:
        p.kill()
        p.wait()
    nr = wrong = python_frames = without = 0
    for name, frames in stacks("judge.pbz", "--from", warm):
        nr += 1
        python_frames += sum(map(is_python, frames))
        without += not any(map(is_python, frames))
        why = why_wrong(frames, minor < 11 or with_perf)
        if why:
            wrong += 1
            if wrong <= 3:
                print("%s: %s" % (why, " ".join("%s" % f["name"] for f in frames)) if "VERBOSE" in os.environ else why)
    print("%d samples, %d true paths (%.2f %%), %.1f Python frames each, %d without any" %
          (nr, nr - wrong, 100 * (nr - wrong) / max(nr, 1), python_frames / max(nr, 1), without))
    doubled = with_perf and doubles("judge.pbz")
    return nr < 40 or wrong > nr * 0.005 or without > nr * 0.01 or doubled > nr * 0.01


def doubles(trace):
    """Samples that show a function of the tree twice: none is recursive."""
    out = subprocess.run([PROBEE, "report", trace, "--collapse", "-q"], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [line.rsplit(" ", 1) for line in out.splitlines()]
    found = [(s, int(n)) for s, n in lines for names in [re.findall(r"f\d*_[DC]_L\d+|top", s)] if len(names) != len(set(names))]
    print("%d of them show a function twice" % sum(n for s, n in found))
    return sum(n for s, n in found)


if sys.argv[1] == "stopped":
    sys.exit(stopped(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]))
sys.exit(tree(sys.argv[2], float(sys.argv[3]), sys.argv[4:] == ["perf"]))
