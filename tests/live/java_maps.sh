#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/processes src/recording
# light: yes
# beside: live
# --java-perf-map: JVMs of root, of another user and of a container are asked for maps of their code, as their users. Without
# the option nobody is asked. JAVA_HOMES: JDKs to test with.
OWN_MOUNTS=1
export TMPDIR=/var/tmp
. "$(dirname "$0")/lib.sh"

# A /tmp in which every user may write.
# This tree may lie there; it stays at its place.
case $ROOT in /tmp/*) mkdir -p "$T/tree" && mount --bind "$ROOT" "$T/tree" ;; esac
mount -t tmpfs -o mode=1777 none /tmp || skip "no tmpfs"
case $ROOT in /tmp/*) mkdir -p "$ROOT" && mount --move "$T/tree" "$ROOT" ;; esac
command -v java >/dev/null && command -v javac >/dev/null || skip "no JDK"
getent passwd nobody >/dev/null || skip "no user nobody"
dir=$T		# not in /tmp, which the container has of its own
cat >"$dir/Hot.java" <<-'END'
	public class Hot {
		static int hot(int n) { return n < 2 ? n : hot(n - 1) + hot(n - 2); }
		public static void main(String[] args) {
			System.out.println("ready " + ProcessHandle.current().pid());
			for (;;)
				hot(20);
		}
	}
END
java=$(readlink -f "$(command -v java)")
"${java%/*}/javac" --release 17 -d "$dir" "$dir/Hot.java" 2>javac.err || skip "javac: $(head -1 javac.err)"

# unknown HOME NAME: a JDK like that of which probee finds no frames itself, because its libjvm.so exports no list of its structs.
unknown() {
	local to=$dir/$2 file
	mkdir -p "$to" && cp -rs "$1/." "$to/" || return
	for file in bin/java lib/server/libjvm.so lib/libjli.so lib/jli/libjli.so; do
		[ ! -e "$1/$file" ] || { rm -f "$to/$file" && cp -L "$1/$file" "$to/$file"; }
	done
	sed -i 's/gHotSpotVMStructs/gHotSpotVMStructz/g' "$to/lib/server/libjvm.so"
	chmod -R a+rX "$to" 2>/dev/null
	echo "$to"
}
chmod 644 "$dir/Hot.class"
start_java() { start "$(command -v env)" "$@" -cp "$dir" -XX:TieredStopAtLevel=1 Hot; }
ended() { finish "$PID"; rm -f "/tmp/perf-$PID.map" "/tmp/.java_pid$PID" "/tmp/.attach_pid$PID"; }
# The share of samples that are in the busy function.
share() { folded "$1.pbz" | awk '/;Hot\.hot(\(int\))?[+; ]/ { n += $NF } { all += $NF } END { print int(100 * n / (all + 1)) }'; }
named() { at_least "$(share "$1")" 60; }
nothing() { ! ls "/tmp/perf-$1.map" "/tmp/.java_pid$1" 2>/dev/null; }

number=0
for known in ${JAVA_HOMES:-"${java%/bin/*}"}; do
	home=$(unknown "$known" "jdk$((number++))")
	start_java "$home/bin/java"
	sample -p "$PID" -F 499 -d 1 -o unasked.pbz
	check "without the option nobody is asked" nothing "$PID"
	sample -p "$PID" -F 499 -d 1 --java-perf-map -o own.pbz
	check "root's: named ($home)" named own
	check "root's: nothing is said" not grep -q Java "$T/err"
	ended
done

java=$dir/jdk0/bin/java
start_java setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$java"
sample -p "$PID" -F 499 -d 1 --java-perf-map -o user.pbz
check "nobody's: named" named user
check "nobody's: the map is his" equal "$(stat -c %U "/tmp/perf-$PID.map")" nobody
ended

if unshare -mpf --mount-proc true 2>/dev/null; then
	# The number that it says is that of its own namespace.
	start "$(command -v unshare)" -mpf --mount-proc --kill-child sh -c 'mount -t tmpfs none /tmp && "$@" & wait' sh \
		setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$java" -cp "$dir" Hot
	jvm=$(pgrep -n -x java)
	check "container: has a number of its own" at_most "$PID" 99
	sample -p "$jvm" -F 499 -d 1 --java-perf-map -o inside.pbz
	check "container: named" named inside
	finish "${STARTED[-2]}"
else
	skip_part "no namespaces"
fi

# SIGQUIT would end it.
start_java "$java" -Xrs
sample -p "$PID" -F 499 -d 1 --java-perf-map -o xrs.pbz
check "-Xrs: lives on" kill -0 "$PID"
check "-Xrs: one line says why, and what to try" equal "$(grep -c 'no names of its Java code: it was started with -Xrs .*Try: ' "$T/err")" 1
check "-Xrs: status" equal "$RC" 0
ended

start_java "$java" -XX:+DisableAttachMechanism
sample -p "$PID" -F 499 -d 1 --java-perf-map -o closed.pbz
check "closed: nothing is made" nothing "$PID"
check "closed: says so" grep -q "no names of its Java code" "$T/err"
ended

# One that is stopped does not hold up the recording.
start_java "$java"
sample -p "$PID" -F 499 -d 1 --java-perf-map -o stopped.pbz &
recorder=$!
sleep 0.7
kill -STOP "$PID"
wait "$recorder"
check "stopped: says so" grep -q "no names of its Java code: no answer in time" "$T/err"
kill -CONT "$PID"
ended
done_testing
