#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/serve src/live src/commands/cmd_serve.c
# light: yes
# probee serve FILE: who gets in, what is answered, what others can do to it. Pages are looked at in tests/browser, recordings in
# tests/live/serve.sh.
# timeout: 180
. tests/cli/lib.sh
need_library
make_fixture "$TMP/fixture.pbz"
root=$PWD
cd "$TMP" || exit 1

# --- what is refused before anything is served

run probee serve none.pbz --listen 0; exits 1; one_line; says 'No such file'
echo 'no trace' >text.pbz
run probee serve fixture.pbz --listen example.org:80; exits 1; one_line; says 'is no address to listen at'
run probee serve fixture.pbz --listen 0.0.0.0:0; exits 1; one_line; says '--token-file'
run probee serve fixture.pbz --listen 0 --token-file none; exits 1; one_line; says 'No such file'
run probee serve fixture.pbz --no-token --token-file none; exits 2; says 'one or the other'
run probee serve fixture.pbz --host 'a/b'; exits 2; says 'a name alone'
printf 'a-token-that-is-known-to-many\n' >token; chmod 644 token
run probee serve fixture.pbz --listen 0 --token-file token; exits 1; one_line; says 'chmod 600'
run timeout 20 "$PROBEE" serve text.pbz --listen 0; exits 1; says 'is text, not a probee trace'
run probee serve fixture.pbz --nothing; exits 2
run probee serve -o - ; exits 2; says '-o needs the name of a file'

# --- requests

cat >drive.py <<'END'
import json, os, random, re, signal, socket, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from serve_client import Server, Stream, until

probee = os.environ["PROBEE"]
wrong = 0


def case(f):
    global wrong
    try:
        f()
    except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as e:
        wrong += 1
        print("%s: %s" % (f.__name__, str(e)[:600]))


def report(*words):
    return subprocess.run([probee, "report", "fixture.pbz", *words], capture_output=True, check=True).stdout


def same(a, b, what):
    assert a == b, "%s: %d and %d bytes differ: %r %r" % (what, len(a), len(b), a[:80], b[:80])


def reports_equal_those_of_the_command():
    s = Server("fixture.pbz")
    names = [r["name"] for r in json.loads(s.get("reports"))]
    assert {"svg", "html", "csv", "pprof", "speedscope", "firefox", "text", "collapse"} <= set(names), names
    for name in names:
        if name not in ("pprof",):		# has the time at which it was made
            same(s.get("report/" + name), report("--" + name), name)
    same(s.get("report/collapse?by=process&from=0s&inverted"), report("--collapse", "--by=process", "--from=0s", "--inverted"),
         "with choices")
    same(s.get("trace.pbz"), open("fixture.pbz", "rb").read(), "trace")
    tree, cli = json.loads(s.get("json")), json.loads(report("--json"))
    assert tree["value"] == cli["value"], (tree["value"], cli["value"])
    assert sorted(c["value"] for c in tree["children"]) == sorted(c["value"] for c in cli["children"])
    other = json.loads(s.get("json?event=snapshot"))
    assert other["value"] and other["probee"]["event"] == "snapshot", other
    assert json.loads(s.get("json?event=nothing"))["children"] == []
    assert s.stop()[0] == 0


def failed_reports_say_why():
    s = Server("fixture.pbz")
    for path, status, words in (("report/svg?from=xyz", 422, b"xyz"), ("report/svg?event=none", 422, b"none"),
                                ("report/svg?no-limits", 400, b"no such choice"), ("report/svg?force=1", 400, b"no such choice"),
                                ("report/svg?pid=99999", 422, b""), ("report/nothing", 404, b""), ("nothing", 404, b""),
                                ("report/", 404, b""), ("../json", 404, b""), ("2/json", 404, b"")):
        got = s.ask(path)
        assert got[0] == status and words in got[2], (path, got[0], got[2][:200])
    s.get("json")
    s.stop()


def who_gets_in():
    s = Server("fixture.pbz", "--host", "profiles.example.org")
    token = s.path.strip("/")
    assert re.fullmatch("[A-Za-z0-9_-]{32}", token), token
    for status, words in ((200, {}), (200, {"host": "localhost"}), (200, {"host": "profiles.example.org:443"}),
                          (421, {"host": "evil.example"}), (421, {"host": "127.0.0.1.evil.example"}), (400, {"host": ""}),
                          (403, {"token": False}), (200, {"token": False, "Authorization": "Bearer " + token}),
                          (403, {"token": False, "Authorization": "Bearer x" + token}),
                          (403, {"Origin": "http://evil.example"}), (200, {"Origin": "http://" + s.address}),
                          (403, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}),
                          (200, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}),
                          (405, {"method": "POST"}), (405, {"method": "OPTIONS"}), (200, {"method": "HEAD"})):
        got = s.ask("json", **words)
        assert got[0] == status, (words, got[0])
        assert "access-control-allow-origin" not in got[1], "CORS"
        if status == 403 and not words.get("token", True):
            assert token.encode() not in got[2], "the token is told to those who lack it"
    wrong_token = ("x" if token[-1] != "x" else "y")
    assert s.ask(token[:-1] + wrong_token + "/json", token=False)[0] == 403
    got = s.ask(token, token=False)
    assert got[0] == 302 and got[1]["location"] == token + "/", got
    s.stop()


