#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report src/diff
# Compares recordings with the library and the program in $OUT (default .out) and has a browser use the pages.
# diffs.sh [--shots DIR] [--only NAME]
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
PROBEE=${PROBEE:-$OUT/probee}
dir=${TMP:-$OUT/tests/browser}/diffs		# two tests may do this at a time
mkdir -p "$dir"
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -I. -Wno-unused ${SANFLAGS:-} tests/cli/make_sim.c "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 \
	-lseccomp -lcap-ng -lpthread -lcmocka -o "$dir/make_sim"
"$dir/make_sim" "$dir/before.pbz" 5 3000 0 run
"$dir/make_sim" "$dir/same.pbz" 6 3000 0 run
"$dir/make_sim" "$dir/slow.pbz" 7 3000 50 run
"$dir/make_sim" "$dir/hostile.pbz" 8 3000 50 run hostile
for case in same slow hostile; do
	"$PROBEE" diff "$dir/before.pbz" "$dir/$case.pbz" --html="$dir/$case.html" --json="$dir/$case.json" --force
done
exec python3 tests/browser/diff_test.py "$dir" "$@"
