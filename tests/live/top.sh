#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/tui src/live src/profile src/report src/commands/cmd_top.c src/commands/top_server.c src/commands/top_recorder.c
# beside: live
# probee top: in a terminal that is pyte's and as text; the recording under it is whole, and ends with it, however it ends.
# timeout: 300
. "$(dirname "$0")/lib.sh"

start chain30 spin
export SPINNER=$PID

# The same as text.
run_limited top -p "$PID" --once --view flame --size 100x70 >flame.txt
check "top --once" equal "$RC" 0
check "top --once: that nothing is kept" grep -q "in memory, which is not kept" err
check "top --once: the stack to its leaf" grep -q "f30" flame.txt
check "top --once: with all names" not grep -q "chain30+0x" flame.txt
run_limited top -a --once --view threads --size 160x60 >threads.txt
check "top --once --view threads: the thread runs" grep -q " $PID R .*chain30" threads.txt
timeout -s INT --preserve-status -k 5 4 "$PROBEE" top -p "$PID" --follow --refresh-ms 500 --view top >follow.txt 2>follow.err
check "top --follow: again and again" python3 -S -c '
n = open("follow.txt").read().count(" probee  live")
print(n, "pictures")
assert 2 <= n <= 9, n'

# What cannot be recorded is said in the words of the recorder, with its exit code.
setpriv --reuid=65534 --regid=65534 --clear-groups "$PROBEE" top -a --once >nobody.txt 2>nobody.err
check "without rights: exit 77" equal "$?" 77
check "without rights: one reason" grep -q '^probee: ' nobody.err
run_limited top -p 999999999 --once
check "no such process: exit 1 or 2" test "$RC" = 1 -o "$RC" = 2
run_limited top --view nowhere
check "no such view: exit 2" equal "$RC" 2
run_limited top -o -
check "the trace cannot go to standard output" equal "$RC" 2
# A terminal that is of no use: one line, and nothing is recorded.
cat >on_terminal.py <<'E2'
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
p = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
os.close(theirs)
said = b""
while True:
    try:
        got = os.read(ours, 4096)
    except OSError:
        break
    if not got:
        break
    said += got
sys.stdout.write(said.decode().replace("\r\n", "\n"))
sys.exit(p.wait())
E2
# useless WHAT TEXT COMMAND...: it says one line with this text.
useless() {
	timeout 30 python3 -S on_terminal.py "${@:3}" >useless.txt
	RC=$?
	check "$1: it fails" test "$RC" = 1 -o "$RC" = 2
	check "$1: one line" equal "$(wc -l <useless.txt)" 1
	check "$1: it says why" grep -q "^probee: .*$2" useless.txt
}
useless "a kind that is not known" "its kind (TERM) is not known here" env TERM=nosuch "$PROBEE" top
useless "no kind" "TERM does not say of which kind it is" env -u TERM "$PROBEE" top
useless "a dumb one" "TERM=dumb cannot" env TERM=dumb "$PROBEE" top
useless "no /dev/null" "open /dev/null: No such file" unshare -m sh -c 'mount -t tmpfs none /dev && TERM=xterm exec "$0" top' "$PROBEE"

"$PROBEE" --tui --frequency 49 --tui-refresh-ms 500 --update-mode decay --no-tui-mouse --pid 7 --dry-run >dry.txt 2>&1
check "the ancestor's words" grep -qx -e 'probee top --refresh-ms=500 --update-mode=decay --no-mouse -F 49 -p 7 -q --include-idle' dry.txt

python=/usr/bin/python3
if ! $python -c 'import pyte' 2>/dev/null; then
	skip_part "python3-pyte is not installed"
	finish "$PID"
	done_testing
	exit
fi
cat >drive.py <<'E2'
import os, re, signal, subprocess, sys, time
sys.path.insert(0, os.environ["TERMINAL"])
from terminal import Terminal

probee, spinner = os.environ["PROBEE"], os.environ["SPINNER"]


# The processes below one, as numbers.
def below(pid):
    found = []
    for line in subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout.split("\n"):
        if len(line.split()) == 2 and int(line.split()[1]) == pid:
            found += [int(line.split()[0])] + below(int(line.split()[0]))
    return found


