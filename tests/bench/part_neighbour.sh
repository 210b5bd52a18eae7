# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What one user who does his worst does to a recording of the whole machine: NEIGHBOURS (kinds of tests/workloads/neighbour.c, and
# python: python_flood.py) as the user 65534, with the lowest priority, so that he takes from the others what a recording costs and
# no more. Beside him runs chain30 of root's, without frame pointers. For each kind and each round a recording without him and one with
# him: how many of chain30's stacks are whole and have their names, how long -d NEIGHBOUR_S (4) and the end after SIGINT take beyond
# that, and the CPU time of all processes of the recording; samples and snapshots (10 a second). What was lost is told on stderr.
# OLD=FILE: another probee to compare with, in turns.

NEIGHBOURS=${NEIGHBOURS:-renames maps files threads execs switches deep code crowd python}

hostile_start() {
	local fd command=("$T/neighbour" "$1")
	[ "$1" != python ] || command=(python3 "$root/tests/workloads/python_flood.py")
	exec {fd}< <(exec setpriv --reuid 65534 --regid 65534 --clear-groups nice -n 19 "${command[@]}")
	HOSTILE=$!
	STARTED+=("$HOSTILE")
	read -r -t 60 -u "$fd" _ || say "$1 did not get ready"
	sleep 0.5
}

# neighbour_losses TRACE
neighbour_losses() {
	"$1" info "$2" --json | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["lost"]["by_cause"])'
}

# neighbour_once TOOL PROBEE COMMAND KIND: one recording that ends by itself and one that is ended.
neighbour_once() {
	local tool=$1 program=$2 command=$3 what="$3, $4" begin words=()
	[ "$command" = sample ] || words=(-F 10)
	launched life "$program" "$command" -q -a "${words[@]}" -d "${NEIGHBOUR_S:-4}" -o trace
	wait "$LAUNCH"
	record "$what: ms beyond -d, start included" "$tool" "$(calc "$(of life wall_ms) - ${NEIGHBOUR_S:-4} * 1000")"
	record "$what: CPU ms" "$tool" "$(of life cpu_ms)"
	"$program" report trace -q --csv | awk -F'|' -v pid="$victim" '$2 == pid { n++; if (/f30\+.*f1\+.*main/) whole++ }
		END { print n + 0, whole + 0 }' >counts
	record "$what: % of chain30 whole" "$tool" "$(awk '{ print $1 ? 100 * $2 / $1 : 0 }' counts)"
	record "$what: stacks of chain30" "$tool" "$(awk '{ print $1 }' counts)"
	echo "# $what: $tool lost $(neighbour_losses "$program" trace)" >&2
	launched life "$program" "$command" -q -a "${words[@]}" -o trace
	sleep "${NEIGHBOUR_S:-4}"
	begin=$(date +%s%N)
	kill -INT "$TOOL_PID"
	wait "$LAUNCH"
	record "$what: ms from SIGINT to exit" "$tool" "$(calc "($(date +%s%N) - $begin) / 1e6")"
}

chmod 755 "$T"
cp "$WORKLOADS/neighbour" "$T/" && chmod 755 "$T/neighbour"
for round in $(seq "$ROUNDS"); do
	for kind in $NEIGHBOURS; do
		# Workloads end by themselves after 300 s.
		start chain30 spin
		victim=$PID
		for command in sample snapshot; do
			neighbour_once without "$PROBEE" $command "$kind"
			hostile_start "$kind"
			[ -z "${OLD:-}" ] || neighbour_once "with, before" "$OLD" $command "$kind"
			neighbour_once with "$PROBEE" $command "$kind"
			finish "$HOSTILE"
		done
		finish "$victim"
	done
done
for p in "${STARTED[@]}"; do finish "$p"; done
STARTED=()
