# SPDX-License-Identifier: GPL-2.0-or-later
# A program in a terminal of its own, which is pyte's (python3-pyte), not ours:
#
#	t = Terminal(["probee", "tui", "x.pbz"], rows=24, cols=80)
#	t.until("Flame"); t.send("q"); t.ends() == 0
#
# until() fails after some seconds with the screen that was there instead.
import fcntl, os, pty, select, signal, struct, sys, termios, time

import pyte

KEYS = {"up": "\x1bOA", "down": "\x1bOB", "right": "\x1bOC", "left": "\x1bOD", "tab": "\t", "enter": "\r",
        "esc": "\x1b", "backtab": "\x1b[Z", "ctrl-c": "\x03", "ctrl-z": "\x1a", "ctrl-u": "\x15"}


# What ncurses uses where a terminal has it, and pyte does not know: the last character again (REP), scrolling (SU, SD).
class Screen(pyte.Screen):
    last = " "

    def draw(self, data):
        super().draw(data)
        self.last = data[-1]

    def repeat(self, count=1, **_):
        self.draw(self.last * (count or 1))

    def scroll(self, count, row, move):
        was = self.cursor.y
        self.cursor.y = row
        for _ in range(count or 1):
            move()
        self.cursor.y = was

    def scroll_up(self, count=1, **_):
        self.scroll(count, self.margins.bottom if self.margins else self.lines - 1, self.index)

    def scroll_down(self, count=1, **_):
        self.scroll(count, self.margins.top if self.margins else 0, self.reverse_index)


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, b="repeat", S="scroll_up", T="scroll_down")
    events = pyte.ByteStream.events | {"repeat", "scroll_up", "scroll_down"}


class Terminal:
    def __init__(self, command, rows=24, cols=80, env=None, cwd=None):
        self.screen = Screen(cols, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        waits, go = os.pipe()
        self.child, self.fd = pty.fork()
        if not self.child:
            os.close(go)
            os.read(waits, 1)           # the terminal is looked at before the program changes it
            if cwd:
                os.chdir(cwd)
            os.environ.update({"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"})
            os.environ.pop("NO_COLOR", None)
            for name, value in (env or {}).items():
                os.environ[name] = value
            os.execvp(command[0], command)
        os.close(waits)
        self.resize(rows, cols)
        self.before = termios.tcgetattr(self.fd)
        os.close(go)

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.screen.resize(rows, cols)

    # Takes what the program writes for some seconds at most; false: it has closed the terminal.
    def take(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, text, seconds=40, gone=False):
        end = time.monotonic() + seconds
        while (text in self.text()) == gone:
            if time.monotonic() > end or not self.take(0.1):
                raise AssertionError("%r %s:\n%s" % (text, "stays" if gone else "does not come", self.text()))
        return self.text()

    def send(self, *keys):
        for key in keys:
            os.write(self.fd, KEYS.get(key, key).encode())
            time.sleep(0.05)

    def signal(self, number):
        os.kill(self.child, number)

    # The exit code, or minus the signal. What is left of the output is taken before.
    def ends(self, seconds=20):
        end = time.monotonic() + seconds
        while self.take(0.1):
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid:
                return self.over(status)
            assert time.monotonic() < end, "does not end:\n" + self.text()
        return self.over(os.waitpid(self.child, 0)[1])

    def over(self, status):
        try:
            self.after = termios.tcgetattr(self.fd)
            while select.select([self.fd], [], [], 0.1)[0] and self.take(0):
                pass
        except (OSError, termios.error):
            self.after = None
        return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)

    # The terminal is as it was: its settings, the cursor, the other screen, the mouse.
    def check_restored(self):
        assert self.after is None or self.after[:4] == self.before[:4], (self.before, self.after)
        for on, off in ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?25l", b"\x1b[?25h"), (b"\x1b[?1000h", b"\x1b[?1000l")):
            assert self.raw.rfind(off) >= self.raw.rfind(on), (on, off)
