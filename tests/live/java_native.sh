#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes/hotspot src/runtimes/runtime_loops.c src/capture/session/stack_definer.c
# timeout: 120
# Native methods of Java: the C function stands above the method, and the Java frames below it go on, in each JVM that is found, interpreted and
# compiled. StubRoutines, through which the JVM calls Java, is in no stack.
. "$(dirname "$0")/lib.sh"
javac=$(command -v javac) || skip "no JDK"
javac=$(readlink -f "$javac")
include=${javac%/bin/javac}/include
[ -f "$include/jni.h" ] || skip "this JDK has no jni.h"
cat >Native.java <<'END'
public class Native {
	static native long crunch(long n);
	static long work(int n) { return n == 0 ? crunch(200000) : work(n - 1); }
	public static void main(String[] args) {
		System.load(args[0]);
		Thread sleeper = new Thread(() -> { try { Thread.sleep(1000000); } catch (InterruptedException e) { } }, "sleeper");
		sleeper.setDaemon(true);
		sleeper.start();
		long sum = 0;
		System.out.println("ready");
		for (;;) sum += work(5);
	}
}
END
cat >native.c <<'END'
#include <jni.h>
__attribute__((noinline)) static long spin(long n) { volatile long sum = 0; for (long i = 0; i < n; i++) sum += i; return sum; }
JNIEXPORT jlong JNICALL Java_Native_crunch(JNIEnv *e, jclass c, jlong n) { (void)e; (void)c; long sum = spin(n); __asm__ volatile("" : "+r"(sum)); return sum; }
END
"$javac" --release 11 Native.java 2>javac.err || skip "javac: $(head -1 javac.err)"
gcc -shared -fPIC -O1 -g -I"$include" -I"$include/linux" -o libnative.so native.c || exit 1

chain='Native\.main;(Native\.work;)+Native\.crunch;Java_Native_crunch;spin'
# stacks_are_right JAVA OPTION...: of the stacks in spin() all have the methods that called it.
stacks_are_right() {
	local java=$1
	shift
	background "$java" "$@" -cp . Native "$PWD/libnative.so" >ready
	until_true 20 grep -q ready ready || return 1
	timeout 60 "$PROBEE" record -F 499 --snap-freq 10 -d 2 -p "$PID" -o native.pbz 2>>err || return 1
	finish "$PID"
	"$PROBEE" report native.pbz --collapse=cpu.folded --no-inline 2>>err
	"$PROBEE" report native.pbz --event snapshot --collapse=wall.folded --no-inline 2>>err
	awk -v chain=";$chain(;|\$)" '/;spin/ { n = $NF; all += n; sub(/ [0-9]+$/, ""); if ($0 ~ chain) right += n; else if (!told++) print "not so: " $0 }
		END { printf "%d of %d samples are right\n", right, all; exit !(all > 100 && right >= 0.99 * all) }' cpu.folded
}
found=0
while read -r version java; do
	[ "$version" != missing: ] || { [ ! "$java" ] || skip_part "Java $java" "not on this machine"; continue; }
	found=1
	for option in -Xint -Xcomp; do
		check "Java $version $option: a native method is followed by its C function" stacks_are_right "$java" "$option"
		check "Java $version $option: the function that sleeps for Thread.sleep()" grep -qE ';java\.lang\.Thread\.sleep[^;]*(;[^;]*)*;(JVM_Sleep|JVM_SleepNanos)' wall.folded
		check "Java $version $option: the call stub is in no stack" not grep -q StubRoutines cpu.folded wall.folded
	done
done < <("$ROOT/tests/oracle/hotspot/jdks.sh")
[ $found = 1 ] || skip "no JVM that is known"
done_testing
