# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Names that are added later: probee symbolize of a million samples, which it copies, and of 100,000 addresses of a large
# library, beside llvm-symbolizer, which prints names and writes no trace.

build_bench make_trace && build_bench make_addresses || cannot "make_trace or make_addresses could not be built: make first"
"$bin/make_trace" million.pbz 1000000 3385 || exit 1
library=$(ls /usr/lib/llvm-*/lib/libLLVM-*.so.1 2>/dev/null | tail -n 1)
[ ! "$library" ] || "$bin/make_addresses" addresses.pbz "$library" 100000 >addresses || exit 1
for round in $(seq "$ROUNDS"); do
	launched life "$PROBEE" symbolize -q million.pbz -o copy.pbz --again --binary-dir /
	wait $LAUNCH
	record "copy of 1,000,000 samples, wall ms" "symbolize" "$(of life wall_ms)"
	record "copy of 1,000,000 samples, peak RSS MiB" "symbolize" "$(calc "$(of life rss_kib) / 1024")"
	[ "$library" ] || continue
	if command -v llvm-symbolizer >/dev/null; then
		launched life sh -c "exec llvm-symbolizer --obj=$library --no-inlines -f -C <addresses"
		wait $LAUNCH
		record "100,000 addresses of ${library##*/}, wall ms" "llvm-symbolizer" "$(of life wall_ms)"
		record "100,000 addresses of ${library##*/}, peak RSS MiB" "llvm-symbolizer" "$(calc "$(of life rss_kib) / 1024")"
	fi
	launched life "$PROBEE" symbolize -q addresses.pbz -o named.pbz --binary-dir /
	wait $LAUNCH
	[ "$(of life status)" = 0 ] || { say "symbolize failed: $(head -1 launched.err)"; continue; }
	record "100,000 addresses of ${library##*/}, wall ms" "symbolize" "$(of life wall_ms)"
	record "100,000 addresses of ${library##*/}, peak RSS MiB" "symbolize" "$(calc "$(of life rss_kib) / 1024")"
done
