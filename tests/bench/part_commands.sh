# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Whole commands that record for a moment, from exec to exit: what somebody waits who types one. BEFORE=FILE is an earlier
# probee, in turns with this one. The process that is recorded sleeps.

sleep 10000 & STARTED+=($!)
sleeper=$!

# command_costs NAME BINARY ARGUMENT...
command_costs() {
	local name=$1 binary=$2
	shift 2
	rm -f trace
	launched life "$binary" "$@" -q -o trace
	wait "$LAUNCH"
	record "${*//$sleeper/PID}: wall ms" "$name" "$(of life wall_ms)"
	record "${*//$sleeper/PID}: CPU ms" "$name" "$(of life cpu_ms)"
}

for round in $(seq "$ROUNDS"); do
	for line in "snapshot -p $sleeper -i 1" "snapshot -a -i 1" "record -a -d .2" "sample -p $sleeper -d .1"; do
		read -ra words <<<"$line"
		[ -z "${BEFORE:-}" ] || command_costs before "$BEFORE" "${words[@]}"
		command_costs probee "$PROBEE" "${words[@]}"
	done
done
finish "$sleeper"
