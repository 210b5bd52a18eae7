#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes/hotspot src/capture/session/runtime_threads.c
# timeout: 300
# beside: live
# Threads have the whole name that Java has for them, where the kernel has 15 bytes: what the program itself and jstack say is in
# snapshots, in samples and in `probee dump`. All JVMs that are found, and other collectors and headers of the newest.
. "$(dirname "$0")/lib.sh"
. "$LIVE/thread_names_lib.sh"

command -v javac >/dev/null || skip "no JDK on this machine"
javac -encoding UTF-8 --release 11 -d . "$ROOT/tests/workloads/JavaThreads.java" 2>javac.err || skip "javac failed: $(head -n 1 javac.err)"

# Those of the program, of all that came: tid|name.
ours() { awk -F'|' 'NR == FNR { tids[$1]; next } $1 in tids' said - | sort -u; }
in_rows() { csv "$1" -q --event "$2" --columns tid,comm | ours; }
# jstack says "NAME" #1 ... nid=0x1a2b or nid=1234. What is no Java thread has no number; letters of four bytes it cannot write.
in_jstack() { python3 -c '
import re, sys
for line in sys.stdin:
    m = re.match(r"\"(.*)\" #.*\bnid=(0x[0-9a-f]+|[0-9]+)", line)
    if m:
        print(int(m[2], 0), m[1], sep="|")'; }
# Threads that have begun or ended between the two are not compared; the main thread is called as the kernel does.
same_as_jstack() {
	"$1" -J-Dfile.encoding=UTF-8 -J-Dstdout.encoding=UTF-8 "$pid" 2>>"$T/err" | in_jstack | sort >jstack
	csv rows.pbz -q --event snapshot --columns tid,comm | sort -u >all
	join -t'|' jstack all | awk -F'|' '$2 !~ /^(main$|smile|first|second)/ && $2 != $3 { print; bad = 1 } { n++ } END { exit bad || n < 12 }' >&2
}

# judge WHAT COMMAND...: runs the program by the command.
judge() {
	local what=$1
	shift
	rm -f said
	"$@" -cp . JavaThreads said >java.out 2>java.err &
	pid=$!
	STARTED+=("$pid")
	if ! until_true 20 test -s said; then
		skip_part "$what" "the program does not begin: $(head -n 1 java.err)"
		return
	fi
	sort -o said said
	timeout -k 5 60 "$PROBEE" snapshot -q -p "$pid" -i 2 -o rows.pbz --force 2>>"$T/err"
	check "$what: snapshots have the names that the program says" diff said <(in_rows rows.pbz snapshot)
	check "$what: and 'dump'" diff said <(in_dump | ours)
	timeout -k 5 60 "$PROBEE" sample -q -p "$pid" -d 2 -o samples.pbz --force 2>>"$T/err"
	check "$what: and samples" diff said <(in_rows samples.pbz cpu-clock)
	csv samples.pbz -q --event cpu-clock --comm 'first long name' --columns comm | sort -u >first
	check "$what: a thread that changes its name has none of another time" equal \
		"$(grep -c '^first long name' first), $(grep -vc '^first long name' first)" "1, 0"
	"$PROBEE" report --by thread --no-pager rows.pbz >by_thread 2>>"$T/err"
	check "$what: and a report by thread" grep -q "a name of more than fifteen letters" by_thread
	check "$what: --comm finds the kernel's name" equal \
		"$(csv rows.pbz -q --event snapshot --comm 'a name of more ' --columns tid | sort -u)" \
		"$(sed -n 's/|a name of more than fifteen letters$//p' said)"
	if [ -x "${1%/*}/jstack" ]; then
		check "$what: jstack says the same of all of Java's threads that are there" same_as_jstack "${1%/*}/jstack"
	fi
	kill "$pid"
	wait "$pid" 2>/dev/null
}

found=0 newest= newest_version=0
while read -r version java; do
	[ "$version" != missing: ] || { [ ! "$java" ] || skip_part "Java $java" "not on this machine"; continue; }
	found=1
	judge "Java $version" "$java"
	[ "$version" -le "$newest_version" ] || newest=$java newest_version=$version
done < <("$ROOT/tests/oracle/hotspot/jdks.sh")
[ $found = 1 ] || skip "no JVM that is known"
judge "Java $newest_version, without compressed pointers" "$newest" -XX:-UseCompressedOops
judge "Java $newest_version, ZGC" "$newest" -XX:+UseZGC
[ "$newest_version" -lt 25 ] || judge "Java $newest_version, compact headers" "$newest" -XX:+UseCompactObjectHeaders
done_testing
