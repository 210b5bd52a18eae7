# SPDX-License-Identifier: GPL-2.0-or-later
"""java_judge.py tree JAVA CLASSES SECONDS [OPTION...]: `probee sample` of a generated program whose stacks prove themselves. Each of
its methods is called in one place only, and its name says where: f01_L37 is called by f0_... in line 37. So names and lines of each
two neighbours must agree, from main() on; only the line of the innermost one is not checked. Stacks must reach the thread's start.

java_judge.py generate FOLDER: writes that program, Tree.java.

java_judge.py waits JAVA CLASSES JSTACK: `probee snapshot` of JavaWaits, whose threads wait in each way that Java has. The Java frames of
each thread must be those that jstack prints: method, file and line; and the innermost frame of all must be native code.

Prints what was compared, and the first stacks that differ; exit 1 if less than 99 % (tree) or not all (waits) are equal."""
import json
import os
import re
import subprocess
import sys
import time

PROBEE = os.environ["PROBEE"]


def generate(folder, depth=6, fan=2):
    out, todo = ["public class Tree {"], [("main_L0", "f", 0)]
    while todo:
        name, path, d = todo.pop(0)
        loop = "        for (int i = 0; i < n; i++) x += i * x % 7;"
        out += ["    static int %s(int n) {" % name, "        int x = n;", loop]
        for k in range(fan if d < depth else 0):
            child = "%s%d_L%d" % (path, k, len(out) + 1)
            out += ["        x += %s(n);" % child, loop]
            todo.append((child, path + str(k), d + 1))
        out += ["        return x;", "    }"]
    out += ["    public static void main(String[] a) {", "        System.out.println(\"ready \" + ProcessHandle.current().pid());",
            "        while (true) main_L0(60);", "    }", "}"]
    with open(os.path.join(folder, "Tree.java"), "w") as f:
        f.write("\n".join(out) + "\n")


def stacks(trace):
    """(name of the thread, frames from the innermost to the outermost) for each sample."""
    out = subprocess.run([PROBEE, "report", trace, "--speedscope", "--lines"], check=True, stdout=subprocess.PIPE).stdout
    d = json.loads(out)
    for p in d["profiles"]:
        for s in filter(None, p["samples"]):
            yield p["name"], [d["shared"]["frames"][i] for i in reversed(s)]


def is_java(frame):
    return frame.get("file", "").endswith(".java")


def name_of(frame):
    return re.sub(r":\d+$", "", frame["name"])


def path_error(frames):
    """What is wrong with a stack of Tree; None: nothing."""
    names = [name_of(f) for f in frames]
    java = [f for f in frames if f.get("file") == "Tree.java"]
    if not any(n in ("clone3", "clone", "__clone3", "__clone", "start_thread", "_start") for n in names[-2:]):
        return "does not reach the thread's start"
    if not java or name_of(java[-1]) != "Tree.main":
        return "does not begin with Tree.main"
    for inner, outer in zip(java, java[1:]):
        m = re.fullmatch(r"Tree\.(f?)(\d*)(?:main)?_L(\d+)", name_of(inner))
        if not m:
            return "%s is no method of the tree" % name_of(inner)
        if name_of(outer) == "Tree.main":
            if name_of(inner) != "Tree.main_L0":
                return "%s called by main" % name_of(inner)
            continue
        o = re.fullmatch(r"Tree\.(?:f(\d*)|main)_L\d+", name_of(outer))
        if not o or m.group(2)[:-1] != (o.group(1) or ""):
            return "%s called by %s" % (name_of(inner), name_of(outer))
        if outer.get("line") != int(m.group(3)):
            return "%s called in line %s" % (name_of(inner), outer.get("line"))
    return None


