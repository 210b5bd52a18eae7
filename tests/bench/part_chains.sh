# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Is any row wrong? Threads alternate between two call chains while they are unwound, at four speeds. A stack that mixes
# the two, or leaves a level out, cannot exist. Rows: how many were judged in all (ROWS=1000000 for each round, 12
# settings). Share marked: rows that say that the thread ran while its stack was read.

ROWS=${ROWS:-100000}
PER_MS=$(sed -n 's/.*ROUNDS_PER_MS = \([0-9]*\).*/\1/p' "$root/tests/workloads/ready.h")

# chains SPEED_US SPIN
chains() {
	local hz=500 rows counts
	start twochains "$((PER_MS * $1 / 1000))" "$2" 3
	"$PROBEE" snapshot -q -p "$PID" -F $hz -i $((ROWS / 12 / ($2 + 4))) -o chains.pbz 2>walk.err
	finish "$PID"
	"$PROBEE" report chains.pbz --csv >chains.csv
	counts=$(python3 "$root/tests/live/stacks.py" chains chains.csv --marked 100)
	echo "$1 us in each chain, $2 spin: $counts"
	rows=$(wc -l <chains.csv)
	total=$((total + rows))
	impossible=$((impossible + $(of_counts impossible)))
	marked=$((marked + $(of_counts marked)))
}

# of_counts NAME
of_counts() { sed -n "s/.*\b$1 \([0-9]*\).*/\1/p" <<<"$counts"; }

for round in $(seq "$ROUNDS"); do
	total=0 impossible=0 marked=0
	for speed in 10 100 1000 10000; do
		for spin in 2 4 8; do chains $speed $spin; done
	done
	record "rows" probee "$total"
	record "impossible stacks" probee "$impossible"
	record "rows marked, %" probee "$(calc "100 * $marked / $total")"
done
