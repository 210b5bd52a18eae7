#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/serve src/live src/profile src/report src/recording src/commands/cmd_serve.c
# core: yes
# beside: live
# probee serve and top --serve while they record: what clients get is what was recorded, nothing that they do costs a sample, and
# whoever dies takes the others along or leaves them whole. Requests to finished traces are in tests/cli/serve.sh.
# timeout: 180
. "$(dirname "$0")/lib.sh"

start chain30 spin
export SPINNER=$PID

setpriv --reuid=65534 --regid=65534 --clear-groups "$PROBEE" serve -a --listen 0 >nobody.txt 2>nobody.err
check "without rights: exit 77" equal "$?" 77
check "without rights: no address, one reason" sh -c '[ ! -s nobody.txt ] && grep -q "^probee: " nobody.err'
run_limited serve -p 999999999 --listen 0
check "no such process: exit 1 or 2" test "$RC" = 1 -o "$RC" = 2
"$PROBEE" --serve --frequency 49 --pid 7 --dry-run >dry.txt 2>&1
check "the ancestor's words" grep -qx -e 'probee serve -F 49 -p 7 -q --include-idle' dry.txt
"$PROBEE" --tui --serve --tui-refresh-ms 500 --dry-run >dry.txt 2>&1
check "the ancestor's words, both" grep -qx -e 'probee top --refresh-ms=500 --serve -q --include-idle' dry.txt
"$PROBEE" --serve --svg x.svg --time 3000 --dry-run >dry.txt 2>&1
check "the ancestor's words, with a file" grep -q -e '^probee serve -o TMP/trace.pbz .*-d 3000ms' dry.txt

cat >drive.py <<'END'
import json, os, re, signal, subprocess, sys, time, urllib.error, urllib.request
sys.path[:0] = os.environ["CLIENTS"].split(":")
from serve_client import Server, Stream, until

probee, spinner = os.environ["PROBEE"], os.environ["SPINNER"]


def below(pid):
    found = []
    for line in subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout.split("\n"):
        if len(line.split()) == 2 and int(line.split()[1]) == pid:
            found += [int(line.split()[0])] + below(int(line.split()[0]))
    return found


def are_gone(pids, seconds=10):
    def left():
        return [p for p in pids if os.path.exists("/proc/%d" % p) and "State:\tZ" not in open("/proc/%d/status" % p).read()]
    until("all have gone", lambda: not left(), seconds)


def names(node):
    yield node["name"]
    for child in node.get("children", []):
        yield from names(child)


def info(path):
    return json.loads(subprocess.run([probee, "info", "--json", path], capture_output=True, check=True, text=True).stdout)


def metric(server, name, **labels):
    sums = 0
    for line in server.get("metrics").decode().split("\n"):
        if line.startswith(name + "{") and all('%s="%s"' % x in line for x in labels.items()):
            sums += float(line.rsplit(" ", 1)[1])
    return sums


def what_is_served_is_what_is_recorded():
    s = Server("-p", spinner, "-F", "199", "-o", "kept.pbz", "--refresh-ms", "200")
    until("the deepest function has a name", lambda: "f30" in list(names(json.loads(s.get("json")))))
    for view in ("svg", "html", "csv", "collapse", "pprof", "text"):
        body = s.get("report/" + view)
        assert len(body) > 200, (view, body[:300])
    assert b"f30" in s.get("report/collapse"), "names in reports"
    for view in ("text", "html"):
        assert not re.search(b"not finished|cut short", s.get("report/" + view)), "a recording that goes on lacks nothing"
    until("samples", lambda: metric(s, "probee_samples_total", event="cpu-clock") > 100)
    seen = metric(s, "probee_samples_total", event="cpu-clock")
    open("part.pbz", "wb").write(s.get("trace.pbz"))
    part = subprocess.run([probee, "info", "part.pbz"], capture_output=True, text=True)
    assert part.returncode == 0 and "damaged" not in part.stdout, part
    code, err = s.stop()
    assert code == 0 and "samples" in err, (code, err)
    whole = info("kept.pbz")
    report = subprocess.run([probee, "report", "kept.pbz", "--json"], capture_output=True, check=True, text=True).stdout
    assert json.loads(report)["probee"]["samples"] >= seen, (seen, report[:300])
    assert whole


def memory_alone_is_a_trace_too():
    s = Server("-p", spinner)
    until("samples", lambda: metric(s, "probee_samples_total") > 50)
    until("the deepest function has a name", lambda: "f30" in list(names(json.loads(s.get("json")))))
    open("memory.pbz", "wb").write(s.get("trace.pbz"))
    assert "f30" in subprocess.run([probee, "report", "memory.pbz", "--collapse"], capture_output=True, text=True).stdout
    assert "f30" in s.get("report/collapse?from=-2s").decode()
    s.stop()


