#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes
# timeout: 300
# What src/runtimes reads of code objects in the memory of a process (name, file, first line, the line of each instruction)
# against what the same Python says of them. All versions that are found.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
T=$(mktemp -d)
trap 'exec 7>&-; rm -rf "$T"' EXIT
${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -I. -D_GNU_SOURCE tests/oracle/python/codes.c "$OUT/libprobee.a" -lelf -lz -lzstd -o "$T/codes"
nr=0
while read -r version python; do
	[ "$version" != missing: ] || { echo "missing: $python"; continue; }
	mkfifo "$T/$nr"
	"$python" -B tests/oracle/python/codes.py <"$T/$nr" >"$T/list" &
	pid=$!
	exec 7>"$T/$nr"
	for _ in $(seq 300); do
		[ "$(tail -n 1 "$T/list")" != end ] || break
		sleep 0.1
	done
	"$T/codes" $pid <"$T/list" | tee "$T/said"
	grep -q "^python $version[.:]" "$T/said"
	exec 7>&-
	wait $pid
	nr=$((nr + 1))
done < <(tests/oracle/python/pythons.sh)
[ $nr != 0 ] || { echo "no Python that is known"; exit 77; }
