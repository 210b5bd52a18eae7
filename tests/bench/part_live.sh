# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What a live consumer beside the trace writer costs the recorder: its CPU time per sample (all threads, and the processes
# that read tasks for it) in five seconds after the start. "profile" is a probee with a live profile in it (live_beside.c),
# "profile, read" the same when it is made into a call tree each second, "rows" is --csv=/dev/null. A consumer should cost
# at most 1.05 times "trace alone"; rows cost more because they are also made into text.

# The objects that probee is linked from, by the Makefile.
parts_of_probee() {
	printf 'include Makefile\nparts: ; @echo $(MAIN_OBJS) $(B)/libprobee.a $(LDLIBS)\n' |
		make -s --no-print-directory -C "$root" OUT="$OUT" -f - parts
}

# shellcheck disable=SC2046
(cd "$root" && gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -I. tests/bench/live_beside.c -Wl,--wrap=record_tee_init \
	$(parts_of_probee) -o "$bin/probee_live") || cannot "probee with a live profile could not be built: make first"

# Nanoseconds on a CPU, so far.
on_cpu() {
	cat /proc/"$1"/task/*/schedstat $(pgrep -P "$1" | sed 's,.*,/proc/&/schedstat,') 2>/dev/null | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

# one TOOL WHAT COMMAND...
one() {
	local tool=$1 what=$2 before after rows
	shift 2
	launched life "$@"
	sleep 3
	before=$(on_cpu "$TOOL_PID")
	sleep 5
	after=$(on_cpu "$TOOL_PID")
	[ "$before" ] && [ "$after" ] || { say "$what, $tool: it ended early: $(tail -n 1 launched.err)"; return; }
	wait $LAUNCH
	rows=$("$PROBEE" report live.pbz --csv -q 2>/dev/null | wc -l)
	record "$what: recorder, us of CPU per sample" "$tool" "$(calc "($after - $before) / 5e3 / ($rows / $seconds)")"
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

# replay WHAT: the cost of a sample of live.pbz in the writer and in the profile, without the rest of a recorder.
replay() {
	"$bin/live_replay" live.pbz >replay.out || return
	record "$1: replayed, ns of CPU per sample" 'trace writer' "$(of replay.out writer_ns)"
	record "$1: replayed, ns of CPU per sample" profile "$(of replay.out profile_ns)"
	record "$1: ms to make the call tree" profile "$(of replay.out read_ms)"
}

build_bench live_replay || cannot "live_replay could not be built: make first"
seconds=9
start threads 8 spin
busy=$PID
start threads_fp 10000 sleep
many=$PID
for round in $(seq "$ROUNDS"); do
	kill -CONT "$busy"
	all '8 busy threads, 4,000 Hz' sample -p "$busy" -F 4000 -d $seconds -q -o live.pbz
	replay '8 busy threads, 4,000 Hz'
	kill -STOP "$busy"
	all '10,000 threads asleep, 5 snapshots/s' snapshot -p "$many" -F 5 -d $seconds -q -o live.pbz
	all '10,000 threads walked, 2 snapshots/s' snapshot -p "$many" -F 2 -d $seconds -q --walk-all -o live.pbz
	replay '10,000 threads walked, 2 snapshots/s'
done
finish "$many"
finish "$busy"
