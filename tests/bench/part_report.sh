# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Reports of a million samples: of a recording of the usual shape, of one with source lines and inlined functions, and of
# stacks that share little, which make a tree of 1.1 million nodes; and of ten million samples of the first kind.

build_bench make_trace && build_bench make_recording || cannot "make_trace and make_recording could not be built: make first"
"$bin/make_recording" usual.pbz hz=20000 && "$bin/make_recording" lines.pbz hz=20000 lines=1 &&
	"$bin/make_recording" ten.pbz hz=20000 samples=10607810 && "$bin/make_trace" unshared.pbz 1000000 3385 || exit 1
for round in $(seq "$ROUNDS"); do
	for trace in usual lines unshared ten; do
		for format in svg collapse text json pprof html; do
			"$PROBEE" report --help | grep -q -- "--$format" || continue
			launched life "$PROBEE" report $trace.pbz --$format=report.$format --force
			wait $LAUNCH
			[ "$(of life status)" = 0 ] || { say "report --$format failed: $(head -1 launched.err)"; continue; }
			record "$trace.pbz, CPU ms" "--$format" "$(of life cpu_ms)"
			record "$trace.pbz, wall ms" "--$format" "$(of life wall_ms)"
			record "$trace.pbz, peak RSS MiB" "--$format" "$(calc "$(of life rss_kib) / 1024")"
		done
	done
done
