# SPDX-License-Identifier: GPL-2.0-or-later
"""What the judges of interpreters' frames share."""
import os
import signal
import subprocess
import time

PROBEE = os.environ["PROBEE"]
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        after_name = f.read().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS


def wait_for_cpu(pid, until, recorder):
    while cpu_seconds(pid) < until and recorder.poll() is None:
        time.sleep(0.05)


def sample(pid, seconds, trace):
    """Samples a busy process while it has one second of CPU time, in which unwind tables are made, and then so many more. On a busy
    machine both take longer. Returns how long the first took, for --from: stacks from before may lack frames, and say so."""
    begin, began = cpu_seconds(pid), time.monotonic()
    recorder = subprocess.Popen([PROBEE, "sample", "-p", str(pid), "-F", "999", "-d", "100", "-o", trace], stderr=subprocess.DEVNULL)
    wait_for_cpu(pid, begin + 1, recorder)
    warm = time.monotonic() - began
    wait_for_cpu(pid, begin + 1 + seconds, recorder)
    recorder.send_signal(signal.SIGINT)
    if recorder.wait():
        raise SystemExit("probee sample exits with %d" % recorder.returncode)
    return "%.1fs" % warm
