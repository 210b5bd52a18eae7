#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo: records a small service (tests/workloads/orders.cc) and then this machine, and draws what it saw.
# DEMO_SECONDS: how long each (5); DEMO: where the files go (demo).
set -u
cd "$(dirname "$0")/.." || exit 1
OUT=${OUT:-.out}
PROBEE=$OUT/probee
duration=${DEMO_SECONDS:-5}
demo=${DEMO:-demo}
mkdir -p "$demo"

die() { echo "demo: $*" >&2; exit 1; }

if ! "$PROBEE" doctor -q >"$demo/doctor.txt" 2>&1; then
	cat "$demo/doctor.txt"
	echo "demo: this machine does not let probee record. As root: make demo"
	exit 77
fi

# Static, so that functions of the libraries have names although distributions strip these.
g++ -O2 -g -static -pthread -o "$demo/orders" tests/workloads/orders.cc || die 'the service could not be built'
"$demo/orders" 100000000 &
service=$!
trap 'kill $service 2>/dev/null' EXIT
trap 'exit 130' INT TERM

record() {
	"$PROBEE" record "$@" 2>"$demo/record.log" || { cat "$demo/record.log"; die 'record failed'; }
}
record -p $service -F 499 --snap-freq 10 -d "$duration" -o "$demo/orders.pbz"
record -a -d "$duration" -o "$demo/machine.pbz"
kill $service
wait $service 2>/dev/null
trap - EXIT

draw() { "$PROBEE" report "$1" --force -o "$2" 2>"$demo/report.log" || { cat "$demo/report.log"; die "$2 failed"; }; }
draw "$demo/orders.pbz" "$demo/orders.svg"
draw "$demo/orders.pbz" "$demo/orders.html"
draw "$demo/orders.pbz" "$demo/orders.folded"
draw "$demo/machine.pbz" "$demo/machine.html"

# The snapshot of the recording in which most threads wait for a lock that another one holds.
waits() {
	local n best=1 most=-1 threads
	for n in $(seq 1 $((10 * ${duration%.*}))); do
		threads=$("$PROBEE" report "$demo/orders.pbz" --waits --walk "$n" 2>/dev/null | grep -c '^ *[0-9].* billing .*journal') || :
		[ "$threads" -le "$most" ] || { most=$threads best=$n; }
	done
	"$PROBEE" report "$demo/orders.pbz" --waits --walk "$best" 2>/dev/null
}

echo
echo "A small service with a hot function, a lock and a slow disk, for $duration s. Where its CPU time went:"
"$PROBEE" report "$demo/orders.pbz" --text --top 5 2>/dev/null | sed -n '/self/,/^$/p' | cut -c1-110 | head -n 7
echo "Who waited for whom:"
waits | sed -n '3,8p' | cut -c1-110
echo
echo "  $demo/orders.html     open it in a browser: flame graph, time line, functions, threads, waits"
echo "  $demo/orders.svg      the flame graph alone: click and search, paste it into a ticket"
echo "  $demo/machine.html    this machine, for $duration s"
echo "  $demo/orders.pbz      $(stat -c %s "$demo/orders.pbz") bytes: the recording, for a colleague or for other reports"
echo
echo "What to try next:"
echo "  $PROBEE report $demo/orders.pbz --lines      # the same by source line"
echo "  sudo $PROBEE top                          # this machine, live"
echo "  $PROBEE help recipes                      # which command answers which question"