def gone(pids, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        left = [p for p in pids if os.path.exists("/proc/%d" % p) and "Z" not in open("/proc/%d/stat" % p).read().split(")")[1].split()[0]]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError("still there: %s" % left)


def views():
    t = Terminal([probee, "top", "--view", "flame", "-a", "-o", "kept.pbz", "--refresh-ms", "300"], rows=40, cols=160)
    t.until("Flame")
    t.send("/", "f30", "enter")
    t.until("/f30: ")
    t.send("esc", "tab", "tab")
    t.until(spinner)
    t.until("%CPU")
    t.send("p")				# by process, the busiest first
    t.until(" % CPU")
    time.sleep(0.2)
    t.take(0.1)
    shares = [float(share) for share in re.findall(r"threads?  .* ([0-9.]+) % CPU", t.text())]
    assert len(shares) > 1 and shares[0] > 0 and shares == sorted(shares, reverse=True), t.text()
    t.send("p", "p", "p")
    t.send("/", "^chain30$", "enter", "enter")
    t.until("of chain30")
    t.until("f30")
    t.send("tab", "tab"); t.until("cursor at")
    t.send("tab"); t.until("losses          none")
    below_it = below(t.child)
    with open("own.pids", "w") as out:
        out.write("|".join(map(str, [t.child] + below_it)))
    subprocess.run([probee, "snapshot", "-p", str(t.child), "-i", "2", "-F", "5", "-q", "-o", "view.pbz"])
    time.sleep(1.5)
    t.send("q")
    assert t.ends() == 0
    t.check_restored()
    gone(below_it)


# The first view is that of processes: how busy each is, and how much memory it has.
def processes():
    t = Terminal([probee, "top", "-p", spinner, "--refresh-ms", "300"], rows=24, cols=80)
    seen = t.until("chain30 ")
    for _ in range(100):
        row = re.search(r"^chain30 +" + spinner + r" +([0-9.]+) #* *([0-9.]+) (KB|KiB|MB|MiB) +R", t.text().replace("\u2588", "#"), re.M)
        if row and float(row.group(1)) > 0:
            break
        t.take(0.1)
    assert row and 0 < float(row.group(1)) <= 110 and float(row.group(2)) > 0, t.text()
    t.send("enter"); t.until(" process " + spinner); t.until("burn")
    t.send("q")
    assert t.ends() == 0


# However the view ends, the recording ends with it.
def killed():
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
        t = Terminal([probee, "top", "--view", "flame", "-p", spinner], rows=24, cols=80)
        t.until("f14")
        below_it = below(t.child)
        assert below_it
        t.signal(number)
        t.ends()
        gone(below_it)


def cpu_s(pid):
    fields = open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# A view that stands still takes nothing from the recording: what comes meanwhile is there when it goes on.
def stopped():
    t = Terminal([probee, "top", "--view", "flame", "-p", spinner, "--refresh-ms", "300"], rows=24, cols=120)
    t.until("f14")
    os.kill(t.child, signal.SIGSTOP)
    before = cpu_s(spinner)
    time.sleep(4)
    ran = cpu_s(spinner) - before		# beside other tests it may have a part of a CPU
    os.kill(t.child, signal.SIGCONT)
    time.sleep(1.5)
    t.take(0.5)
    seen = t.until("0 lost")
    samples = int(seen.split(" samples")[0].split()[-1].replace(",", ""))
    assert samples > 99 * ran * 0.8, (samples, ran)
    t.send("q")
    assert t.ends() == 0


# Of a command, until it ends; then the view stays.
def samples_from_memory():
    """A recording that goes to no file keeps its last segments: reports that need samples are made of these."""
    t = Terminal([probee, "top", "--view", "flame", "-p", spinner, "--refresh-ms", "300"], rows=40, cols=120)
    t.until("f30", 20)
    time.sleep(2)       # for more than its first samples
    t.send("o", "ctrl-u", "memory.csv", "enter")
    t.until("memory.csv: ", 20)
    rows = open("memory.csv").read().split("\n")
    assert len(rows) > 5 and any("f30" in r for r in rows), rows[:3]
    t.send("q")
    assert t.ends() == 0


def brief():
    """Who leaves the view reads two lines at most: how many there were, and the last one."""
    for path in ("brief.pbz", None):
        t = Terminal([probee, "top", "--view", "flame", "-p", spinner + ",4194301,4194302,4194303"] + (["-o", path] if path else []), rows=24, cols=240)
        t.until("f14")
        t.send("q")
        assert t.ends() == 0
        said = [line for line in t.text().split("\n") if line.startswith("probee: ")]
        assert len(said) == 2 and "4194301 has ended, and is left out; process 4194302" in said[0] and " samples" in said[1], said
    t = Terminal([probee, "top", "--view", "flame", "-p", spinner + "".join(",%d" % n for n in range(4194200, 4194300))], rows=24, cols=120)
    t.until("f14")
    t.send("backtab", "backtab")
    t.until("process 4194204 has ended")	# the view Health has them all
    t.send("q")
    assert t.ends() == 0
    assert " messages more. Try: probee record" in t.text() and t.text().count("probee: ") == 2, t.text()


def command():
    t = Terminal([probee, "top", "--view", "flame", "--", "sh", "-c", "sleep 2; echo on the screen"], rows=24, cols=100)
    t.until("ended", seconds=20)
    assert "on the screen" not in t.text()
    t.send("q")
    assert t.ends() == 0


for case in sys.argv[1:]:
    globals()[case]()
E2
export TERMINAL=$ROOT/tests/cli PROBEE
for case in processes views killed stopped samples_from_memory brief command; do
	check "terminal: $case" timeout 150 $python -B drive.py $case
done
check "what top kept is whole, and nothing is lost" "$PROBEE" report kept.pbz --strict --collapse=kept.folded
check "it has the stacks" grep -q "f29;f30" kept.folded
"$PROBEE" report -q kept.pbz --event snapshot --csv >own.csv
check "it has none of its own processes: there are some" at_least "$(tr '|' ' ' <own.pids | wc -w)" 5
check "it has none of its own processes" not grep -qE "^[^|]*\|[0-9]+\|($(cat own.pids))\|" own.csv
check "another recording has them if they are asked for" grep -qE "\|($(cat own.pids))\|probee" \
	<("$PROBEE" report -q view.pbz --event snapshot --csv)
finish "$PID"
done_testing
