#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture src/foreign src/parse src/helpers
# timeout: 300
# One user does his worst to recordings of the whole machine, in each kind of tests/workloads/neighbour.c and as a Python
# program with very many functions. Stacks of another user's program are whole and have their names, recordings end when they
# are to, and the losses of a trace agree with its format. How much it costs is measured in tests/bench/part_neighbour.sh.
. "$(dirname "$0")/lib.sh"

cp "$WORKLOADS/neighbour" "$WORKLOADS/chain30" "$ROOT/tests/workloads/python_flood.py" . && chmod 755 neighbour chain30
start ./chain30 spin
victim=$PID

# hostile KIND: it has the lowest priority, so that it takes from others what a recording costs, and little more.
hostile() {
	local command=(./neighbour "$1")
	[ "$1" != python ] || command=(python3 -S python_flood.py)
	background_group setpriv --reuid=65534 --regid=65534 --clear-groups nice -n 19 "${command[@]}" >ready
	until_true 60 grep -q ready ready || { check "$1 gets ready" false; exit 1; }
}

# whole WHAT TRACE LEAST: at most one stack in a hundred of the victim has no main() or a frame without a name.
whole() {
	local n broken
	"$PROBEE" report "$2" -q --csv --columns=tgid,ustack 2>>"$T/err" | awk -F'|' -v pid="$victim" '
		$1 == pid && $2 != "" { n++; if ($2 !~ /main/ || $2 ~ /unknown|\+0x[0-9a-f]+\]/) bad++ }
		END { print n + 0, bad + 0 }' >counts
	read -r n broken <counts
	check "$1: $n stacks of the victim, $broken of them broken" test "$n" -ge "$3" -a $((broken * 100)) -le "$n"
}

by_signal() { "$PROBEE" info "$1" 2>>"$T/err" | grep -q '^ended .*signal'; }
ended() { grep -q '^State:.Z' "/proc/$1/status" || [ ! -e "/proc/$1" ]; }

for kind in renames maps files threads execs switches deep code crowd python; do
	if [ $kind = python ] && ! command -v python3 >/dev/null; then
		skip_part "python: no python3"
		continue
	fi
	hostile $kind
	troop=$PID
	sample -a -F 199 -d 2 -q -o "$kind.pbz"
	check "$kind: sample: exit status" equal "$RC" 0
	whole "$kind: sample" "$kind.pbz" 10
	check "$kind: the trace agrees with its format" python3 "$ROOT/tests/spec/decode.py" --check "$kind.pbz"
	snapshot -a -F 5 -i 4 -q -o rows.pbz
	check "$kind: snapshot: exit status" equal "$RC" 0
	whole "$kind: snapshot" rows.pbz 3
	rm -f ended.pbz
	"$PROBEE" sample -a -q -o ended.pbz 2>ended.err &
	recorder=$!
	STARTED+=("$recorder")
	check "$kind: a recording begins" until_true 30 test -e ended.pbz
	kill -INT "$recorder"
	check "$kind: it ends when it is asked to" until_true 20 ended "$recorder"
	check "$kind: in good order" by_signal ended.pbz
	finish "$troop"
done
done_testing
