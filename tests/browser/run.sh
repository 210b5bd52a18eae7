#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# Draws pictures with the library in $OUT (default .out) and has a browser use them.
# run.sh [--shots DIR] [--only NAME]
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
dir=${TMP:-$OUT/tests/browser}/pictures	# two tests may do this at a time
mkdir -p "$dir"
${CC:-cc} -std=gnu11 -O1 -g -D_GNU_SOURCE -I. ${SANFLAGS:-} tests/browser/make_svg.c "$OUT/libprobee.a" -o "$dir/make_svg"
for case in typical lossy deep tips names one empty hostile medium big; do
	"$dir/make_svg" $case >"$dir/$case.svg"
done
exec python3 tests/browser/flame_test.py "$dir" "$@"
