# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The memory of a view that is open for DAY_HOURS (24), without waiting for it: a recording of 1,000 threads, two CPUs at 99 Hz
# and programs that come and go, in parts of 10 MiB (live_day.c), is read as fast as it goes. Growth compares the most that
# the second half took with the most of the first.

build_bench live_day || cannot "live_day could not be built: make first"
for ((round = 0; round < ROUNDS; round++)); do
	"$bin/live_day" "${DAY_HOURS:-24}" 10 $((round + 1)) >day.out || { say "live_day: $(tail -n 1 day.out)"; continue; }
	say "$(grep '^hour' day.out | tail -n 1)"
	record "a view after ${DAY_HOURS:-24} h: most RSS, MiB" probee "$(of day.out rss_mib)"
	record "a view after ${DAY_HOURS:-24} h: growth in the second half, %" probee "$(of day.out growth_percent)"
	record "a view after ${DAY_HOURS:-24} h: CPU time of all records, s" probee "$(of day.out view_cpu_s)"
	record "a view: longest compaction, ms of CPU time" probee "$(of day.out worst_ms)"
done
