#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# core: yes
# Makes pages (--html) with the library in $OUT (default .out) and has a browser use them.
# pages.sh [--shots DIR] [--only NAME]
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
dir=${TMP:-$OUT/tests/browser}/pages		# two tests may do this at a time
mkdir -p "$dir"
${CC:-cc} -std=gnu11 -O1 -g -D_GNU_SOURCE -I. ${SANFLAGS:-} tests/browser/make_page.c "$OUT/libprobee.a" \
	-lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread -o "$dir/make_page"
for case in typical one hostile wishes few named many empty; do
	"$dir/make_page" $case "$dir"
done
exec python3 tests/browser/page_test.py "$dir" "$@"
