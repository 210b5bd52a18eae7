#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report src/diff
# d3-flame-graph in Chromium draws --json, of one trace and of two compared: the same weights, and its own colours for deltas.
. tests/consumers/lib.sh
command -v chromium >/dev/null && command -v python3 >/dev/null || skip 'needs chromium and python3'
consumer d3-flame-graph
run "${CC:-cc}" -std=gnu11 -O1 -D_GNU_SOURCE -I. -Wno-unused -o "$TMP/make_sim" tests/cli/make_sim.c "$OUT/libprobee.a" -lzstd -lz \
	-lpcre2-8 -lseccomp -lcap-ng -lpthread -lcmocka
exits 0
"$TMP/make_sim" "$TMP/a.pbz" 1 3000 && "$TMP/make_sim" "$TMP/slow.pbz" 3 3000 50 || exit 1
"$TMP/make_sim" "$TMP/hostile.pbz" 7 3000 50 time hostile || exit 1
run probee report "$TMP/hostile.pbz" --json="$TMP/hostile.json"; exits 0
run probee report "$TMP/a.pbz" --json="$TMP/plain.json"; exits 0
run probee diff "$TMP/a.pbz" "$TMP/slow.pbz" --normalize none --json="$TMP/diff.json"; exits 0
[ "$failures" = 0 ] || finish
PYTHONDONTWRITEBYTECODE=1 python3 tests/consumers/d3_test.py "$modules" "$TMP" || failures=1
finish
