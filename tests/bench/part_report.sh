# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Reports of a million samples with 3,385 distinct stacks.

build_bench make_trace || cannot "make_trace could not be built: make first"
"$bin/make_trace" million.pbz 1000000 3385 || exit 1
echo "million.pbz: $(stat -c %s million.pbz) bytes"
for round in $(seq "$ROUNDS"); do
	for format in svg collapse text json; do
		launched life "$PROBEE" report million.pbz --$format=million.$format
		wait $LAUNCH
		[ "$(of life status)" = 0 ] || { say "report --$format failed: $(head -1 launched.err)"; continue; }
		record "1,000,000 samples, wall ms" "--$format" "$(of life wall_ms)"
		record "1,000,000 samples, peak RSS MiB" "--$format" "$(calc "$(of life rss_kib) / 1024")"
	done
done
