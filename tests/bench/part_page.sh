# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Pages (--html) of a million samples, and of a call tree of 160,000 nodes: what they cost to write, and in Chromium to open, to
# brush and to zoom (CPU time of the thread that draws, for each step).

build_bench make_trace || cannot "make_trace could not be built: make first"
have chromium || cannot "no chromium"
"$bin/make_trace" million.pbz 1000000 3385 && "$bin/make_trace" nodes.pbz 200000 8000 || exit 1
for round in $(seq "$ROUNDS"); do
	for trace in million nodes; do
		launched life "$PROBEE" report $trace.pbz --html=$trace.html --force
		wait $LAUNCH
		[ "$(of life status)" = 0 ] || { say "report --html failed: $(head -1 launched.err)"; continue; }
		record "page, CPU ms" $trace "$(of life cpu_ms)"
		record "page, wall ms" $trace "$(of life wall_ms)"
		record "page, peak RSS MiB" $trace "$(calc "$(of life rss_kib) / 1024")"
		record "page, MB" $trace "$(calc "$(stat -c %s $trace.html) / 1e6")"
		python3 "$here/page_frames.py" "$root" "$T/$trace.html" >frames || { say "the browser failed"; continue; }
		while read -r what ms; do record "page, CPU ms to $what" $trace "$ms"; done <frames
	done
done
