#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/tui src/live src/profile src/report src/commands/cmd_tui.c
# light: yes
# probee tui: as plain text, and in a terminal that is pyte's, with keys, sizes, signals and damaged traces.
# timeout: 120
. tests/cli/lib.sh
need_library
run build_with_library "$TMP/make_trace" tests/bench/make_trace.c; exits 0
make_fixture "$TMP/fixture.pbz"
run "$TMP/make_trace" "$TMP/full.pbz" 100000; exits 0
# parts FILE [NUMBER...]: the fixture as often, each time a later part of the recording.
cat >"$TMP/parts.c" <<'END'
#include <string.h>
#include "tests/unit/trace_fixture.h"

static int put(void *w, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_END)
		copy.end.reason = ENDED_CONTINUED;
	return trace_writer_record(w, &copy);
}

int main(int argc, char **argv)
{
	struct record part = { .tag = REC_META };
	struct trace_writer *w;

	if (argc < 2 || trace_writer_open(argv[1], NULL, &w) || trace_fixture_emit(put, w))
		return 1;
	for (int i = 2; i < argc; i++) {
		part.meta = (struct rec_meta){ "recording.part", argv[i], strlen(argv[i]) };
		if (trace_writer_begin_segment(w) || trace_writer_record(w, &part) || trace_fixture_emit(put, w))
			return 1;
	}
	return trace_writer_close(w) != 0;
}
END
run build_with_library "$TMP/parts" "$TMP/parts.c"; exits 0
root=$PWD
cd "$TMP" || exit 1

# --- plain text

for view in flame top threads waits time health; do
	run probee tui fixture.pbz --once --view $view; exits 0; silent; prints 'fixture.pbz'
done
run probee tui fixture.pbz --once --view threads --size 100x20
prints '    100 S           33 ms  server'
[ "$(awk '{ if (length($0) > 100) n++ } END { print n + 0, NR <= 20 }' stdout)" = '0 1' ] || wrong 'not 100 columns and 20 rows'
run probee tui fixture.pbz --follow; exits 0; prints 'hot_loop'
run probee report fixture.pbz --tui </dev/null; exits 2; says 'standard input or output leads to none'
head -c 700 full.pbz >cut.pbz
run probee tui cut.pbz --once; exits 0
echo 'no trace' >text.pbz
run probee tui text.pbz --once; exits 1; one_line; says 'is text, not a probee trace'
run probee tui none.pbz --once; exits 1; one_line; says 'No such file'
run probee tui . --once; exits 1; one_line; says 'no regular file'
: >empty.pbz
run probee tui empty.pbz --once; exits 1; one_line; says 'empty'
run probee tui; exits 2; says 'needs a trace'
run probee tui fixture.pbz --view nothing --once; exits 2; says 'flame|top'
run probee tui fixture.pbz --size 3x3 --once; exits 2; says 'columns x rows'
run probee tui fixture.pbz --update-mode never --once; exits 2; says 'accumulate|reset|decay'

# --- recordings in several parts, and several recordings in a file

run ./parts two.pbz 2; exits 0
run probee tui two.pbz --once; exits 0; prints '101 ms of CPU time in 10 samples, 18 lost'
run probee tui two.pbz --once --view health; exits 0; prints 'parts           2, shown as one recording'
prints 'ring-full'; ! grep -q 'the last of' stdout || wrong 'two recordings'
run ./parts lie.pbz 2 2; exits 0
run probee tui lie.pbz --once --view health; exits 0; prints 'the last of 2 in the file'
cat two.pbz fixture.pbz >other.pbz
run probee tui other.pbz --once; exits 0; prints '50.5 ms of CPU time in 5 samples, 9 lost'
run probee tui other.pbz --once --view health; exits 0; prints 'the last of 2 in the file, which alone is shown'

# --- a terminal

python=/usr/bin/python3
$python -c 'import pyte' 2>/dev/null || { [ "$failures" = 0 ] && skip 'python3-pyte is not installed'; finish; }
cat >drive.py <<'END'
import os, signal, sys, time
from terminal import Terminal

probee = os.environ["PROBEE"]
wrong = 0


def case(f):
    global wrong
    try:
        f()
    except (AssertionError, OSError) as e:
        wrong += 1
        print("%s: %s" % (f.__name__, e))


def tui(*words, **more):
    return Terminal([probee, "tui", *words], **more)


def leave(t, code=0):
    t.send("q")
    got = t.ends()
    assert got == code, (got, t.text())
    t.check_restored()


