#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording formats/trace src/capture/session
# beside: live
# A recording that goes on in another segment of its trace again and again: nothing is lost or counted twice, and each
# segment can be read without those before it, with names and whole stacks.
. "$(dirname "$0")/lib.sh"
SPEC=$ROOT/tests/spec
export PYTHONDONTWRITEBYTECODE=1

[ "$(uname -m)" = x86_64 ] || skip "the workload makes code for x86-64 only"
command -v zstd >/dev/null || skip "zstd is not installed"

by_the_page() {
	local remarks
	remarks=$(python3 "$SPEC/decode.py" --check "$1" 2>&1) || remarks="$remarks fails"
	[ -z "$remarks" ] || { echo "$remarks"; return 1; }
}

# json TRACE EXPRESSION: of `probee info --json`, as d.
json() {
	"$PROBEE" info --json "$1" 2>>"$T/err" | python3 -c "import json, sys; d = json.load(sys.stdin); print($2)"
}

# rows_of TRACE PID: rows of scans; without_stack of them.
rows_of() { csv "$1" -q --event snapshot --all-threads --columns tgid,ustack 2>>"$T/err" | awk -F'|' -v p="$2" '$1 == p'; }
without_stack() { rows_of "$1" "$2" | awk -F'|' '$2 !~ /;t1[+].*;thread_main[+]|;wait_forever[+].*;main[+]/' | wc -l; }

start jit plain
JIT=$PID
start threads 50 sleep
SLEEPERS=$PID
background_group bash -c 'while :; do "$0" 5; ls /usr >/dev/null; done' "$WORKLOADS/brief"
CHURN=$PID
timeout -k 5 60 "$PROBEE" record -a -v --off-cpu --off-cpu-budget 100 -F 499 --snap-freq 5 --audit 1/50 --segment-size 20K -d 10 -o x.pbz 2>err
RC=$?
finish "$CHURN"
finish "$SLEEPERS"
finish "$JIT"
rm -f "/tmp/perf-$JIT.map"
check "exit status" equal "$RC" 0
NR=$(python3 "$LIVE/segments.py" x.pbz part)
check "several parts: $NR" test "$NR" -ge 3
check "one recording, which is finished" equal "$(json x.pbz '*d["recordings"].values(), d["ended"]["by"]')" "1 1 duration"
check "no sample and no name is lost" equal "$(json x.pbz 'd["lost"]["samples"], d["lost"]["by_cause"].get("symbol-budget", 0)')" "0 0"
check "no stack of a stay is missing" grep -q ' without_stack=0 ' err
check "all of it is as the page of the format says" by_the_page x.pbz
sum=0
for i in $(seq "$NR"); do
	check "part $i: as the page of the format says" by_the_page "part$i.pbz"
	sum=$((sum + $(json "part$i.pbz" 'd["samples"]')))
	folded "part$i.pbz" --event cpu-clock >folded
	# On a busy machine a part may end before the map of the code is read again.
	check "part $i: code made at run time has its name" stacks share folded "main;run_jit;jit_spin" --of run_jit --percent 50 --min 10
	check "part $i: short lives have whole stacks" stacks share folded "main;brief_outer;brief_leaf" --of brief_leaf --percent 95 --min 10
	[ "$(json "part$i.pbz" 'd["snapshots"]["count"]')" != 0 ] || continue	# the last one may be brief
	check "part $i: each scan has all sleepers" equal "$(rows_of "part$i.pbz" "$SLEEPERS" | wc -l)" \
		$((51 * $(json "part$i.pbz" 'd["snapshots"]["count"]')))
	check "part $i: and their stacks" equal "$(without_stack "part$i.pbz" "$SLEEPERS")" 0
done
check "the samples of the parts are those of the recording" equal "$sum" "$(json x.pbz 'd["samples"]')"
check "the last but one has rows that are repeated" grep -q REPEAT <("$PROBEE" info --sizes --no-pager "part$((NR - 1)).pbz")
# A process whose program was not known at first may look like two.
same_numbers() { awk -v a="$1" -v b="$2" 'BEGIN { print a, b; split(a, x); split(b, y); for (i in x) if ((x[i] - y[i]) ^ 2 > (x[i] / 100) ^ 2) exit 1 }'; }
said=$(sed -nE 's/.* of ([0-9,]+) threads? in ([0-9,]+) process.*/\1 \2/p' err | tr -d ,)
check "threads and processes count once" same_numbers "$said" "$(json x.pbz 'd["tasks"]["threads"], d["tasks"]["processes"]' | tr -d '(),')"
check "the CPUs were as busy as the kernel says" not grep -q differ <("$PROBEE" info --no-pager x.pbz)
"$PROBEE" verify x.pbz >verified 2>&1
RC=$?
# Files of other programs of the machine may be gone by now; that is another matter. Programs of other tests have stacks of which libdw
# makes nothing.
verified() { [ "$RC" = 0 ] || [ "$RC" = 4 ] && ! awk '$NF == "different" && $1 > 10 { bad = 1 } END { exit !bad }' verified || { tail -n 30 verified; return 1; }; }
check "none of its stacks is another one to libdw" verified

# Rows that are written while it records are those of a report, whatever part they are in.
start threads 30 sleep
SLEEPERS=$PID
background_group bash -c 'while :; do "$0" 5; done' "$WORKLOADS/brief"
CHURN=$PID
timeout -k 5 60 "$PROBEE" snapshot -a -F 20 -d 6 --segment-size 6K -o rows.pbz --csv=live.csv 2>err
RC=$?
finish "$CHURN"
check "live rows: exit status" equal "$RC" 0
NR=$(python3 "$LIVE/segments.py" rows.pbz rows)
check "live rows: several parts: $NR" test "$NR" -ge 3
csv rows.pbz >rows.csv
"$PROBEE" report rows.pbz --csv >rows.csv 2>>err
check "live rows are those of a report" python3 "$LIVE/rows_match.py" live.csv rows.csv "$SLEEPERS"
check "live rows: none is a mistake of the recorder" equal "$(json rows.pbz 'd["ends"].get("bug", 0)')" 0

# By the clock: a part in each span of 2 s that begins at an odd half second.
timeout -k 5 60 "$PROBEE" snapshot -a -F 5 -d 7 --segment-time 2s+0.5s -o timed.pbz 2>err
RC=$?
check "segments by time: exit status" equal "$RC" 0
NR=$(python3 "$LIVE/segments.py" timed.pbz timed)
check "segments by time: several parts: $NR" test "$NR" -ge 3 -a "$NR" -le 5
for i in $(seq "$NR"); do json "timed$i.pbz" '(d["begin_real_ns"] - 500000000) // 2000000000'; done >spans
check "segments by time: no two parts in the same span" equal "$(uniq spans | wc -l)" "$NR"
done_testing
