#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo: records this machine for a few seconds with a load of its own and draws what it saw.
set -u
cd "$(dirname "$0")/.." || exit 1
OUT=${OUT:-.out}
PROBEE=$OUT/probee
duration=${DEMO_SECONDS:-5}
mkdir -p demo

if ! "$PROBEE" doctor -q >demo/doctor.txt 2>&1; then
	cat demo/doctor.txt
	echo "demo: this machine does not let probee record. As root: make demo"
	exit 77
fi

# A load to look at: arithmetic in user space, work in the kernel, and threads that wait.
load() {
	while :; do
		head -c 20000000 /dev/urandom | gzip -c | cksum >/dev/null
		find /usr/lib -maxdepth 3 -newer /nonexistent 2>/dev/null
		find /usr -maxdepth 4 -type f -size +1M >/dev/null 2>&1
	done
}
set -m		# its own process group, so that all of it can be ended
load &
load_group=$!
disown
set +m
trap 'kill -TERM -- -$load_group 2>/dev/null' EXIT
trap 'exit 130' INT TERM

die() { echo "demo: $*" >&2; exit 1; }

"$PROBEE" record -a -d "$duration" -o demo/trace.pbz 2>demo/record.log || { cat demo/record.log; die 'record failed'; }
"$PROBEE" snapshot -a -i 3 -F 2 -o demo/snapshot.pbz 2>demo/snapshot.log || { cat demo/snapshot.log; die 'snapshot failed'; }
kill -TERM -- -"$load_group" 2>/dev/null
trap - EXIT

draw() { "$PROBEE" report "$1" "$2" >"$3" || die "$2 of $1 failed"; }
draw demo/trace.pbz --svg demo/trace.svg
draw demo/trace.pbz --html demo/trace.html
draw demo/trace.pbz --collapse demo/trace.folded
draw demo/snapshot.pbz --svg demo/snapshot.svg
draw demo/snapshot.pbz --csv demo/snapshot.csv

top=$(awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); self[f[k]] += n; all += n }
	END { for (i in self) printf "%5.1f%%  %s\n", 100 * self[i] / all, i }' demo/trace.folded | sort -rn | head -n 3)
echo
echo "Recorded $duration s of every CPU, then every thread 3 times. Most time was spent in:"
echo "$top"
echo
echo "  demo/trace.html      open it in a browser: flame graph, time line, functions, threads, waits"
echo "  demo/trace.svg       the flame graph alone: click and search, paste it into a ticket"
echo "  demo/snapshot.svg    where every thread was, waiting ones too"
echo "  demo/trace.folded    $(wc -l <demo/trace.folded) different stacks as text"
echo "  demo/snapshot.csv    $(wc -l <demo/snapshot.csv) lines, one thread each"
echo "  demo/trace.pbz       $(stat -c %s demo/trace.pbz) bytes; try: $PROBEE report demo/trace.pbz --text"
