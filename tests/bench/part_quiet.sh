# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Traces of 100 scans of 10,000 threads, of which 50 change between two scans: with REPEAT, with all rows written out, and
# with the changes alone. The first minus the last is the cost of the threads that did not change.

build_bench make_walks || cannot "make_walks could not be built: make first"
for round in $(seq "$ROUNDS"); do
	for mode in repeat plain bare; do
		"$bin/make_walks" walks.pbz 100 10000 50 $mode >walks.out || exit 1
		record "10,000 threads, bytes per thread and walk behind the first" $mode \
			"$(of walks.out bytes_per_thread_and_later_walk)"
		record "100 walks, ms to write" $mode "$(of walks.out write_ms)"
		record "100 walks, ms to read" $mode "$(of walks.out read_ms)"
	done
done
