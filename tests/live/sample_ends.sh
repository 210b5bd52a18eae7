#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording src/output formats/trace
# core: yes
# beside: live
# A recording ends in several ways; what was recorded can be read each time.
. "$(dirname "$0")/lib.sh"

start chain30
target=$PID

# Processes that come and go keep the recorder busy beside the samples.
while :; do /bin/true; done &
STARTED+=($!)
disown

# info FILE WORD: what `probee info` prints contains WORD.
info_says() { "$PROBEE" info "$1" 2>&1 | grep -qi "$2"; }
readable() { "$PROBEE" report "$1" --collapse >"$1.folded" 2>>report.err; }
has_bytes() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "${2:-1000}" ]; }

for signal in INT TERM HUP; do
	background "$PROBEE" sample -p "$target" -F 499 -o "$signal.pbz" 2>err
	check "SIG$signal: on disk while it runs" until_true 5 has_bytes "$signal.pbz" 300
	sleep 1
	kill -$signal "$PID"
	wait "$PID"
	RC=$?
	check "SIG$signal: exit status" equal "$RC" 0
	check "SIG$signal: readable" readable "$signal.pbz"
	check "SIG$signal: complete" not info_says "$signal.pbz" "not properly\|not finished\|incomplete"
	check "SIG$signal: samples" at_least "$(stacks total "$signal.pbz.folded")" 30
	check "SIG$signal: names" stacks share "$signal.pbz.folded" "main;f1;f2" --of f30
done

# timeout(1) sends its signal twice, at once.
for signal in INT TERM; do
	timeout -s $signal 1.5 "$PROBEE" sample -p "$target" -F 499 -o timeout.pbz 2>err
	check "SIG$signal twice at once: complete" not info_says timeout.pbz "not properly\|not finished\|incomplete"
	check "SIG$signal twice at once: it is said what was recorded" grep -q "timeout.pbz" err
done

# Killed at 12 moments, from before the first sample on: no sample older than two seconds may be missing.
for ms in 30 60 90 120 200 300 500 800 1300 1900 2500 3300; do
	background "$PROBEE" sample -p "$target" -F 499 -o kill.pbz 2>/dev/null
	sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
	kill -KILL "$PID"
	wait "$PID" 2>/dev/null
	[ -s kill.pbz ] || continue
	check "SIGKILL after $ms ms: readable" readable kill.pbz
	check "SIGKILL after $ms ms: known to be incomplete" info_says kill.pbz "not properly\|not finished\|incomplete"
	[ $ms -lt 3000 ] || check "SIGKILL after $ms ms: samples" at_least "$(stacks total kill.pbz.folded)" 30
done

# The kernel removes the BPF programs when the process that holds them ends.
rm -f kill.pbz
background "$PROBEE" sample -p "$target" -F 99 -o kill.pbz 2>/dev/null
until_true 10 has_bytes kill.pbz
programs=$(sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$PID"/fdinfo/* 2>/dev/null | sort -un)
kill -KILL "$PID"
wait "$PID" 2>/dev/null
gone() { ! "$bpftool" prog show id "$1"; }
bpftool=$(PATH=$PATH:/usr/sbin command -v bpftool)
if [ -n "$bpftool" ]; then
	check "it held programs" at_least "$(echo "$programs" | wc -w)" 1
	for id in $programs; do
		check "SIGKILL: program $id is gone" until_true 5 gone "$id"
	done
else
	skip_part "no bpftool: cannot see whether programs are gone"
fi


# If the target ends first, the recording ends by itself.
"$WORKLOADS/brief" 1500 >/dev/null &
brief=$!
sample -p $brief -F 499 -o ended.pbz
check "target's end: exit status" equal "$RC" 0
check "target's end: readable" readable ended.pbz
check "target's end: samples" stacks share ended.pbz.folded "main;brief_outer;brief_leaf" 

# -d takes the time that it says.
before=$(date +%s%N)
sample -p "$target" -F 99 -d 1500ms -o duration.pbz
took=$((($(date +%s%N) - before) / 1000000))
check "-d 1500ms is not shorter" at_least $took 1450
check "-d 1500ms is not longer" at_most $took 3500
readable duration.pbz
check "-d 1500ms at 99 Hz: not more than 150" at_most "$(stacks total duration.pbz.folded)" 152
done_testing
