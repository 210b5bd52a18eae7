#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The stacks that the frame programs of src/runtimes find in stopped threads of running Pythons against what faulthandler writes
# in the same thread at the same instruction: every function, file and line. All versions that are found. python_stacks.sh N: so often per run;
# 10000 for acceptance. A Python whose faulthandler crashes (3.12 does, once in some thousand) is begun anew, and counted.
set -eu
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || { echo "the base of FS is read"; exit 77; }
OUT=${OUT:-.out}
n=${1:-150}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -I. -D_GNU_SOURCE -DARCH_HEADER='"unwind/arch_x86_64.h"' tests/oracle/python/stacks.c \
	"$OUT/libprobee.a" -lelf -lz -lzstd -o "$T/stacks"
nr=0
while read -r version python; do
	[ "$version" != missing: ] || { echo "missing: $python"; continue; }
	"$T/stacks" "$n" 1 tests/workloads/python_mix.py "$python"
	"$T/stacks" "$n" 3 tests/workloads/python_mix.py "$python" --deep 120
	"$T/stacks" $((n / 3)) 2 tests/workloads/python_mix.py "$python" list
	"$T/stacks" $((n / 3)) 3 tests/workloads/python_mix.py "$python" --asleep
	"$T/stacks" "$n" 1 tests/workloads/python_mix.py "$python" late --exec
	nr=$((nr + 1))
done < <(tests/oracle/python/pythons.sh)
[ $nr != 0 ] || { echo "no Python that is known"; exit 77; }
