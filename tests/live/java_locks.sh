#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes src/capture/waits
# core: yes
# light: yes
# Who holds the locks that Java threads wait for: monitors and those of java.util.concurrent, as the program was made.
. "$(dirname "$0")/lib.sh"

command -v javac >/dev/null || skip "no JDK on this machine"
javac --release 11 -d . "$ROOT/tests/workloads/JavaLocks.java" 2>javac.err || skip "javac failed: $(head -n 1 javac.err)"

# holder_of NAME: the name of the thread that holds what the thread of that name waits for.
holder_of() { awk -F'|' -v name="$1" '$2 == name { o = $3 } { names[$1] = $2 } END { print o ? names[o] : "nobody known" }' rows; }

deadlocks() { "$PROBEE" report --waits --no-pager java.pbz 2>/dev/null | grep -c '^DEADLOCK: 2 threads'; }

# judge WHAT COMMAND...: runs the program by the command.
judge() {
	local what=$1 pid
	shift
	"$@" -cp . JavaLocks >java.out 2>java.err &
	pid=$!
	STARTED+=("$pid")
	if ! until_true 20 grep -q ready java.out; then
		skip_part "$what: $(head -n 1 java.err)"
		return
	fi
	# On a busy machine the process that asks the virtual machine may have its turn later than three snapshots.
	for _ in 1 2 3 4 5; do
		timeout -k 5 60 "$PROBEE" snapshot -q -p "$pid" -i 3 -o java.pbz --force 2>>"$T/err"
		[ "$(deadlocks)" -lt 2 ] || break
	done
	csv java.pbz -q --event snapshot --columns tid,comm,owner >rows
	check "$what: monitors, the one" equal "$(holder_of mon-1)" mon-2
	check "$what: monitors, the other" equal "$(holder_of mon-2)" mon-1
	check "$what: locks, the one" equal "$(holder_of lock-1)" lock-2
	check "$what: locks, the other" equal "$(holder_of lock-2)" lock-1
	check "$what: a read lock, written by a thread that sleeps" equal "$(holder_of reader)" holder
	check "$what: a condition has no holder" equal "$(holder_of nobody)" "nobody known"
	check "$what: the report finds both deadlocks" equal "$(deadlocks)" 2
	kill "$pid"
	wait "$pid" 2>/dev/null
}

judge "$(java -version 2>&1 | sed -n 's/.*version "\([0-9.]*\)".*/Java \1/p')" java
judge "without compressed pointers" java -XX:-UseCompressedOops
for other in /usr/lib/jvm/temurin-*; do
	[ -x "$other/bin/java" ] || continue
	judge "${other##*/}, ZGC" "$other/bin/java" -XX:+UseZGC
	judge "${other##*/}, compact headers" "$other/bin/java" -XX:+UseCompactObjectHeaders
done
while read -r version java; do
	[ "$version" != 11 ] || judge "Java 11" "$java"
done < <("$ROOT/tests/oracle/hotspot/jdks.sh")
done_testing