def headers_of_pages():
    s = Server("fixture.pbz")
    status, headers, body = s.ask("")
    policy = headers["content-security-policy"]
    for words in ("default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "script-src 'sha256-", "base-uri 'none'"):
        assert words in policy, policy
    assert "unsafe" not in policy and "*" not in policy, policy
    assert headers["referrer-policy"] == "no-referrer" and headers["cache-control"] == "no-store", headers
    assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY", headers
    assert "sandbox" in s.ask("report/svg")[1]["content-security-policy"]
    s.stop()


def tokens_of_files():
    with open(os.open("own", os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write("this-is-the-token-of-a-file\n")
    s = Server("fixture.pbz", "--token-file", "own")
    assert s.path == "/this-is-the-token-of-a-file/", s.path
    s.get("json")
    s.stop()
    s = Server("fixture.pbz", "--no-token")
    assert s.path == "/", s.path
    s.get("json")
    assert s.ask("json", host="evil.example")[0] == 421
    assert s.ask("json", Origin="http://evil.example")[0] == 403
    s.stop()


def several_traces():
    s = Server("fixture.pbz", "fixture.pbz")
    index = s.get("").decode()
    assert 'href="1/"' in index and 'href="2/"' in index and "fixture.pbz" in index, index
    assert s.get("1/json") == s.get("2/json")
    same(s.get("2/report/collapse"), report("--collapse"), "second")
    assert s.ask("3/json")[0] == 404 and s.ask("json")[0] == 404 and s.ask("0/json")[0] == 404
    assert s.get("metrics").count(b"\nprobee_recording{") == 2
    s.stop()


def metrics_are_understood():
    s = Server("fixture.pbz")
    text = s.get("metrics")
    assert b'probee_samples_total{trace="fixture.pbz",event="cpu-clock"}' in text, text
    assert b'probee_lost_total{trace="fixture.pbz",cause="ring-full"} 7' in text, text
    try:
        p = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    except FileNotFoundError:
        print("SKIP promtool is not installed")
        p = None
    s.stop()
    assert not p or p.returncode == 0 and not p.stderr, p


def events_come_and_go_on():
    s = Server("fixture.pbz", "--refresh-ms", "100")
    a = Stream(s)
    assert a.status == 200 and a.headers["content-type"].startswith("text/event-stream"), a.headers
    first = a.event()
    assert re.fullmatch(r"\d+-\d+", first["id"]) and len(first["data"]) > 100, first
    b = Stream(s)
    assert b.event() == first, "two clients that are equally far get the same"
    assert Stream(s, last="999-999").event() == first and Stream(s, last="../../x").event() == first
    t = Stream(s, "stream").event()
    assert json.loads(t["data"]) == json.loads(s.get("json")), "the ancestor's stream"
    # One that has all gets nothing: the next that comes is a sign of life.
    c = Stream(s, last=first["id"])
    assert c.event() == {"event": "over", "data": "over"}, "nothing more will come, and it is said"
    try:
        got = c.event(timeout=2)
    except TimeoutError:
        got = "nothing"
    assert got == "nothing", got
    assert a.event() == {"event": "over", "data": "over"}
    s.stop()
    assert a.event() is None, "the stream has no end"


def many_clients():
    s = Server("fixture.pbz", "--refresh-ms", "100")
    streams = [Stream(s) for _ in range(100)]
    events = [x.event() for x in streams]
    assert all(e == events[0] for e in events)
    assert b"probee_http_streams 100\n" in s.get("metrics")
    for x in streams[:50]:
        x.close()
    until("fifty have gone", lambda: b"probee_http_streams 50\n" in s.get("metrics"), 40)
    more = []
    try:
        for _ in range(300):
            more.append(s.connect(2))
    except OSError:
        pass
    for x in more:
        x.close()
    until("others are answered again", lambda: s.ask("json", timeout=5)[0] == 200)
    assert s.stop()[0] == 0


def slow_clients_hold_up_nobody():
    s = Server("fixture.pbz", "--refresh-ms", "100")
    slow = [s.connect() for _ in range(20)]
    for i, x in enumerate(slow):
        bytes = ("GET %sreport/html HTTP/1.1\r\nHost: %s\r\n\r\n" % (s.path, s.address)).encode()
        x.sendall(bytes[:len(bytes) - i])
    began = time.monotonic()
    for _ in range(20):
        s.get("json")
    assert time.monotonic() - began < 10, "20 answers took %.1f s" % (time.monotonic() - began)
    s.stop()


# What strangers keep open, without the token: half a line, half a header, a body that does not come, requests that were refused.
STRANGE = (b"", b"GE", b"GET / HTTP/1.1\r\nX", b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n",
           b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def strangers_keep_nobody_out(listen="127.0.0.1:0"):
    s = Server("fixture.pbz", "--refresh-ms", "100", listen=listen)
    follower, kept = Stream(s), s.connect()	# the owner's: a page that follows, and a connection that stays for his requests
    ask = ("GET %sjson HTTP/1.1\r\nHost: %s\r\n\r\n" % (s.path, s.address)).encode()
    kept.sendall(ask)
    assert kept.recv(1 << 16).startswith(b"HTTP/1.1 200"), "the owner is answered"
    follower.event()
    strangers = []
    for i in range(400):
        x = s.connect()
        x.sendall(STRANGE[i % len(STRANGE)])
        strangers.append(x)
        if i % 40 == 39:
            s.get("json")
    for x in strangers[-20:]:		# bytes now and then give them no more time, and cost nothing
        try:
            x.sendall(b"a")
        except OSError:
            pass
    away = int(re.search(rb"probee_http_sent_away_total (\d+)", s.get("metrics")).group(1))
    assert away >= 100, "only %d of 266 that stay were sent away" % away
    kept.setblocking(False)
    try:
        while kept.recv(1 << 16):
            pass
        raise AssertionError("the owner's connection was closed")
    except BlockingIOError:
        pass
    kept.setblocking(True)
    kept.sendall(ask)
    assert kept.recv(1 << 16).startswith(b"HTTP/1.1 200"), "the owner's connection goes on"
    assert follower.event() == {"event": "over", "data": "over"}, "and so does his stream"
    assert s.stop()[0] == 0, "it does not end well"


def strangers_of_ipv6():
    try:
        socket.socket(socket.AF_INET6).bind(("::1", 0))
    except OSError:
        return
    strangers_keep_nobody_out("[::1]:0")


def damaged(r, good):
    b = bytearray(good)
    for _ in range(r.randrange(1, 9)):
        at = r.randrange(len(b))
        kind = r.randrange(4)
        if kind == 0:
            b[at] = r.randrange(256)
        elif kind == 1:
            del b[at:at + r.randrange(1, 20)]
        elif kind == 2:
            b[at:at] = r.randbytes(r.randrange(1, 60))
        else:
            b[at:at] = b[at:at + 30] * r.randrange(1, 600)
        if not b:
            b = bytearray(b"\r\n")
    return bytes(b)


# Some requests ask to keep the connection, or seem unfinished: they last until the client gives up, so several go side by side.
def torture():
    s = Server("fixture.pbz")
    r, seen = random.Random(7), {}
    good = ("GET %sjson HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (s.path, s.address)).encode()
    requests = [damaged(r, good) for _ in range(500)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda b: s.raw(b + b"\r\n\r\n", timeout=5), requests))
    for b, answer in zip(requests, answers):
        status = answer[9:12] if answer.startswith(b"HTTP/1.") else b"none"
        seen[status] = seen.get(status, 0) + 1
        if status == b"200":
            assert s.path.encode().strip(b"/") in b, (b, answer[:80])
    assert not any(k.startswith(b"5") for k in seen) and seen.get(b"400") and seen.get(b"403"), seen
    s.get("json")
    assert s.process.poll() is None
    code, err = s.stop()
    assert code == 0 and len(err.splitlines()) == 1, (code, err)


def it_ends():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        s = Server("fixture.pbz")
        stream, half = Stream(s), s.connect()
        half.sendall(b"GET /")
        began = time.monotonic()
        code, err = s.stop(number)
        assert code == 0 and time.monotonic() - began < 3, (number, code, err)
        stream.close()


def one_port_one_server():
    s = Server("fixture.pbz")
    p = subprocess.run([probee, "serve", "fixture.pbz", "--listen", s.address], capture_output=True, text=True, timeout=20)
    assert p.returncode == 1 and "in use" in p.stderr and "--listen" in p.stderr, p
    s.stop()
    again = Server("fixture.pbz", listen=s.address)
    assert again.address == s.address
    again.stop()


def other_addresses():
    s = Server("fixture.pbz", listen="[::1]:0")
    assert s.url.startswith("http://[::1]:"), s.url
    s.get("json")
    s.stop()


def it_holds_no_rights():
    s = Server("fixture.pbz")
    status = open("/proc/%d/status" % s.process.pid).read()
    san = b"__asan_init" in open(probee, "rb").read()
    assert re.search(r"CapEff:\s*0+\n", status), status
    if not san:
        assert re.search(r"Seccomp:\s*2\n", status) and re.search(r"NoNewPrivs:\s*1\n", status), status
    s.stop()


for f in (reports_equal_those_of_the_command, failed_reports_say_why, who_gets_in, headers_of_pages, tokens_of_files, several_traces,
          metrics_are_understood, events_come_and_go_on, many_clients, slow_clients_hold_up_nobody,
          strangers_keep_nobody_out, strangers_of_ipv6, torture, it_ends,
          one_port_one_server, other_addresses, it_holds_no_rights):
    case(f)
sys.exit(wrong != 0)
END
run env PYTHONPATH="$root/tests/cli" python3 drive.py; exits 0
grep -q '^SKIP' stdout && cat stdout
finish
