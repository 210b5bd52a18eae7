# SPDX-License-Identifier: GPL-2.0-or-later
# terminal_times.py first COMMAND...		first_ms: until a picture with samples is on the terminal
# terminal_times.py cpu SECONDS COMMAND...	cpu_percent of all its processes, view_percent of the first one
# terminal_times.py beside SECONDS COMMAND... -- COMMAND...	percent_1, percent_2: CPU time of both in the same seconds
# terminal_times.py keys COMMAND...		key_ms, worst_ms: from a key to the end of what it draws
# terminal_times.py moves COMMAND...		the same in a list
import fcntl, os, pty, re, select, struct, sys, termios, time

ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|[\r\n]")


class Program:
    def __init__(self, command, rows=50, cols=160):
        self.began = time.monotonic()
        self.child, self.fd = pty.fork()
        if not self.child:
            os.environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.raw = b""

    # The time of the last octet of a burst that is over when nothing comes for quiet seconds; None: nothing came.
    def burst(self, quiet, limit):
        end, last = time.monotonic() + limit, None
        while time.monotonic() < end:
            if select.select([self.fd], [], [], quiet)[0]:
                self.raw += os.read(self.fd, 1 << 20)
                last = time.monotonic()
            elif last:
                break
        return last

    def until(self, pattern, limit):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                self.raw += os.read(self.fd, 1 << 20)
            if re.search(pattern, ESCAPES.sub(b" ", self.raw)):
                return time.monotonic()
        raise SystemExit("it does not come: %r in %r" % (pattern, ESCAPES.sub(b" ", self.raw)[-400:]))

    def leave(self):
        os.write(self.fd, b"q")
        end = time.monotonic() + 20
        while time.monotonic() < end and not os.waitpid(self.child, os.WNOHANG)[0]:
            try:
                if select.select([self.fd], [], [], 0.05)[0]:
                    os.read(self.fd, 65536)
            except OSError:
                pass


def below(pid):
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and int(open("/proc/%s/stat" % entry).read().rsplit(")", 1)[1].split()[1]) == pid:
                found += [int(entry)] + below(int(entry))
        except OSError:
            pass
    return found


# Of the process with its threads, and of its children that have ended.
def cpu_s(pid):
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return sum(int(fields[i]) for i in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")


def first(command):
    p = Program(command)
    print("first_ms", round(1000 * (p.until(rb"[1-9][0-9,]* (samples|thread states)", 20) - p.began), 1))
    p.leave()


def cpu(seconds, command):
    p = Program(command)
    p.until(rb"samples|thread states", 20)
    p.burst(0.5, 5)
    all_of = lambda: sum(cpu_s(pid) for pid in [p.child] + below(p.child))
    before, view, at = all_of(), cpu_s(p.child), time.monotonic()
    p.burst(seconds, seconds)
    took = time.monotonic() - at
    print("cpu_percent", round(100 * (all_of() - before) / took, 2))
    print("view_percent", round(100 * (cpu_s(p.child) - view) / took, 2))
    p.leave()


# What BPF programs take in interrupts is nobody's, so it is in neither number.
def beside(seconds, words):
    cut = words.index("--")
    both = [Program(words[:cut]), Program(words[cut + 1:])]

    def drain(until):
        while time.monotonic() < until:
            for fd in select.select([p.fd for p in both], [], [], 0.2)[0]:
                os.read(fd, 1 << 20)

    used = lambda p: sum(cpu_s(pid) for pid in [p.child] + below(p.child))
    drain(time.monotonic() + 8)		# both have begun
    at, before = time.monotonic(), [used(p) for p in both]
    drain(at + seconds)
    took, after = time.monotonic() - at, [used(p) for p in both]
    for i, p in enumerate(both):
        print("percent_%d" % (i + 1), round(100 * (after[i] - before[i]) / took, 2))
        p.leave()


def keys(command, typed=b"jjjjlllkkhhjjjj\rGgkkjjllhh"):
    p = Program(command)
    p.until(rb"samples", 60)
    p.burst(0.5, 5)
    times = []
    for key in typed * 4:
        at = time.monotonic()
        os.write(p.fd, bytes([key]))
        drawn = p.burst(0.06, 1)
        if drawn:
            times.append(1000 * (drawn - at))
    times.sort()
    print("key_ms", round(times[len(times) // 2], 2))
    print("worst_ms", round(times[-1], 2))
    p.leave()


def main():
    if sys.argv[1] == "first":
        first(sys.argv[2:])
    elif sys.argv[1] == "beside":
        beside(float(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1] == "cpu":
        cpu(float(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1] == "moves":
        keys(sys.argv[2:], b"jjjjkkfbGgjk")
    else:
        keys(sys.argv[2:])


if __name__ == "__main__":
    main()
