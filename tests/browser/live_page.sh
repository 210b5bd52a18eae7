#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/live formats/render
# timeout: 240
# Feeds pages from traces, as a server would, and has a browser use them: tests/browser/live_test.py.
# live_page.sh [--shots DIR] [--only NAME]
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
dir=${TMP:-$OUT/tests/browser}/live		# two tests may do this at a time
mkdir -p "$dir"
for tool in make_page feed_page; do
	${CC:-cc} -std=gnu11 -O1 -g -D_GNU_SOURCE -I. ${SANFLAGS:-} tests/browser/$tool.c "$OUT/libprobee.a" \
		-lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread -o "$dir/$tool"
done
for case in typical named hostile; do
	"$dir/make_page" $case "$dir"
done
exec python3 tests/browser/live_test.py "$dir" "$@"
