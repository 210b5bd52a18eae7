# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Octets that are sent to receivers of profiles for one host and day, and the CPU time of encoding them: PUSH_SECONDS (600) of 97 Hz
# on eight busy CPUs, of the shape that real recordings have (make_recording.c), with source lines and inlined functions; with
# 3,385 and with 20,000 different paths of functions.

build_bench push_bytes && build_bench make_recording || cannot "push_bytes could not be built: make first"
seconds=${PUSH_SECONDS:-600}
for stacks in 3385 20000; do
	"$bin/make_recording" push.pbz samples=$((97 * 8 * seconds)) hz=97 cpus=8 threads=300 stacks=$stacks lines=1 || exit 1
	record "trace, MB a day" "$stacks stacks" "$(calc "$(stat -c %s push.pbz) * 86400 / $seconds / 1e6")"
	for protocol in otlp push ingest; do
		for windows in 1 6; do
			[ $windows = 6 ] || [ $protocol = otlp ] || continue
			"$bin/push_bytes" push.pbz $protocol $windows >push.out || { say "push_bytes $protocol failed"; continue; }
			name="$protocol, $windows x 10 s, $stacks stacks"
			record "MB a day" "$name" "$(calc "$(of push.out bytes) * 86400 / $seconds / 1e6")"
			record "MB a day before compression" "$name" "$(calc "$(of push.out raw_bytes) * 86400 / $seconds / 1e6")"
			record "requests a day" "$name" "$(calc "$(of push.out bodies) * 86400 / $seconds")"
			record "% of a CPU to encode" "$name" "$(calc "$(of push.out encode_ms) / 10 / $seconds")"
		done
	done
done
