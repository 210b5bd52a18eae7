#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording formats/render
# light: yes
# beside: live
# snapshot --csv writes rows while it records. They are the same bytes as in a report of its trace, and no reader delays
# the recording.
# timeout: 200
. "$(dirname "$0")/lib.sh"

# As csv() of lib.sh, but with inlined functions, as rows that are written while recording.
csv() { "$PROBEE" report "$@" --csv 2>>"$T/err" || echo "report $1 --csv: exit $?" >>"$T/report-failed"; }

# same WHAT OPTION...: the rows written while it ran equal those of the report.
same() {
	local what=$1
	shift
	run_limited snapshot -o same.pbz --csv "$@" >live.csv
	check "$what: exit status" equal "$RC" 0
	# shellcheck disable=SC2086
	csv same.pbz ${REPORT_OPTS:-} >report.csv
	check "$what: the report's rows" python3 "$LIVE/rows_match.py" live.csv report.csv $crowd
	check "$what: rows" at_least "$(grep -c . live.csv)" "${ROWS:-10}"
}

start threads 2000 sleep
crowd=$PID
ROWS=20000 same "10 walks of all" -a -F 5 -i 10
REPORT_OPTS="-r -q" same "reversed, without header" -a -F 5 -i 2 -r -q
REPORT_OPTS=-q same "idle kernel threads" -a -i 1 --include-idle -q
ROWS=60000 same "as often as it can" -p "$crowd" -F 100 -i 30
start storm procs 4
same "while programs come and go" -a -F 20 -i 40
finish "$PID"
late() { for _ in $(seq 20); do "$WORKLOADS/chain30" sleep >/dev/null & sleep 0.2; kill $!; done; } 2>/dev/null
background late
same "programs that begin under way" -a -F 10 -i 25
finish "$PID"

# A compressed file is written at the end, whole.
run_limited snapshot -p "$crowd" -F 2 -i 2 -o packed.pbz --csv=packed.csv.zst
csv packed.pbz >report.csv
check "the compressed file is the report" cmp <(zstd -dc packed.csv.zst) report.csv

# --- rows are there while it records
lines() { [ "$(wc -l <grows.csv 2>/dev/null || echo 0)" -ge "$1" ]; }
run_limited snapshot -p "$crowd" -F 2 -i 8 -o grows.pbz --csv=grows.csv &
run=$!
for n in 1 2 3 4; do
	check "the file has walk $n" until_true 20 lines $((n * 2001 + 1))
	check "and not the one after the next" at_most "$(wc -l <grows.csv)" $(((n + 1) * 2001 + 1))
	check "and goes on" alive $run
done
wait $run
csv grows.pbz >report.csv
check "the file is the report" cmp grows.csv report.csv
first_line() { timeout 20 "$PROBEE" snapshot -a -F 2 -o grep.pbz --csv 2>grep.err | grep -m 1 "|$crowd|"; }
before=$(date +%s%N)
check "| grep -m 1 finds its line" first_line
check "| grep -m 1: and ends" at_most $((($(date +%s%N) - before) / 1000000)) 10000

# --- code that is gone before it is read holds no rows back
if [ "$(uname -m)" = x86_64 ]; then
	background python3 -c '
i = 0
while True:
    i, made = i + 1, {}
    exec("def f%d(n):\n  for k in range(3000): n += k\n  return n" % i, made)
    made["f%d" % i](i)
    made.clear()
    junk = [bytes(n) for n in range(16, 500, 4) for _ in range(9)]'
	rm -f grows.csv
	run_limited snapshot -p "$PID" -F 20 -i 160 -o gone.pbz --csv=grows.csv &
	run=$!
	check "code that is gone: rows come" until_true 20 lines 60
	check "code that is gone: while it records" alive $run
	wait $run
	finish "$PID"
	csv gone.pbz >report.csv
	grep -q ': gone\]' grows.csv || skip_part "code that is gone: is met" "all of it was read in time"
	check "code that is gone: the report's rows" python3 "$LIVE/rows_match.py" grows.csv report.csv "$PID"
fi