def tree(java, classes, seconds, *options):
    p = subprocess.Popen([java, *options, "-cp", classes, "Tree"], stdout=subprocess.PIPE)
    p.stdout.readline()
    subprocess.run([PROBEE, "sample", "-p", str(p.pid), "-F", "499", "-d", seconds, "-o", "tree.pbz"], check=True, stderr=subprocess.PIPE)
    p.kill()
    nr = good = shown = frames = early = 0
    for _, stack in stacks("tree.pbz"):
        # On a busy machine the table of libjvm.so, and what the JVM tells of itself, come some samples late.
        if not nr and not any(map(is_java, stack)):
            early += 1
            continue
        if not any(name_of(f) == "Tree.main" or f.get("file") == "Tree.java" or "call_helper" in f["name"] for f in stack):
            continue            # a thread of the JVM itself
        nr += 1
        frames += sum(map(is_java, stack))
        error = path_error(stack)
        good += not error
        if error and shown < 5:
            shown += 1
            print(error, [(f["name"], f.get("line")) for f in stack])
    print("%d samples, %d true paths (%.2f %%), %.1f Java frames each, %d before the first one" %
          (nr, good, 100 * good / max(nr, 1), frames / max(nr, 1), early))
    return nr >= 50 and good + 1 >= nr * .99        # of few samples one may be


def jstack_frames(text):
    """{name of the thread: [(method, file, line)]}, as jstack writes them."""
    threads, name = {}, None
    for line in text.splitlines():
        m = re.match(r'"([^"]*)" ', line)
        if m:
            name = m.group(1)
            threads[name] = []
        m = re.match(r"\s+at (?:[\w.$]+@[^/]*/|[\w.]+//)?(\S+)\(([^:)]*)(?::(\d+))?\)", line)
        if m and name:
            file = m.group(2).rsplit("/", 1)[-1]        # behind the module, java.base@17.0.15
            threads[name].append((m.group(1), "" if file in ("Native Method", "Unknown Source") else file, int(m.group(3) or 0)))
    return threads


def plain(method):
    """Names of hidden classes differ in how their address is written."""
    return re.sub(r"(\$\$Lambda)[^.]*(/0x[0-9a-f]+)?", r"\1", re.sub(r"/0x[0-9a-f]+(@[0-9a-f]+)?", "", method))


def same(own, true):
    return plain(own[0]) == plain(true[0]) and (not true[1] or own[1].rsplit("/", 1)[-1] == true[1]) and (not true[2] or own[2] == true[2])


def waits(java, classes, jstack):
    p = subprocess.Popen([java, "-cp", classes, "JavaWaits"], stdout=subprocess.PIPE)
    p.stdout.readline()
    time.sleep(.2)
    subprocess.run([PROBEE, "snapshot", "-p", str(p.pid), "-d", "1", "-o", "waits.pbz"], check=True, stderr=subprocess.PIPE)
    true = jstack_frames(subprocess.run([jstack, str(p.pid)], check=True, stdout=subprocess.PIPE).stdout.decode())
    p.kill()
    wanted, good, bad = {"sleeping", "parked", "waiting", "holding", "holdingLock", "polling", "accepting", "entering", "taking"}, set(), {}
    for thread, stack in stacks("waits.pbz"):
        name = re.sub(r".*: (.*) \(\d+\)", r"\1", thread)
        if name not in wanted:
            continue
        own = [(name_of(f), f.get("file", ""), f.get("line", 0)) for f in stack if "JavaWaits" in f["name"] or re.match(r"(java|jdk|sun)\.", f["name"])]
        ok = len(own) == len(true.get(name, [])) and all(map(same, own, true[name])) and not re.match(r"(java|jdk|sun)\.|JavaWaits", stack[0]["name"])
        good.add(name) if ok else bad.setdefault(name, (own, true.get(name)))
    for name in bad:
        print(name, "ours", bad[name][0], "jstack's", bad[name][1])
    text = subprocess.run([PROBEE, "report", "waits.pbz", "--waits", "--all-waits"], check=True, stdout=subprocess.PIPE).stdout.decode()
    for function, what in (("JavaWaits.enteringMonitor", "Java monitor"), ("JavaWaits.waitingForNotify", "Java notify"),
                           ("JavaWaits.parked", "Java lock or queue")):
        if not re.search(re.escape(function) + " +" + re.escape(what), text):
            bad[function] = None
            print("--waits does not say: %s waits for %s" % (function, what))
    print("%d of %d threads equal to jstack" % (len(good - set(bad)), len(wanted)), "missing:", *(wanted - good))
    return good == wanted and not bad


if __name__ == "__main__":
    what = {"tree": tree, "waits": waits, "generate": generate}[sys.argv[1]]
    sys.exit(0 if what(*sys.argv[2:]) in (True, None) else 1)
