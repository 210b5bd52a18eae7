# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A picture of ten seconds of an hour, at 99 Hz, beside one of the whole hour: machines of 2, 16 and 64 CPUs, and one of 16 CPUs
# with a snapshot of 200 threads each second.

build_bench make_recording || cannot "make_recording could not be built: make first"
for cpus in 2 16 64; do
	"$bin/make_recording" hour$cpus.pbz cpus=$cpus samples=$((3600 * 99 * cpus)) || exit 1
	echo "hour$cpus.pbz: $(stat -c %s hour$cpus.pbz) bytes"
done
"$bin/make_recording" hour16+scans.pbz cpus=16 samples=$((3600 * 99 * 16)) scans=1 threads=200 || exit 1
for round in $(seq "$ROUNDS"); do
	for cpus in 2 16 64 16+scans; do
		for window in "" "--from=30m --to=1810s"; do
			# shellcheck disable=SC2086
			launched life "$PROBEE" report hour$cpus.pbz $window --svg=window.svg --force
			wait $LAUNCH
			[ "$(of life status)" = 0 ] || { say "report failed: $(head -1 launched.err)"; continue; }
			record "$cpus CPUs, CPU ms" "${window:-the whole hour}" "$(of life cpu_ms)"
			record "$cpus CPUs, wall ms" "${window:-the whole hour}" "$(of life wall_ms)"
			record "$cpus CPUs, peak RSS MiB" "${window:-the whole hour}" "$(calc "$(of life rss_kib) / 1024")"
		done
	done
done
