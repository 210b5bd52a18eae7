# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions for tests with many threads, sourced after lib.sh: does every thread have its row?

# Some virtual machines hide their first process from the kernel's task iterator. Then its threads do not count.
"$PROBEE" snapshot -q -p 1 -i 1 -o init.pbz 2>/dev/null
HIDDEN=
[ "$(csv init.pbz -q | wc -l)" -gt 0 ] || HIDDEN=/proc/1/

# all_threads FILE [PID]: the numbers of all threads, or of those of one process.
all_threads() {
	local task
	for task in /proc/${2:-[0-9]*}/task/[0-9]*; do
		[[ -n $HIDDEN && $task = "$HIDDEN"* ]] || echo "${task##*/}"
	done | sort >"$1"
}

# accounted BEFORE CSV SCANS: each thread in BEFORE that still exists has exactly one row in each scan.
accounted() {
	all_threads after.tids ${4:-}
	comm -12 "$1" after.tids >stayed.tids
	cut -d'|' -f2 "$2" | grep -v tid | sort | uniq -c | awk -v n="$3" '$1 >= n { print $2 }' | sort >rows.tids
	cut -d'|' -f2 "$2" | grep -v tid | sort | uniq -c | awk -v n="$3" '$1 > n { print $2 }' | sort >double.tids
	comm -23 stayed.tids rows.tids >missing.tids
	echo "$(wc -l <stayed.tids) threads stayed, $(wc -l <missing.tids) of them without a row:" \
		$(head -3 missing.tids | while read -r t; do cat "/proc/$t/comm" 2>/dev/null || echo "$t"; done)
	[ ! -s missing.tids ] && [ -z "$(comm -12 stayed.tids double.tids)" ]
}
