#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/collectors src/capture/session
# core: yes
# Several events in one recording: each sample belongs to its event and has its weight, and the sums equal what the kernel
# itself counted for the threads (getrusage). So no loss goes unreported.
. "$(dirname "$0")/lib.sh"
need_bpf

# weight FILE EVENT THREAD FUNCTION: sum of the weights of that event's samples in that thread under that function.
weight() {
	"$PROBEE" report "$1" --event "$2" --comm "$3" --collapse 2>/dev/null |
		awk -v f="$4" '$0 ~ ";" f "[;_ ]" { sum += $NF } END { printf "%.0f\n", sum }'
}
counted() { awk -v e="$1" '$1 == e { print $2 }' counts; }

# How much the call of the function and its return may add outside of the two calls of getrusage().
SLACK=2
near() { at_least "$1" $(($2 - SLACK)) && at_most "$1" $(($2 + SLACK)); }
# lost FILE: overflows that happened while the program was busy with another event.
lost() { "$PROBEE" info "$1" | awk '$2 == "nested" { print $1 }' | tail -n 1; }

count() { run_limited sample "$@" -- "$WORKLOADS/counts" counts 20000 2000; }

count -e cpu-clock -e page-faults -e context-switches -c 1 -o three.pbz
check "three events: exit status" equal "$RC" 0
nested=$(lost three.pbz)
SLACK=$((2 + ${nested:-0}))
check "page faults are those that the kernel counted (and ${nested:-0} told lost)" \
	near "$(weight three.pbz page-faults toucher touch_pages)" "$(counted page-faults)"
check "20,000 of them" at_least "$(counted page-faults)" 20000
check "context switches, too" near "$(weight three.pbz context-switches sleeper sleep_often)" "$(counted context-switches)"
# A nap may be over before its thread has left the CPU.
check "2,000 of them, or nearly" at_least "$(counted context-switches)" 1980
check "no page fault in who only sleeps" at_most "$(weight three.pbz page-faults sleeper sleep_often)" 5
check "info lists the three" equal "$("$PROBEE" info three.pbz | grep -cE '^ +[0-9]+ .* (cpu-clock|page-faults|context-switches) ')" 3
check "their names are in the trace's report" bash -c "'$PROBEE' report three.pbz --text | grep -qE 'Also recorded: (page-faults|context-switches|cpu-clock)'"
check "an event that was not recorded" bash -c "! '$PROBEE' report three.pbz --event cycles --text 2>no.err"
check "and which there are" grep -q 'context-switches' no.err

# With a period there are fewer samples, but the same sum. On a busy machine the kernel counts up to 4 % more events than
# faults in getrusage().
SLACK=1000
count -e page-faults -c 100 -o period.pbz
check "-c 100: the same sum" near "$(weight period.pbz page-faults toucher touch_pages)" "$(counted page-faults)"
samples=$("$PROBEE" report period.pbz --comm toucher --csv -q | wc -l)
check "-c 100: a hundredth of the samples ($samples)" at_most "$samples" $(($(counted page-faults) / 95))
count -e page-faults/period=100/,cpu-clock -o set.pbz
nested=$(lost set.pbz)
SLACK=$((1000 + 100 * ${nested:-0}))	# of the weight of a sample
check "NAME/period=N/: the same sum" near "$(weight set.pbz page-faults toucher touch_pages)" "$(counted page-faults)"

# `probee record` has an event of scans beside them.
run_limited record -e cpu-clock,page-faults -c 1 --snap-freq 20 -o record.pbz -- "$WORKLOADS/counts" counts 20000 2000
check "record: exit status" equal "$RC" 0
check "record: wall time is of the snapshots" bash -c "'$PROBEE' report record.pbz --weight wall --text | grep -q 'wall time'"
check "record: an older reader takes it" python3 "$ROOT/tests/spec/decode.py" --stats record.pbz

# Events that the machine or the table does not have.
run_limited sample -e no-such-event -d 0.1 -o no.pbz
check "an unknown event is a mistake of the command line" equal "$RC" 2
check "with the list of those that are known" grep -q 'cpu-clock, task-clock, page-faults' "$T/err"
if [ -e /sys/bus/event_source/devices/cpu ]; then
	skip_part "this machine counts cycles"
else
	run_limited sample -e cycles -d 0.1 -o no.pbz
	check "what the machine cannot count is not" equal "$RC" 77
fi

# Events that PMUs of the hardware have, and the list.
"$PROBEE" sample -e help >help.out 2>"$T/err"
check "-e help: exit status" equal $? 0
check "-e help: what can be counted here" grep -qx '  page-faults or faults' help.out
[ -e /sys/bus/event_source/devices/cpu ] || check "-e help: and what cannot" grep -qx '\* cycles or cpu-cycles' help.out
for pmu in /sys/bus/event_source/devices/*/events; do
	pmu=${pmu%/events}
	[ -d "$pmu/events" ] && check "-e help: events of ${pmu##*/}" grep -q "^  ${pmu##*/}/.*/$" help.out
done
run_limited sample -e no_pmu/event=0x3c,umask=1/u -d 0.1 -o no.pbz
check "a PMU that is not there: a mistake of the command line" equal "$RC" 2
check "which is said" grep -q 'no PMU of that name' "$T/err"
run_limited sample -e cpu-clock:upp -d 1 -F 199 -o exact.pbz -- "$WORKLOADS/chain30" spin
check "exact places are asked for" equal "$RC" 0
check "and have stacks" grep -q '100.0 % of user stacks whole' "$T/err"
if [ ! -e /sys/bus/event_source/devices/cpu ]; then
	run_limited sample -e r13c -d 0.1 -o no.pbz
	check "a raw event that the machine cannot count" equal "$RC" 77
fi

# A report finds an event by the words after -e, and the trace keeps the command as it was typed.
background sleep 1000; sleeper=$PID
timeout 30 "$PROBEE" sample -e t:sched:sched_process_exec -o exec.pbz -- sh -c '/bin/true; /bin/true; /bin/true' 2>>"$T/err"
if [ "$("$PROBEE" report -q exec.pbz --event tracepoint:sched:sched_process_exec --collapse 2>/dev/null | wc -l)" -gt 0 ]; then
	for event in sched:sched_process_exec t:sched:sched_process_exec; do
		check "$event is found" equal "$("$PROBEE" report -q exec.pbz --event $event --collapse 2>&1)" \
			"$("$PROBEE" report -q exec.pbz --event tracepoint:sched:sched_process_exec --collapse)"
	done
	check "another kind is not" not "$PROBEE" report -q exec.pbz --event k:sched:sched_process_exec --collapse
else
	skip_part "events by short names" "this kernel gives no tracepoints"
fi
timeout 30 "$PROBEE" offcpu -p "$sleeper" 1 -o off.pbz 2>>"$T/err"
check "the command is kept as it was typed" grep -q "^command   probee sample --off-cpu -p $sleeper 1 -o off.pbz\$" <("$PROBEE" info off.pbz)
finish "$sleeper"
done_testing