def clients_cost_no_samples():
    s = Server("-a", "-F", "199", "-o", "busy.pbz", "--refresh-ms", "100")
    streams = [Stream(s) for _ in range(100)]
    slow, fast = Stream(s, "stream", receive_buffer=4096), Stream(s, "stream")
    first = [int(x.event()["id"].split("-")[1]) for x in streams]
    end = time.monotonic() + 8
    last, trees = first[:], 0
    while time.monotonic() < end:
        for i, x in enumerate(streams):
            last[i] = int(x.event()["id"].split("-")[1])
        assert fast.event()
        trees += 1
    assert all(b > a for a, b in zip(first, last)), (first, last)
    newest = max(last)
    # Whole trees are large. One that has read none for 8 s is not sent those in between, but what is newest.
    value, behind = json.loads(s.get("json"))["value"], 0
    while json.loads(slow.event()["data"])["value"] < value:
        behind += 1
    assert behind < trees / 2, (behind, trees)
    # A client that comes again with what it had goes on from there: with less than the whole.
    again = Stream(s, last="%s-%d" % (streams[0].event()["id"].split("-")[0], newest - 1))
    assert len(again.event()["data"]) < len(Stream(s).event()["data"])
    code, err = s.stop()
    assert code == 0, err
    # On a busy machine files are not read in time: that costs names and unwind tables, and no sample.
    lost = {k: v for k, v in info("busy.pbz")["lost"]["by_cause"].items() if v and k != "no-answer"}
    assert not lost, lost
    assert "0 lost" in subprocess.run([probee, "report", "busy.pbz", "--text"], capture_output=True, text=True).stdout


def a_server_that_is_killed_takes_the_recorder_along():
    s = Server("-a", "-o", "killed.pbz")
    s.get("json")
    pids = below(s.process.pid)
    assert pids, "nobody records"
    s.process.kill()
    s.process.communicate(timeout=10)
    are_gone(pids, 20)
    assert info("killed.pbz")


def a_recorder_that_is_killed_leaves_the_page():
    s = Server("-p", spinner)
    until("the deepest function has a name", lambda: "f30" in list(names(json.loads(s.get("json")))))
    for pid in below(s.process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    until("it is told", lambda: metric(s, "probee_recording") == 0)
    assert "f30" in list(names(json.loads(s.get("json"))))
    s.stop()


def a_recording_that_ends_is_still_served():
    s = Server("-p", spinner, "-d", "2", "--refresh-ms", "100")
    until("it has ended", lambda: metric(s, "probee_recording") == 0)
    until("the deepest function has a name", lambda: "f30" in list(names(json.loads(s.get("json")))))
    assert Stream(s).event()
    code, err = s.stop()
    assert code == 0, (code, err)


def a_command_is_recorded():
    s = Server("-F", "499", "--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
    until("it has ended", lambda: metric(s, "probee_recording") == 0, 60)
    assert json.loads(s.get("json"))["value"] > 0
    s.stop()


def a_page_beside_the_terminal():
    try:
        import pyte  # noqa: F401
    except ImportError:
        print("# python3-pyte is not installed: top --serve is not tried")
        return
    from terminal import Terminal
    t = Terminal([probee, "top", "-p", spinner, "--serve", "--listen", "0", "--view", "health"])
    t.until("http://127.0.0.1:")
    url = re.search(r"http://127\.0\.0\.1:\d+/[A-Za-z0-9_-]+/", t.text()).group(0)
    until("the page has it, too",
          lambda: b"f30" in urllib.request.urlopen(url + "json").read())
    t.send("q")
    assert t.ends() == 0
    t.check_restored()
    try:
        urllib.request.urlopen(url + "json")
        raise AssertionError("it serves on without a view")
    except urllib.error.URLError:
        pass


wrong = 0
for i, f in enumerate((what_is_served_is_what_is_recorded, memory_alone_is_a_trace_too, clients_cost_no_samples,
                       a_server_that_is_killed_takes_the_recorder_along, a_recorder_that_is_killed_leaves_the_page,
                       a_recording_that_ends_is_still_served, a_command_is_recorded, a_page_beside_the_terminal)):
    try:
        f()
        print("ok", f.__name__)
    except (AssertionError, OSError, ValueError, AttributeError, subprocess.SubprocessError) as e:
        wrong += 1
        print("not ok", f.__name__, str(e)[:500].replace("\n", " "))
END
python=/usr/bin/python3
CLIENTS=$ROOT/tests/cli $python drive.py >driven.txt 2>driven.err
while read -r result name rest; do
	case $result in
	ok) check "${name//_/ }" true ;;
	not) check "${rest%% *}: ${rest#* }" false ;;
	'#') skip_part "$name $rest" ;;
	esac
done <driven.txt
check "all were tried: $(tail -n 1 driven.err)" [ "$(grep -c '^ok\|^not ok' driven.txt)" = 8 ]
finish "$PID"
done_testing
