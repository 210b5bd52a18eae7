# SPDX-License-Identifier: GPL-2.0-or-later
"""slow_down.py WORK SECONDS [COMMAND...]: what a piece of work costs while the command runs. WORK is the program fixed_work; PID in
the command is its number. Prints "quarter NS" (the lower quartile: what a sample itself costs) and "mean NS" (with all that the tool
and others do to caches, meanwhile)."""
import signal
import subprocess
import sys
import time

SETTLE_S = 2.5


def pieces(out, seconds):
    end, all_of_them = time.monotonic() + seconds, []
    while time.monotonic() < end:
        all_of_them.append(float(out.readline()))
    return sorted(all_of_them)


def main():
    work, seconds, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    with subprocess.Popen([work, "1"], stdout=subprocess.PIPE, text=True) as worker:
        pid = worker.stdout.readline().strip()
        tool = None
        if command:
            tool = subprocess.Popen([w.replace("PID", pid) for w in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pieces(worker.stdout, SETTLE_S)
        took = pieces(worker.stdout, seconds)
        if tool and tool.poll() is not None:
            sys.exit(f"{command[0]} ended: {tool.returncode}")
        if tool:
            tool.send_signal(signal.SIGINT)
            tool.wait()
        worker.kill()
    print(f"quarter {took[len(took) // 4] * 1e9:.0f}")
    print(f"mean {sum(took) / len(took) * 1e9:.0f}")


main()
