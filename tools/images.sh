#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# images.sh [DIR]: records tests/workloads/orders.cc and makes the pictures of README in DIR (default docs/images), one for
# each question that people have. It needs what a recording needs (root), g++ and chromium, and takes half a minute on a quiet machine.
#
#	cpu		where does the CPU time go?		flame graph of CPU time
#	wall		what is everybody waiting for?		flame graph of wall time
#	lock		who holds the lock?			the waits of one snapshot
#	when		when did it happen?			the page with the timeline
#	changed		what changed?				flame graph of the difference
set -eu
cd "$(dirname "$0")/.."
OUT=${OUT:-.out}
PROBEE=$PWD/$OUT/probee
images=$(realpath -m "${1:-docs/images}")
shot="python3 $PWD/tests/browser/shot.py"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir -p "$images"

g++ -O2 -g -pthread -o "$work/orders" tests/workloads/orders.cc
cd "$work"

"$PROBEE" record -q -F 499 --snap-freq 10 -o orders.pbz -- ./orders 1000
"$PROBEE" sample -q -F 999 -o before.pbz -- ./orders 500
"$PROBEE" sample -q -F 999 -o after.pbz -- ./orders 500 slow

# The first snapshot in the middle of the recording in which the journal keeps others waiting.
lock_snapshot() {
	for n in $(seq 20 70); do
		if "$PROBEE" report orders.pbz --waits --walk "$n" | grep -q billing; then
			echo "$n"
			return
		fi
	done
	echo 'images.sh: nothing waited for the lock' >&2
	exit 1
}

"$PROBEE" report orders.pbz --svg=cpu.svg
"$PROBEE" report orders.pbz --weight wall --svg=wall.svg
"$PROBEE" diff before.pbz after.pbz --svg=changed.svg
n=$(lock_snapshot)
"$PROBEE" report orders.pbz --waits=waits.txt --walk "$n"
{ echo "\$ probee report orders.pbz --waits --walk $n"; head -14 waits.txt | cut -c1-148; } >lock.txt
"$PROBEE" report orders.pbz --html=when.html

$shot cpu.svg "$images/cpu.png" --size 1200x530
$shot wall.svg "$images/wall.png" --size 1200x560
$shot changed.svg "$images/changed.png" --size 1200x480
$shot lock.txt "$images/lock.png" --size 1200x270
$shot 'when.html#event=1&view=threads&group=state' "$images/when.png" --size 1200x460

# Small enough for a repository.
for png in "$images"/*.png; do
	[ "$(stat -c %s "$png")" -lt 300000 ] || { echo "images.sh: $png is larger than 300 kB" >&2; exit 1; }
done
ls -l "$images"
