#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording formats/trace src/capture/session
# beside: live
# timeout: 240
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
# Short lives of 5 ms of CPU time each, as many as are wanted, however long they take on a busy machine; and several parts.
timeout -k 5 80 "$PROBEE" record -a -v --off-cpu --off-cpu-budget 100 -F 499 --snap-freq 5 --audit 1/50 --segment-size 20K -o x.pbz -- \
	bash -c 'i=0; while [ $i -lt 150 ] || [ $SECONDS -lt 7 ]; do "$0" 5 cpu; ls /usr >/dev/null; i=$((i + 1)); done; echo $i >lives' "$WORKLOADS/brief" 2>err
RC=$?
finish "$SLEEPERS"
finish "$JIT"
rm -f "/tmp/perf-$JIT.map"
check "exit status" equal "$RC" 0
NR=$(python3 "$LIVE/segments.py" x.pbz part)
check "several parts: $NR" test "$NR" -ge 3
check "one recording, which is finished" equal "$(json x.pbz '*d["recordings"].values(), d["ended"]["by"]')" "1 1 target-exit"
check "no sample is lost" equal "$(json x.pbz 'd["lost"]["samples"]')" 0
# The names of a part are waited for during 1 s. A machine that is too busy for that has parts that lack names, which are counted.
check "no name is lost unless one was waited for" awk -v lost="$(json x.pbz 'd["lost"]["by_cause"].get("symbol-budget", 0)')" '/definitions forgotten in/ && $(NF - 1) > most { most = $(NF - 1) }
	END { print lost, "lost, waited for", most, "ms"; exit !(lost == 0 || most >= 1000) }' err
check "no stack of a stay is missing" grep -q ' without_stack=0 ' err
check "all of it is as the page of the format says" by_the_page x.pbz
samples_of() { awk -v n=";$1" 'index($0, n) { s += $NF } END { print s + 0 }' "$2"; }
# judge PART FUNCTION PERCENT CHAIN: so many of the function's stacks are the chain. A part that has few of them, because a busy machine
# fills parts with others, is judged together with others of that kind.
judge() {
	[ "$(samples_of "$2" folded)" -ge 10 ] || { cat folded >>"few.$2"; return; }
	judged=$((judged + 1))
	check "part $1: $2 has its name and whole stacks" stacks share folded "$4" --of "$2" --percent "$3" --min 10
}
OF_JIT=(run_jit 50 "main;run_jit;jit_spin")	# a part may end before the map of the code is read again
OF_LIVES=(brief_leaf 95 "main;brief_outer;brief_leaf")
sum=0 judged=0 most=0 most_scans=0
: >few.run_jit >few.brief_leaf
# A busy machine has twenty parts and more: about six of them are looked at, and the samples of all are counted.
for i in $(seq "$NR"); do
	read -r nr nameless scans < <(json "part$i.pbz" '*(d["samples"], d["lost"]["by_cause"].get("symbol-budget", 0), d["snapshots"]["count"])')
	sum=$((sum + nr))
	[ $((i % ((NR + 5) / 6))) = 0 ] || continue
	check "part $i: as the page of the format says" by_the_page "part$i.pbz"
	folded "part$i.pbz" --event cpu-clock >folded
	[ "$nameless" = 0 ] || continue
	judge "$i" "${OF_JIT[@]}"
	judge "$i" "${OF_LIVES[@]}"
	[ "$scans" != 0 ] || continue	# the last one may be brief
	[ "$scans" -le $most_scans ] || { most=$i most_scans=$scans; }
	check "part $i: each scan has all sleepers" equal "$(rows_of "part$i.pbz" "$SLEEPERS" | wc -l)" $((51 * scans))
	check "part $i: and their stacks" equal "$(without_stack "part$i.pbz" "$SLEEPERS")" 0
done
for of in OF_JIT OF_LIVES; do
	declare -n its=$of
	mv "few.${its[0]}" folded
	[ "$(samples_of "${its[0]}" folded)" -lt 10 ] || judge "s with few" "${its[@]}"
done
check "stacks of parts were judged" at_least "$judged" 2
folded x.pbz --event cpu-clock >all.folded
lives=$(cat lives)
check "samples of $lives short lives: as many as their CPU time" at_least "$(samples_of brief_leaf all.folded)" $((lives * 5 * 499 * 8 / 10000))
check "the samples of the parts are those of the recording" equal "$sum" "$(json x.pbz 'd["samples"]')"
[ $most_scans -lt 2 ] || check "part $most, of $most_scans scans, has rows that are repeated" grep -q REPEAT <("$PROBEE" info --sizes --no-pager "part$most.pbz")
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
# Lines are waited for during 0.25 s at the end of a part, so a function may have its inlined functions in a later part only. A row is
# that of its own part then; a report of all parts has them in it.
for i in $(seq "$NR"); do "$PROBEE" report "rows$i.pbz" --csv $([ "$i" = 1 ] || echo -q); done >parts.csv 2>>err
"$PROBEE" report rows.pbz --csv >rows.csv 2>>err
calls() { sed -E 's/[^;|]*_\[i\];//g' "$1"; }
check "live rows are those of a report of their part" python3 "$LIVE/rows_match.py" live.csv parts.csv "$SLEEPERS"
check "live rows: their calls are those of a report of all" python3 "$LIVE/rows_match.py" <(calls live.csv) <(calls rows.csv) "$SLEEPERS"
check "live rows: none is a mistake of the recorder" equal "$(json rows.pbz 'd["ends"].get("bug", 0)')" 0

# By the clock: a part in each span of 2 s that begins at an odd half second.
has_parts() { [ "$(grep -ao PROBEE-PBZ timed.pbz | wc -l)" -ge "$1" ]; }
began=$SECONDS
"$PROBEE" snapshot -a -F 5 -d 60 --segment-time 2s+0.5s -o timed.pbz 2>err &
recorder=$!
STARTED+=($recorder)
until_true 60 has_parts 4
kill -INT $recorder
wait $recorder
RC=$?
check "segments by time: exit status" equal "$RC" 0
NR=$(python3 "$LIVE/segments.py" timed.pbz timed)
check "segments by time: several parts: $NR" test "$NR" -ge 4 -a "$NR" -le $(((SECONDS - began) / 2 + 2))
for i in $(seq "$NR"); do json "timed$i.pbz" '(d["begin_real_ns"] - 500000000) // 2000000000'; done >spans
check "segments by time: no two parts in the same span" equal "$(uniq spans | wc -l)" "$NR"
done_testing
