# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Whether the memory of a recording without an end stays bounded: the whole machine, with a snapshot each second, beside a load
# whose stacks are ever new (ever_new.c), processes that live for 5 ms, and code that is made at run time without end; for
# SEGMENTS_S (240) seconds. HZ (499): at 99 Hz it takes five times as long until definitions fill a segment. OLD=FILE: another
# probee to compare with, in turns. And what the beginning of another segment costs: CPU time of a recording with --segment-size,
# less that of one without.

SEGMENTS_S=${SEGMENTS_S:-240} HZ=${HZ:-499}

gcc -std=gnu11 -O1 -g -fno-omit-frame-pointer -D_GNU_SOURCE "$here/ever_new.c" -o ever_new || exit 1

# begin_load, end_load: two of the first, so that both CPUs of a small machine are busy half of the time.
begin_load() {
	LOAD=()
	nice -n 5 ./ever_new 1 >/dev/null & LOAD+=($!)
	nice -n 5 ./ever_new 2 >/dev/null & LOAD+=($!)
	nice -n 5 "$WORKLOADS/made" maker >/dev/null & LOAD+=($!)
	bash -c 'while :; do "$0" 5; done' "$WORKLOADS/brief" & LOAD+=($!)
	start threads 300 sleep
	LOAD+=("$PID")
	STARTED+=("${LOAD[@]}")
}
end_load() {
	kill -KILL "${LOAD[@]}" 2>/dev/null
	wait "${LOAD[@]}" 2>/dev/null
}

# grows TOOL PROBEE
grows() {
	launched life "$2" record -a -v -F "$HZ" -d "$SEGMENTS_S" -o segments.pbz
	python3 -S "$here/growth.py" "$TOOL_PID" "$SEGMENTS_S" 5 >growth
	wait "$LAUNCH"
	say "$1: $(grep -c 'recording begins' launched.err) times another segment, $(stat -c %s segments.pbz) bytes;" \
		"MiB every 20 s: $(awk '$1 == "at" && n++ % 4 == 0 { printf "%s ", $6 }' growth)"
	record "MiB at most, all processes" "$1" "$(of growth most)"
	record "% of growth in the second half" "$1" "$(of growth second_half)"
	grep 'recording begins' launched.err >&2
}

# costs SECONDS OPTION...: CPU ms of all of probee's processes, and of one more segment.
cpu_with() {
	launched life "$PROBEE" record -q -a -F "$HZ" -d 20 -o cost.pbz "$@"
	wait "$LAUNCH"
	of life cpu_ms
}

for round in $(seq "$ROUNDS"); do
	begin_load
	grows probee "$PROBEE"
	end_load
	if [ -n "${OLD:-}" ]; then
		begin_load
		grows old "$OLD"
		end_load
	fi
	begin_load
	one=$(cpu_with)
	several=$(cpu_with --segment-size 100K)
	nr=$(python3 -S "$here/../live/segments.py" cost.pbz segment)
	record "CPU ms of another segment" probee "$(calc "($several - $one) / ($nr - 1)")"
	end_load
done
