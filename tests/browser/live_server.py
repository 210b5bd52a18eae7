# SPDX-License-Identifier: GPL-2.0-or-later
"""A server for a page that is fed, as small as can be: it stands in for `probee serve`.

    server = Server(["feed_page", "trace.pbz"])
    server.address			"http://127.0.0.1:PORT/"
    server.samples(100)			the page has so many samples more
    server.drop()			all connections are cut
"""
import http.server
import subprocess
import threading


class Server:
    def __init__(self, command, page):
        self.feeder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lock = threading.Condition()
        self.epoch, self.version, self.has_ended = 1, 0, False
        self.cuts, self.asked, self.sent, self.is_refusing = 0, [], [], False
        self.ask(f"html {page}")
        with open(page, encoding="utf-8") as text:
            self.html = text.read().encode()
        self.policy = self.ask("policy")
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}/"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.drop()
        self.http.shutdown()
        self.http.server_close()
        self.feeder.stdin.close()
        self.feeder.wait()

    def ask(self, line):
        self.feeder.stdin.write(line + "\n")
        self.feeder.stdin.flush()
        return self.feeder.stdout.readline().rstrip("\n")

    def samples(self, number):
        with self.lock:
            version, *end = self.ask(f"samples {number}").split()
            self.version, self.has_ended = int(version), bool(end)
            self.lock.notify_all()

    def names(self):
        """Names that were kept back come."""
        with self.lock:
            self.version = int(self.ask("names"))
            self.lock.notify_all()

    def again(self):
        """The page begins anew: what clients have is of an earlier epoch."""
        with self.lock:
            self.ask("again")
            self.epoch, self.version = self.epoch + 1, 0
            self.version = int(self.ask("samples 0").split()[0])
            self.lock.notify_all()

    def drop(self):
        with self.lock:
            self.cuts += 1
            self.lock.notify_all()

    def answer(self, request):
        path = request.path.split("?")[0]
        if self.is_refusing or path not in ("/", "/events"):
            request.send_error(503 if self.is_refusing else 404)
            return
        request.send_response(200)
        if path == "/":
            request.send_header("Content-Type", "text/html; charset=utf-8")
            request.send_header("Content-Security-Policy", self.policy)
            request.send_header("Content-Length", str(len(self.html)))
            request.end_headers()
            request.wfile.write(self.html)
            return
        request.send_header("Content-Type", "text/event-stream")
        request.send_header("Cache-Control", "no-store")
        request.send_header("Connection", "close")
        request.end_headers()
        self.asked.append(request.headers.get("Last-Event-ID"))
        try:
            self.feed(request, self.cuts)
        except OSError:
            pass
        request.close_connection = True

    def feed(self, request, cuts):
        epoch, version = [int(n) for n in (request.headers.get("Last-Event-ID") or "0-0").split("-")]
        request.wfile.write(b"retry: 200\n\n")
        while True:
            with self.lock:
                while self.cuts == cuts and (epoch, version) == (self.epoch, self.version):
                    self.lock.wait(10)
                if self.cuts != cuts:
                    return
                since = version if epoch == self.epoch else 0
                answer = self.ask(f"message {since}")
                if answer == "stale":
                    since, answer = 0, self.ask("message 0")
                epoch, (number, text) = self.epoch, answer.split(" ")
                version = self.version = int(number)
                self.sent.append((since, len(text)))
            request.wfile.write(f"id: {epoch}-{version}\ndata: {text}\n\n".encode())
            request.wfile.flush()
