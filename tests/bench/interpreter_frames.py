#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""interpreter_frames.py PROBEE CPU DEPTH COMMAND...: the time that `probee sample` takes for one stack, in ns, of a program that COMMAND DEPTH
starts, which spins DEPTH calls deep on CPU. Ticks that others get there take IDLE_NS each, which is left out."""
import os
import re
import subprocess
import sys
import time

IDLE_NS = 350
PERF_EVENT = 7


def ran(pid):
    """ns and runs of the sampler's programs."""
    ns = runs = 0
    for fd in os.listdir("/proc/%d/fdinfo" % pid):
        try:
            text = open("/proc/%d/fdinfo/%s" % (pid, fd)).read()
        except OSError:
            continue
        if re.search(r"prog_type:\s*%d\n" % PERF_EVENT, text):
            ns += int(re.search(r"run_time_ns:\s*(\d+)", text).group(1))
            runs += int(re.search(r"run_cnt:\s*(\d+)", text).group(1))
    return ns, runs


probee, cpu, depth, command = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
target = subprocess.Popen(command + [depth])
try:
    time.sleep(1)
    for tid in os.listdir("/proc/%d/task" % target.pid):
        os.sched_setaffinity(int(tid), {cpu})
    tool = subprocess.Popen([probee, "sample", "-U", "-C", str(cpu), "-F", "3999", "-e", "cpu-clock", "-p", str(target.pid), "-d", "4",
                             "-o", "frames.pbz", "--force"], stderr=subprocess.PIPE, text=True)
    seen = (0, 0)
    while tool.poll() is None:
        try:
            seen = max(seen, ran(tool.pid))
        except OSError:
            break
        time.sleep(0.05)
    samples = int(re.search(r"(\d+) samples of", tool.communicate()[1]).group(1))
finally:
    target.kill()
    target.wait()
ns, runs = seen
if not ns or not samples:
    sys.exit("no time was counted: is kernel.bpf_stats_enabled on?")
print(round((ns - max(runs - samples, 0) * IDLE_NS) / max(min(samples, runs), 1)))