# --- the reader goes away
gone() {
	before=$(date +%s%N)
	timeout 30 "$PROBEE" snapshot -a -o gone.pbz --csv "$@" 2>gone.err | head -3 >gone.csv
	rc=${PIPESTATUS[0]}
	took=$((($(date +%s%N) - before) / 1000000))
	csv gone.pbz >report.csv
}
gone -F 1
check "| head -3: exit status" equal "$rc" 0
check "| head -3: three lines of the report" cmp gone.csv <(head -3 report.csv)
snapshot -a -i 1 -o plain.pbz
# Where the time went may take more lines in one recording than in another.
# So may what a busy machine makes one wait for, or leave out.
other_lines() { grep -vcE '^probee: (threads:|wrong:|waiting for|  )|left out|could block' "$1"; }
check "| head -3: says no more than a recording that nobody cut short" at_most "$(other_lines gone.err)" $(($(other_lines err) + 1))
check "| head -3: and nothing of a pipe" not grep -qiE 'pipe|standard output' gone.err
# Nothing is lost but what a busy machine leaves out: a scan that is due, files that are not read in time.
whole() {
	local rc
	"$PROBEE" report -q gone.pbz --strict --collapse >/dev/null 2>strict.err
	rc=$?
	[ $rc = 0 ] && return
	cat strict.err
	[ $rc = 3 ] && grep -qE '[0-9]+ (snapshots? w[a-z]+ left out|stacks? ends? in a file that was not read)' strict.err &&
		! grep -qE 'lost \(|never came|missing' strict.err &&
		[ "$(wc -l <strict.err)" = 1 ]
}
check "| head -3: the trace is whole" whole
check "| head -3: and says why it ended" bash -c "'$PROBEE' info gone.pbz | grep -q 'reader of its rows has gone'"
gone -F 0.05
check "gone between two walks: exit status" equal "$rc" 0
check "gone between two walks: ends before the next one" at_most "$took" 10000

# --- a reader that does not read
start threads 12000 sleep
timeout 40 "$PROBEE" snapshot -p "$PID" -F 20 -d 12 -o slow.pbz --csv 2>slow.err | { sleep 6; cat >slow.csv; } &
until_true 10 pgrep -f -x "$PROBEE snapshot -p $PID .*slow.pbz --csv"
sleep 4.5
probee=$(pgrep -o -f -x "$PROBEE snapshot -p $PID .*slow.pbz --csv")
check "a slow reader: memory" at_most "$(awk '/^VmHWM/ { print $2 }' "/proc/$probee/status")" 200000
wait $!
csv slow.pbz >report.csv
check "a slow reader: gets all rows" cmp slow.csv report.csv
check "a slow reader: walks wait for it, which is said" grep -q 'snapshots were left out' slow.err
check "a slow reader: and under every report" bash -c "'$PROBEE' report slow.pbz --text 2>&1 | grep -qE 'snapshots? w[a-z]+ left out'"
finish "$PID"

# --- Ctrl-C while the reader sleeps: the trace is there at once
mkfifo fifo
sleep 60 <fifo &
sleeper=$!
STARTED+=($sleeper)
"$PROBEE" snapshot -p "$crowd" -F 5 -o int.pbz --csv >fifo 2>int.err &
probee=$!
STARTED+=($probee)
sleep 2
kill -INT $probee
check "Ctrl-C while nobody reads: the trace is finished" until_true 5 bash -c "'$PROBEE' info int.pbz 2>/dev/null | grep -q 'ended.*signal'"
finish $sleeper
check "then the reader goes: ends" bash -c "for i in \$(seq 50); do [ -d /proc/$probee ] && ! grep -q 'State:.Z' /proc/$probee/status || exit 0; sleep 0.1; done; exit 1"
wait $probee
check "exit status" equal $? 0

# --- files that cannot be written
run_limited snapshot -p "$crowd" -F 5 -i 5 -o full.pbz --csv=/dev/full
check "/dev/full: exit status" equal "$RC" 1
check "/dev/full: says so" grep -qi 'no space' "$T/err"
check "/dev/full: the trace is whole" equal "$(csv full.pbz -q | wc -l)" 10005
run_limited snapshot -p "$crowd" -F 5 -i 2 -o kept.pbz --csv=kept.pbz
check "the trace itself: refused" equal "$RC" 1
run_limited snapshot -p "$crowd" -F 5 -i 2 -o /dev/null --csv=null.csv
check "-o /dev/null: rows are there all the same" equal "$(wc -l <null.csv)" 4003
run_limited snapshot -p "$crowd" -F 5 -i 2 -o two.pbz --csv=two.csv --collapse=two.folded --csv >two2.csv
check "with other reports: exit status" equal "$RC" 0
check "with other reports: each is there" cmp two.csv two2.csv
check "with other reports: and the folded stacks" equal "$(stacks total two.folded)" 4002
done_testing
