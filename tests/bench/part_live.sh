# shellcheck shell=bash
# What a live consumer beside the trace writer costs the recorder: its CPU time (all threads, and the processes that read
# tasks for it) in a few seconds under way, behind the start. "profile" is a probee with a live profile in it
# (live_beside.c), "profile, read" the same when it is made into a call tree each second, "rows" is --csv=/dev/null. At most
# 1.05 of "trace alone" is wanted of a consumer; rows are text, which is more than consuming.

main_objects() {
	sed -n '/^MAIN_SRCS/,/^$/ s/^\t\(.*\)\.c.*/\1.o/p' "$root/sources.mk" | sed "s,^,$OUT/,"
}

# shellcheck disable=SC2046
gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -I"$root" "$here/live_beside.c" $(main_objects) -Wl,--wrap=record_tee_init \
	"$OUT/libprobee.a" -lbpf -ldw -lelf -lz -lzstd -liberty -lpthread -o "$bin/probee_live" ||
	cannot "probee with a live profile could not be built: make first"

# Nanoseconds on a CPU, so far.
on_cpu() {
	cat /proc/"$1"/task/*/schedstat $(pgrep -P "$1" | sed 's,.*,/proc/&/schedstat,') 2>/dev/null | awk '{ n += $1 } END { print n }'
}

# one TOOL WHAT COMMAND...
one() {
	local tool=$1 what=$2 before after
	shift 2
	launched life "$@"
	sleep 3
	before=$(on_cpu "$TOOL_PID")
	sleep 5
	after=$(on_cpu "$TOOL_PID")
	wait $LAUNCH
	record "$what: recorder, ms of CPU per s" "$tool" "$(calc "($after - $before) / 5e6")"
	[ ! -s launched.err ] || record "$what: samples in the profile" "$tool" "$(of launched.err live_samples)"
}

all() {
	local what=$1
	shift
	one 'trace alone' "$what" "$PROBEE" "$@"
	one profile "$what" "$bin/probee_live" "$@"
	LIVE_READS=1 one 'profile, read' "$what" "$bin/probee_live" "$@"
	[ "$1" = sample ] || one rows "$what" "$PROBEE" "$@" --csv=/dev/null
}

start threads_fp 10000 sleep
many=$PID
for round in $(seq "$ROUNDS"); do
	all 'every CPU, 2,000 Hz' sample -a --include-idle -F 2000 -d 9 -q -o live.pbz
	all '10,000 threads asleep, 5 snapshots/s' snapshot -p "$many" -F 5 -d 9 -q -o live.pbz
	all '10,000 threads walked, 2 snapshots/s' snapshot -p "$many" -F 2 -d 9 -q --walk-all -o live.pbz
done
finish "$many"
