#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads alternate between two call chains while they are unwound. A stack that mixes the two cannot exist, so a single one
# in some 20,000 rows is a failure. Rows that could not be read must be marked, and they must be few.
. "$(dirname "$0")/lib.sh"

# walks WORKLOAD UNWIND ROUNDS NSPIN NSLEEP COUNT HZ
walks() {
	local file=$1-$2-$3 what="$1 $2, $3 rounds, $4 spin, $5 sleep" skips=
	[ "$2" != fp ] || skips=--allow-skips
	start "$1" "$3" "$4" "$5"
	snapshot -p "$PID" -F "$7" -i "$6" --unwind "$2" -o "$file.pbz"
	check "$what: exit status" equal "$RC" 0
	csv "$file.pbz" >"$file.csv"
	finish "$PID"
	check "$what: none impossible" stacks chains "$file.csv" $skips --marked 100
	check "$what: at most 2 % marked" stacks chains "$file.csv" $skips
	check "$what: one row per thread and walk" equal "$(stacks rows "$file.csv")" $(($6 * ($4 + $5 + 1)))
}

walks twochains dwarf 3000 2 3 1200 400
walks twochains dwarf 30000 4 3 900 400
walks twochains dwarf 300000 2 3 600 400
walks twochains auto 100 3 2 400 200
walks twochains_fp fp 30000 2 3 200 200
done_testing
