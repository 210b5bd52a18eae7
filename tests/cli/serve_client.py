# SPDX-License-Identifier: GPL-2.0-or-later
"""A server under test, and requests to it: whole ones, raw octets, and streams of events."""
import atexit
import os
import socket
import subprocess
import time

PROBEE = os.environ["PROBEE"]


class Server:
    """probee serve with these words, on a free port."""

    def __init__(self, *words, listen="127.0.0.1:0", program=(), **more):
        self.process = subprocess.Popen([*program, PROBEE, "serve", *words, "--listen", listen], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **more)
        atexit.register(self.end)		# also where a test fails
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError("no address: %s" % self.process.communicate(timeout=10)[1])
        rest = self.url.split("://", 1)[1]
        self.address, _, path = rest.partition("/")
        host, _, port = self.address.rpartition(":")
        self.host, self.port = host.strip("[]"), int(port)
        self.path = "/" + path

    def connect(self, timeout=10):
        return socket.create_connection((self.host, self.port), timeout)

    def raw(self, octets, timeout=10):
        """All that comes back until the server closes."""
        with self.connect(timeout) as s:
            s.sendall(octets)
            parts = []
            try:
                while part := s.recv(1 << 16):
                    parts.append(part)
            except (socket.timeout, ConnectionError):
                parts.append(b"[cut]")
        return b"".join(parts)

    def ask(self, path, method="GET", host=None, token=True, timeout=30, **headers):
        """Status, headers in lower case, body."""
        lines = ["%s %s%s HTTP/1.1" % (method, self.path if token else "/", path)]
        if host != "":
            lines.append("Host: " + (host or self.address))
        lines += ["%s: %s" % (k.replace("_", "-"), v) for k, v in headers.items()]
        answer = self.raw(("\r\n".join(lines) + "\r\nConnection: close\r\n\r\n").encode(), timeout)
        head, _, body = answer.partition(b"\r\n\r\n")
        status, *rest = head.decode("latin-1").split("\r\n")
        found = {k.lower(): v for k, _, v in (line.partition(": ") for line in rest)}
        if found.get("transfer-encoding") == "chunked":
            body = unchunk(body)
        return int(status.split()[1]), found, body

    def get(self, path, **more):
        status, headers, body = self.ask(path, **more)
        assert status == 200, (path, status, body[:300])
        return body

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self, signal=2, seconds=10):
        self.process.send_signal(signal)
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, err


def unchunk(body):
    """None: the last chunk is missing, so the answer was cut."""
    parts = []
    while True:
        size, _, body = body.partition(b"\r\n")
        if not size:
            return None
        n = int(size.split(b";")[0], 16)
        if n == 0:
            return b"".join(parts)
        if len(body) < n + 2:
            return None
        parts.append(body[:n])
        body = body[n + 2:]


class Stream:
    """Server-sent events of a path."""

    def __init__(self, server, path="events", last=None, receive_buffer=None):
        self.socket = socket.socket(socket.AF_INET6 if ":" in server.host else socket.AF_INET)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect((server.host, server.port))
        lines = ["GET %s%s HTTP/1.1" % (server.path, path), "Host: " + server.address]
        if last:
            lines.append("Last-Event-ID: " + last)
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        while (line := self.file.readline().strip()):
            key, _, value = line.decode("latin-1").partition(": ")
            self.headers[key.lower()] = value
        self.pending = b""
        self.octets = 0

    def line(self):
        """A line of the body, whose chunks are put together."""
        while b"\n" not in self.pending:
            size = self.file.readline()
            if not size:
                return None
            n = int(size, 16)
            if n == 0:
                return None
            self.pending += self.file.read(n + 2)[:-2]
            self.octets += n
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def event(self, timeout=20):
        """{field: value}, or None at the end of the stream. Signs of life are passed over."""
        self.socket.settimeout(timeout)
        fields = {}
        while (line := self.line()) is not None:
            if not line and fields:
                return fields
            key, _, value = line.partition(b":")
            if key:
                key = key.decode()
                value = value.removeprefix(b" ").decode()
                fields[key] = fields[key] + "\n" + value if key in fields else value
        return None

    def close(self):
        self.file.close()
        self.socket.close()


def until(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not within %s s: %s" % (seconds, what)
        time.sleep(0.05)
