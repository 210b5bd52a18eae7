#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf src/capture/session
# timeout: 200
# beside: live
# Java frames, found without the JVM's help: in samples of a program whose stacks prove themselves, up to the thread's start, and in
# snapshots of threads that wait in each way that Java has, against jstack (java_judge.py). All JVMs that are found; the programs are
# compiled by one JDK for all of them.
. "$(dirname "$0")/lib.sh"
judge() { timeout 60 python3 "$ROOT/tests/live/java_judge.py" "$@"; }
export PROBEE
javac=$(command -v javac) || skip "no JDK"
javac=$(readlink -f "$javac")
"$javac" --release 11 -d . "$ROOT"/tests/workloads/Java{Waits,Unloads}.java 2>javac.err && judge generate . && "$javac" --release 11 Tree.java 2>javac.err ||
	skip "javac: $(head -1 javac.err)"
# In each stack all classes whose names are numbered are the same one.
have_one_class() {
	"$PROBEE" sample -F 499 -o unloads.pbz -- "$1" -Xmx256m -cp . JavaUnloads 600 2>>err || return 1
	"$PROBEE" report unloads.pbz --collapse=- --no-inline 2>>err | grep -o ';.*Work[0-9]*\.' | awk '{ delete of; n = 0
			while (match($0, /Work[0-9]+\./)) { of[substr($0, RSTART, RLENGTH)]; $0 = substr($0, RSTART + RLENGTH) }
			for (w in of) n++
			all++; bad += n > 1 }
		END { printf "%d of %d stacks are of several classes", bad, all; exit bad || all < 100 }'
}
found=0
while read -r version java; do
	[ "$version" != missing: ] || { [ ! "$java" ] || skip_part "Java $java" "not on this machine"; continue; }
	found=1
	check "Java $version: stacks are paths of the tree of calls, and reach the root ($java)" judge tree "$java" . "${SECONDS_EACH:-2}"
	check "Java $version: a class that was unloaded is not taken for the one in its place" have_one_class "$java"
	jstack=${java%/java}/jstack
	if [ -x "$jstack" ]; then
		check "Java $version: frames of waiting threads are those of jstack" judge waits "$java" . "$jstack"
	else
		skip_part "Java $version: waiting threads" "this JVM has no jstack"
	fi
done < <("$ROOT/tests/oracle/hotspot/jdks.sh")
[ $found = 1 ] || skip "no JVM that is known"
check "Java, interpreted: stacks are paths of the tree" judge tree "${javac%/javac}/java" . 1 -Xint
done_testing
