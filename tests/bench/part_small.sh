# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The memory of a recording of one small process (`sample -p` of a sleep): PSS of all processes of the tool together, 5 s
# after its begin, how many processes these are. Beside it perf and, if BASELINE is
# set, another probee.

begin_small() { sleep 1000 & SMALL=$!; STARTED+=("$SMALL"); disown; }

# small NAME COMMAND...
small() {
	launched life "${@:2}"
	[ -n "$TOOL_PID" ] || return
	sleep 5
	record "one process: PSS MiB" "$1" "$(calc "$(pss "$TOOL_PID") / 1024")"
	record "one process: processes of the tool" "$1" "$(family "$TOOL_PID" | wc -w)"
	kill -INT "$TOOL_PID"
	wait $LAUNCH
}

begin_small
for round in $(seq "$ROUNDS"); do
	small probee "$PROBEE" sample -q -p "$SMALL" -o small.pbz
	[ -z "${BASELINE:-}" ] || small baseline "$BASELINE" sample -q -p "$SMALL" -o small.pbz
	! have perf || small perf perf record -q -g -F 99 -p "$SMALL" -o small.data
done
finish "$SMALL"
