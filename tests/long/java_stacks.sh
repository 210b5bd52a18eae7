#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The stacks that the frame program of HotSpot finds in stopped threads of running JVMs, named by the readers of src/runtimes, against what
# AsyncGetCallTrace says in the same thread at the same instruction: every method, file and line, inlined ones too. All JVMs that are
# found, each by default, interpreted, with C1 alone and with C2 alone. java_stacks.sh N: so many samples by default, a quarter of them else.
set -eu
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || { echo "the program is for x86-64"; exit 77; }
OUT=${OUT:-.out}
n=${1:-400}
javac=$(readlink -f "$(command -v javac || true)")
[ "$javac" ] || { echo "no JDK"; exit 77; }
jdk=${javac%/bin/javac}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -I. -D_GNU_SOURCE -DARCH_HEADER='"unwind/arch_x86_64.h"' tests/oracle/hotspot/stacks.c \
	"$OUT/libprobee.a" -lelf -lz -lzstd -o "$T/stacks"
${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -fPIC -shared -D_GNU_SOURCE -I"$jdk/include" -I"$jdk/include/linux" tests/oracle/hotspot/agent.c -o "$T/agent.so"
"$javac" --release 11 -d "$T" tests/workloads/JavaMix.java
nr=0
while read -r version java; do
	[ "$version" != missing: ] || { echo "missing: $java"; continue; }
	"$T/stacks" "$n" "$T/agent.so" "$T" "$java"
	for mode in -Xint -XX:TieredStopAtLevel=1 -XX:-TieredCompilation; do
		echo "$mode"
		"$T/stacks" $((n / 4)) "$T/agent.so" "$T" "$java" $mode
	done
	nr=$((nr + 1))
done < <(tests/oracle/hotspot/jdks.sh)
[ $nr != 0 ] || { echo "no JVM that is known"; exit 77; }