def keys_and_views():
    t = tui("fixture.pbz")
    t.until("hot_loop")
    for view in ("function", "33 ms", "holds, - waits", "cursor at", "ring-full 7", "S waits for"):
        t.send("tab")
        t.until(view)
    t.send("tab"); t.until("handle_request")
    t.send("down", "down"); t.until("_start  total")
    t.send("right"); t.until("worker  total 40.0 %")
    t.send("down"); t.until("[cut: no unwind table for this address]  total")
    t.send("up"); t.until("worker  total 40.0 %")
    t.send("?"); t.until("Shift-Tab"); t.send(" "); t.until("hot_loop")
    t.send("/", "^hot", "enter"); t.until("/^hot: 40.0 %")
    t.send("esc"); t.until("/^hot", gone=True)
    t.send("backtab"); t.until("S waits for")
    t.send("backtab"); t.until("ring-full 7")
    leave(t)


# What a terminal sends for a click (SGR): buttons 0 left, 2 right, 64 and 65 the wheel, which has no release.
def mouse(t, button, row, col):
    t.send("\x1b[<%d;%d;%dM" % (button, col, row))
    if button < 64:
        t.send("\x1b[<%d;%d;%dm" % (button, col, row))


def place(t, text):
    for row, line in enumerate(t.screen.display):
        if text in line:
            return row + 1, line.index(text) + 2
    raise AssertionError("%r is not there:\n%s" % (text, t.text()))


def by_mouse():
    t = tui("fixture.pbz", rows=24, cols=100)
    t.until("hot_loop")
    mouse(t, 0, *place(t, "handle_request"))
    t.until("handle_request(int)  total 60.0 %")
    mouse(t, 64, 5, 5); t.until("main  total 60.0 %")
    mouse(t, 65, 5, 5); t.until("handle_request(int)  total 60.0 %")
    mouse(t, 2, *place(t, "main")); t.until("worker", gone=True)		# zoom
    t.send("r"); t.until("worker")
    hot = place(t, "hot_loop")
    mouse(t, 0, *hot)
    t.until("hot_loop  total 40.0 %")
    time.sleep(0.6)
    mouse(t, 0, *hot)			# two clicks, but no double click
    time.sleep(0.2); t.take(0.1)
    assert "worker" in t.text()
    time.sleep(0.6)
    mouse(t, 0, *hot)
    mouse(t, 0, *hot)
    t.until("worker", gone=True)
    t.send("r")
    mouse(t, 0, *place(t, "Threads")); t.until("kworker/0:1")
    mouse(t, 65, 5, 5)
    mouse(t, 0, *place(t, "101 R"))
    mouse(t, 2, *place(t, "101 R")); t.until("worker 101 of server")
    leave(t)
    t = tui("fixture.pbz", "--no-mouse")
    t.until("hot_loop")
    assert b"1000h" not in t.raw
    leave(t)


# Scrolling of the list under the detail of a thread is drawn with the terminal's own means.
def thread_detail():
    t = tui("full.pbz", "--view", "threads", rows=24, cols=80)
    t.until("TID")
    t.send("G", "enter")
    t.until("lately")
    seen = t.text()
    t.resize(24, 81)		# all is drawn anew
    time.sleep(0.5); t.take(0.2)
    t.resize(24, 80)
    time.sleep(0.5); t.take(0.2); t.take(0.2)
    assert t.text() == seen, "what was drawn in steps:\n%s\nand at once:\n%s" % (seen, t.text())
    leave(t)


def sizes():
    t = tui("fixture.pbz", rows=24, cols=80)
    t.until("hot_loop")
    for rows, cols in ((90, 300), (5, 20), (1, 1), (24, 80)):
        t.resize(rows, cols)
        time.sleep(0.5)
        t.take(0.2)
        t.send("tab", "backtab")
    t.until("hot_loop")
    assert all(len(line) <= 80 for line in t.text().split("\n"))
    leave(t)


def no_colour():
    for env, words in (({"NO_COLOR": "1"}, []), ({}, ["--no-color"]), ({"TERM": "vt100"}, [])):
        t = tui("fixture.pbz", *words, env=env)
        t.until("hot_loop")
        assert b"\x1b[38;5" not in t.raw and b"\x1b[48;5" not in t.raw and b"\x1b[31" not in t.raw
        leave(t)
    t = tui("fixture.pbz", env={"TERM": "xterm"})	# eight colours
    t.until("hot_loop")
    assert b"\x1b[43m" in t.raw or b";43m" in t.raw
    leave(t)
    t = tui("fixture.pbz")
    t.until("hot_loop")
    assert b"48;5;" in t.raw
    leave(t)


