#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/parse/table_cache.c src/parse/cache_folder.c src/capture/session/runtime_attacher.c src/runtimes/hotspot src/runtimes/cached_memory.c
# timeout: 200
# beside: live
# The first samples of a runtime's process have names. What the first recording has found of an interpreter is kept, used by the next one, and
# by none where the file, the program or what was kept is another one. A JVM that starts late is looked at when it makes room for code.
. "$(dirname "$0")/lib.sh"
mkdir -m 700 cache
export XDG_CACHE_HOME=$T/cache
tables() { find cache/probee -name '*.table' 2>/dev/null; }
nr_tables_is() { [ "$(tables | wc -l)" = "$1" ] || { echo "there are: $(tables)"; return 1; }; }

# frames FILE: "nameless named" samples: with a frame that should have a name, and of those that are named so.
frames() {
	"$PROBEE" report "$1" --csv -q | awk -F'|' '
		$6 ~ /(^|;)(\[jit\]|\[frames that could not be read\])/ { bad++; next }
		$6 ~ /(^|;)(Spin\.)?(leaf|mid)[+_;]/ { good++ }
		END { print bad + 0, good + 0 }'
}
# named FILE PERCENT: of the samples in the program's functions, so many are named at least.
named() {
	local bad good
	read -r bad good < <(frames "$1")
	echo "$bad nameless, $good named"
	[ "$good" -ge 50 ] && [ $((100 * good)) -ge $(($2 * (good + bad))) ]
}
record() { timeout 60 "$PROBEE" sample -q -F 999 -o "$@" 2>>err; }
age() { touch -d 2001-01-01 $(tables); }	# is_used: since then
is_used() { [ -n "$(find cache/probee -name '*.table' -newermt 2020-01-01)" ]; }

cat >spin.py <<'END'
import time
def leaf(n):
    s = 0
    for i in range(n): s += i % 7
    return s
def mid(n): return sum(leaf(n) for i in range(20))
while time.process_time() < .4: mid(1000)
END
python=$(readlink -f /usr/bin/python3)
cp "$python" python3 2>/dev/null && ./python3 -c '' 2>/dev/null || skip "no python3 that can be copied"

check "a recording of Python" record 1.pbz -- ./python3 spin.py
check "what was found of Python is kept" nr_tables_is 1
kept=$(tables)
cp "$kept" first
age
check "the next recording" record 2.pbz -- ./python3 spin.py
check "it has used what was kept, and kept nothing else" is_used
check "and has names from the beginning on" named 2.pbz 90
check "it is as it was" cmp "$kept" first

printf '\377' | dd of="$kept" bs=1 seek=70000 conv=notrunc 2>>err
cp "$kept" damaged
check "a recording with a damaged file" record 3.pbz -- ./python3 spin.py
check "has names" named 3.pbz 80
check "the file is made again" cmp "$kept" first

cp "$PROBEE" other
check "another probee makes its own" timeout 60 ./other sample -q -F 999 -o 4.pbz -- ./python3 spin.py
check "in place of the first one's" not cmp -s "$kept" first
check "it has names, too" named 4.pbz 80

chmod 711 python3
check "a Python that has changed" record 5.pbz -- ./python3 spin.py
check "has a file of its own" nr_tables_is 2

cat >Spin.java <<'END'
public class Spin {
	static long leaf(int n) { long s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
	static long mid(int n) { long s = 0; for (int i = 0; i < 20; i++) s += leaf(n); return s; }
	public static void main(String[] args) {
		java.lang.management.ThreadMXBean bean = java.lang.management.ManagementFactory.getThreadMXBean();
		long t = 0;
		do t += mid(1000); while (bean.getCurrentThreadCpuTime() < 800000000L);
		if (t == 1) System.out.println(t);
	}
}
END
# paused_jvm JAVA: it waits before it makes room for code, until looks at it have become rare: a program beside has had two seconds of CPU.
paused_jvm() {
	rm -f vm.paused.*
	timeout 60 "$PROBEE" sample -q -F 999 -o jvm.pbz -- "$1" -Xint -XX:+UnlockDiagnosticVMOptions -XX:+PauseAtStartup -cp . Spin 2>>err &
	STARTED+=($!)
	local recorder=$! spinner
	until_true 20 eval 'ls vm.paused.* >/dev/null 2>&1' || return 1
	background sh -c 'while :; do :; done'
	spinner=$PID
	until_true 30 had_cpu "$spinner" 2000
	finish "$spinner"
	rm -f vm.paused.*
	wait "$recorder"
}
if javac --release 11 Spin.java 2>javac.err; then
	while read -r version java; do
		[ "$version" != missing: ] || continue
		check "Java $version: a JVM that starts late" paused_jvm "$java"
		check "Java $version: its methods have names soon" named jvm.pbz 80
	done < <("$ROOT/tests/oracle/hotspot/jdks.sh")
else
	skip_part "a JVM that starts late" "no JDK: $(head -1 javac.err)"
fi

cat >spin.js <<'END'
function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
function mid(n) { let s = 0; for (let i = 0; i < 20; i++) s += leaf(n); return s; }
const until = process.cpuUsage().user + 500000;
let t = 0;
while (process.cpuUsage().user < until) t += mid(1000);
END
while read -r version node; do
	[ "$version" != missing: ] || continue
	rm -f $(tables)
	check "node $version, first" record 6.pbz -- "$node" --no-opt spin.js
	check "node $version is kept" nr_tables_is 1
	age
	check "node $version, again" record 7.pbz -- "$node" --no-opt spin.js
	check "node $version: what was kept is used" is_used
	check "node $version: names from the beginning on" named 7.pbz 90
done < <("$ROOT/tests/oracle/node/nodes.sh")
done_testing
