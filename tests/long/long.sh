#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# long.sh [kills N] [identity N] [hostile SECONDS] [helpers SECONDS] [chains N] [lines N] [gdb N] [agent N] [python_stacks N]
# [java_stacks N] [node_stacks SECONDS] [call_paths SECONDS] [ruby_stacks SECONDS] [fuzz SECONDS]...: tests that take long because what they look for is rare. They are no part of `make check`. Without arguments:
#
#	kills 1000	recordings that are killed: what is missing in their traces	22 min
#	identity 200	every tick of the timer is a sample or is counted	15 min
#	hostile 600	a recording beside hostile processes	11 min
#	helpers 600	a recording whose helper processes are killed	11 min
#	chains 5000	a million rows of threads that run all the time: none may be wrong	6 min
#	lines 100000	inlined functions and lines of so many addresses of each of some 25 binaries, against other tools	20 min
#	gdb 1		all programs of tests/live/gdb_equal.sh, stopped so often (a check takes a third of them)	2 min
#	agent 100	the agent, killed so often, with ten minutes without its receiver: each window arrived	19 min
#	python_stacks 150	threads of each Python found, stopped so often, against faulthandler
#	java_stacks 10000	a thread of each JVM found, stopped so often, against AsyncGetCallTrace	35 min
#	node_stacks 12	JavaScript frames of each node found, in each mode, for so long: paths of a tree of calls	7 min
#	call_paths 20		seconds of each PHP and Perl found, whose stacks prove themselves, and so many asleep
#	ruby_stacks 60		stacks of each Ruby found or fetched, for so long, that prove themselves	4 min
#	fuzz 1800	all parsers of foreign bytes, for so long each	2.8 h
#
# The file of each part says what it does and what is wrong. A part prints a line of figures, with the load of the machine
# before and after; what was wrong stands above it. Exit 1 if anything was. The times that they judge are those of a machine
# that does nothing else. Needs root. What a part wrote stays if something was wrong.
#
# hostile keeps processes stuck in exec for seconds: meanwhile ps and pgrep wait on the whole machine.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
OUT=$(realpath -m "${OUT:-$root/.out}")
PROBEE=$(realpath -m "${PROBEE:-$OUT/probee}")
export OUT PROBEE LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

[ "$(id -u)" = 0 ] || { echo "long.sh: needs root"; exit 77; }
[ -x "$PROBEE" ] || { echo "long.sh: no binary at $PROBEE. Try: make"; exit 77; }
WORKLOADS=$("$root/tests/workloads/build.sh" "${WORKLOADS:-$OUT/workloads}") || exit 1
export WORKLOADS

load() { cut -d' ' -f1 /proc/loadavg; }

# run PART NUMBER
run() {
	local T before
	local -a in=()
	T=$(mktemp -d "${TMPDIR:-/tmp}/probee-long-$1.XXXXXX") || return 1
	before=$(load)
	# What it mounts is visible only there and ends with it. A chroot whose root is no mount point cannot make it private.
	[ "$1" != hostile ] || in=(unshare -m --propagation private)
	[ ${#in[@]} = 0 ] || "${in[@]}" true 2>/dev/null || in=(unshare -m --propagation unchanged)
	if (cd "$T" && "${in[@]}" "$here/$1".* "$2"); then
		rm -rf "$T"
	else
		failed=1
		echo "  $1 failed: see $T"
	fi
	echo "  load: $before before, $(load) after"
}

failed=0
[ $# -gt 0 ] || set -- kills 1000 identity 200 hostile 600 helpers 600 chains 5000 lines 100000 gdb 1 agent 100 python_stacks 150 java_stacks 10000 node_stacks 12 call_paths 20 ruby_stacks 60 fuzz 1800
while [ $# -gt 0 ]; do
	case $1:${2:-} in
	kills:[1-9]* | identity:[1-9]* | hostile:[1-9]* | helpers:[1-9]* | chains:[1-9]* | lines:[1-9]* | gdb:[1-9]* | agent:[1-9]* | python_stacks:[1-9]* | java_stacks:[1-9]* | node_stacks:[1-9]* | call_paths:[1-9]* | ruby_stacks:[1-9]* | fuzz:[1-9]*) run "$1" "$2" ;;
	*) echo "long.sh: $1 ${2:-}: no such part, or no number behind it"; exit 2 ;;
	esac
	shift 2
done
exit $failed