# A terminal that takes red, green and blue instead of numbers of a palette.
def true_colour():
    with open("direct.ti", "w") as out:
        out.write("""xterm-rgb|of this test, RGB, colors#0x1000000, pairs#0x7FFF, initc@, op=\\E[39;49m,
	setaf=\\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	setab=\\E[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	use=xterm-256color,
""")
    assert os.system("tic -x -o terminfo direct.ti") == 0
    t = tui("fixture.pbz", env={"TERM": "xterm-rgb", "TERMINFO": os.path.abspath("terminfo")})
    t.until("hot_loop")
    assert b"48;2;" in t.raw and b"48;5;" not in t.raw
    assert b"\x1b[48;2;0;95;135m" in t.raw		# the bar: 24 of the palette
    leave(t)


def without_utf8():
    t = tui("full.pbz", "--view", "time", env={"LC_ALL": "C", "LANG": "C"})
    t.until("cursor at")
    assert all(b < 0x80 for b in t.raw), "bytes above 127 in a locale without UTF-8"
    leave(t)


def dumb():
    t = tui("fixture.pbz", env={"TERM": "dumb"})
    assert t.ends() == 2
    assert b"TERM=dumb" in t.raw and b"--once" in t.raw and b"\x1b" not in t.raw


def ends_by(number, code):
    t = tui("fixture.pbz")
    t.until("hot_loop")
    t.signal(number)
    got = t.ends()
    assert got == code, got
    t.check_restored()


def signals():
    ends_by(signal.SIGTERM, 0)
    ends_by(signal.SIGHUP, 0)
    ends_by(signal.SIGSEGV, -signal.SIGSEGV)
    ends_by(signal.SIGABRT, -signal.SIGABRT)
    t = tui("fixture.pbz")
    t.until("hot_loop")
    t.send("ctrl-c")
    assert t.ends() == 0
    t.check_restored()


def stops_and_goes_on():
    t = Terminal(["bash", "-ic", "set -m; PS1=; %s tui fixture.pbz; echo stopped $?; fg; echo over $?" % probee])
    t.until("hot_loop")
    t.send("ctrl-z")
    t.until("stopped 148", seconds=10) if b"stopped 148" in t.raw else None
    t.until("hot_loop")
    t.send("q")
    t.until("over 0")
    assert b"stopped 148" in t.raw
    assert t.ends() == 0


def exports():
    t = tui("fixture.pbz")
    t.until("hot_loop")
    t.send("o", "ctrl-u", "out.svg", "enter")
    t.until("out.svg: ")
    leave(t)
    assert open("out.svg").read().startswith("<?xml")


# Reports of samples are written beside the view, by a process without rights; the view goes on. Esc takes the file back.
def exports_samples():
    t = tui("full.pbz")
    t.until("100,000 samples")
    for name in ("full.csv", "full.pb.gz", "full.html", "full.speedscope.json"):
        t.send("o", "ctrl-u", name, "enter")
        t.until(name + ": ", seconds=60)
        t.until(" written", seconds=60)
        assert os.path.getsize(name) > 1000
    with open("full.csv") as rows:
        assert sum(1 for row in rows) == 100001
    t.send("o", "ctrl-u", "gone.csv", "enter", "esc")
    t.until("gone.csv is not written")
    assert not os.path.exists("gone.csv")
    t.send("o", "ctrl-u", "left.csv", "enter", "q")
    t.until("still being written")
    leave(t)
    assert not os.path.exists("left.csv")


# A trace that grows while it is looked at: what comes is shown. The first half is there when it begins.
def grows():
    whole = open("full.pbz", "rb").read()
    with open("grow.pbz", "wb") as out:
        out.write(whole[:len(whole) // 2])
        out.flush()
        t = Terminal(["bash", "-c", "exec \"$0\" tui grow.pbz --refresh-ms 100", probee])
        t.until("samples")
        first = t.text().split(" samples")[0].split()[-1]
        assert first != "100,000", first
        out.write(whole[len(whole) // 2:])
        out.flush()
        t.until("100,000 samples")
        leave(t)


case(keys_and_views)
case(by_mouse)
case(thread_detail)
case(sizes)
case(no_colour)
case(true_colour)
case(without_utf8)
case(dumb)
case(signals)
case(stops_and_goes_on)
case(exports)
case(exports_samples)
case(grows)
sys.exit(wrong != 0)
END
run env PYTHONPATH="$root/tests/cli" $python -B drive.py; exits 0
[ "$rc" = 0 ] || cat "$TMP/stdout" "$TMP/stderr"
finish
