# SPDX-License-Identifier: GPL-2.0-or-later
# soak.py SECONDS EACH COMMAND...: runs a terminal view in a terminal that nobody looks at, and writes all EACH seconds what its
# processes take, all of them together (PSS, so shared pages count once) and the view alone. At the end: most_mib, view_mib, and
# growth_percent, the most of the second half against the most of the first.
import os, pty, re, sys, threading, time

from terminal_times import below


def pss_mib(pid):
    try:
        text = open("/proc/%d/smaps_rollup" % pid).read()
    except OSError:
        return 0.0                      # it has ended since
    found = re.search(r"^Pss: +(\d+)", text, re.M)
    return int(found.group(1)) / 1024 if found else 0.0


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def main(seconds, each, command):
    child, fd = pty.fork()
    if not child:
        os.environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        os.execvp(command[0], command)
    threading.Thread(target=drain, args=(fd,), daemon=True).start()
    began, rows = time.monotonic(), []
    while time.monotonic() - began < seconds:
        time.sleep(each)
        rows.append((sum(map(pss_mib, [child] + below(child))), pss_mib(child)))
        print("# %6.0f s: all %6.1f MiB, the view %5.1f" % ((time.monotonic() - began,) + rows[-1]), flush=True)
        if os.waitpid(child, os.WNOHANG)[0]:
            raise SystemExit("it has ended")
    os.write(fd, b"q")
    os.waitpid(child, 0)
    half = len(rows) // 2
    first, second = (max(r[0] for r in part) for part in (rows[:half], rows[half:]))
    print("most_mib %.1f" % max(first, second))
    print("view_mib %.1f" % max(r[1] for r in rows))
    print("growth_percent %.2f" % (100 * (second - first) / first))


main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
