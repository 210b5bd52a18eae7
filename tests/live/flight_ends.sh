#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/flight src/recording src/output
# beside: live
# timeout: 300
# How a flight recorder (--flight) ends, and what goes wrong around it: processes that are killed, memory that is short, a disk that
# is full or takes nothing, mistakes on the command line.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"
. "$LIVE/flight_lib.sh"

start threads 20 sleep
SLEEPERS=$PID

# --- the end: nothing, or what was asked for
flight term record --flight 5s -o term.pbz
sleep 2
kill -TERM "$FLIGHT"
ended term
check "SIGTERM: exit status" equal "$RC" 0
check "SIGTERM writes nothing" equal "$(files term*.pbz .term*)" 0

flight flush record --flight 5s --flush-on-exit -o flush.pbz
sleep 2
kill -INT "$FLIGHT"
ended flush
check "--flush-on-exit: exit status" equal "$RC" 0
check "--flush-on-exit: a file" equal "$(files flush-*.pbz)" 1
whole --flush-on-exit flush-*.pbz exit
check "--flush-on-exit: with a last snapshot" equal "$(rows_near flush-*.pbz "$SLEEPERS")" 21

flight pending record --flight 5s --flight-after 30s -o pending.pbz
sleep 2
kill -USR1 "$FLIGHT"
until_true 5 grep -q 'trigger SIGUSR1' pending.err
kill -TERM "$FLIGHT"
ended pending
check "a trigger that has come is written at the end" equal "$(files pending-*.pbz)" 1
whole pending pending-*.pbz SIGUSR1

# --- the recorder is killed: the keeper still has what there was; the keeper is killed: the recorder ends
flight killed record --flight 5s --flush-on-exit -o killed.pbz
sleep 3
RECORDER=$(pgrep -o -P "$FLIGHT")
kill -KILL "$RECORDER"
ended killed
check "the recorder is killed: exit status" equal "$RC" 137
check "what it had is written" equal "$(files killed-*.pbz)" 1
check "and can be read" test "$(json killed-*.pbz 'd["samples"]')" -gt 0

flight orphan record --flight 5s -o orphan.pbz
sleep 2
RECORDER=$(pgrep -o -P "$FLIGHT")
kill -KILL "$FLIGHT"
ended orphan
check "the keeper is killed: the recorder ends" until_true 10 gone "$RECORDER"

# --- memory: what does not fit falls out, is counted and said
# With the stack memory of samples the trace grows by half a megabyte a second.
start "$(command -v taskset)" -c 0 "$WORKLOADS/threads" 3 noise
flight memory record --flight 60s --flight-after 0 --flight-memory 1M -C 0 -F 499 --audit 1/10 -o memory.pbz
for i in $(seq 30); do
	sleep 0.5
	grep -q 'flight-memory is full' memory.err && [ "$i" -gt 16 ] && break
	kept=$(stat -Lc '%b' "/proc/$FLIGHT/fd/"* 2>/dev/null | sort -n | tail -1)
	[ $((kept * 512)) -le "${most:-0}" ] || most=$((kept * 512))
done
kill -USR1 "$FLIGHT"
until_true 20 said_file memory.err 1
kill -TERM "$FLIGHT"
ended memory
check "--flight-memory: it takes no more, but for the segment that is written: $most" test "$most" -le 2500000
whole memory memory-*.pbz SIGUSR1
check "what fell out is counted" test "$(json memory-*.pbz 'd["flight"]["early_samples"]')" -gt 0
check "and said" grep -q 'flight-memory is full' memory.err
check "by info, too" grep -q 'fallen out of memory' <("$PROBEE" info --no-pager memory-*.pbz)

# --- a disk that is full, and one that takes nothing: the recording goes on, and memory stays bounded
mkdir mnt && mount -t tmpfs -o size=64k none mnt
flight full record --flight 5s --flight-after 0 --trigger-every 1s -C 0 -F 499 --audit 1/10 -o mnt/full.pbz
sleep 3
kill -USR1 "$FLIGHT"
check "a full disk is said" until_true 20 grep -q 'write mnt/full.*: No space left' full.err
check "and nothing is left on it" until_true 5 is_empty mnt
mount -o remount,size=20m mnt
sleep 1
kill -USR1 "$FLIGHT"
check "the next trigger is written" until_true 20 said_file full.err 1
kill -TERM "$FLIGHT"
ended full
check "a full disk: exit status" equal "$RC" 1
umount mnt

mkfifo stuck.pbz
exec {hold}<>stuck.pbz		# it has a reader, which does not read
flight stuck record --flight 60s --flight-after 0 --trigger-count 1 --flight-memory 1M -C 0 -F 499 --audit 1/10 -o stuck.pbz
sleep 3
kill -USR1 "$FLIGHT"
check "a disk that takes nothing: the file is given up" until_true 40 grep -q 'the file is given up' stuck.err
most=0
for i in $(seq 6); do
	sleep 0.5
	kept=$(stat -Lc '%b' "/proc/$FLIGHT/fd/"* 2>/dev/null | sort -n | tail -1)
	[ $((kept * 512)) -le "$most" ] || most=$((kept * 512))
done
check "and memory is bounded again: $most" test "$most" -le 2500000
kill -TERM "$FLIGHT"
ended stuck
check "it ends, and says that a file is missing" equal "$RC" 1
exec {hold}<&-

# --- what cannot be
refused() {
	local rc=0
	"$PROBEE" "${@:2}" 2>err || rc=$?
	check "refused: ${*:2}" equal "$rc" 2
	check "why" grep -q -- "$1" err
	check "in one line" equal "$(wc -l <err)" 1
}
refused 'no such trigger' record --flight 60s --trigger 'load>5'
refused 'with --flight' record --trigger 'runq>5'
refused 'writes traces' record --flight 60s --svg=x.svg
refused 'writes files' record --flight 60s -o -
refused 'from 1s to 1h' record --flight 100ms
refused 'at least' record --flight 60s --flight-memory 10K
for c in top serve; do
	check "$c shows what it records" grep -q 'is not shown' <("$PROBEE" $c --flight 60s 2>&1)
done
mkdir full && echo stranger >full/x.pbz
"$PROBEE" record --flight 5s --trigger-count 1 -o full/x.pbz 2>err
RC=$?
check "a stranger's file is refused at once" equal "$RC" 1
check "and why" grep -q 'full/x.pbz' err

done_testing
