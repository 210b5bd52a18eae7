#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/processes src/recording
# core: yes
# timeout: 200
# beside: live
# Children of -p and of -- CMD are recorded from their fork on. A process that lives for 5 ms still has names. An exec
# separates two lives of one pid. The exit status of the command is reported.
. "$(dirname "$0")/lib.sh"

# sample_kids TRACE: samples PID, which makes its children now, until all have ended.
sample_kids() {
	local said
	begin_sample "$1" -p "$PID" -F 499
	kill -USR1 "$PID"
	read -r -t "$TIME_LIMIT" -u "$SAYS" said
	end_sample
}

start kids fork 3
sample_kids fork.pbz
folded fork.pbz >fork.folded
check "forked children of -p" stacks share fork.folded "main;make_children;make_fork;fork_child;fork_leaf"
check "they are three" at_least "$(csv fork.pbz | awk -F'|' '/fork_leaf/ { print $3 }' | sort -u | wc -l)" 3
finish "$PID"

start kids vfork 3 "$WORKLOADS/brief" 200 cpu
sample_kids vfork.pbz
folded vfork.pbz >vfork.folded
check "vforked children of -p" stacks share vfork.folded "main;make_children;make_vfork;vfork_leaf"
check "after their exec" stacks share vfork.folded "main;brief_outer;brief_leaf" --comm brief --percent 80
check "the exec changed everything" stacks never vfork.folded vfork_leaf brief_leaf
finish "$PID"

# The command: 100 children of 5 ms each at 999 Hz.
sample -F 999 -o brief.pbz -- "$WORKLOADS/kids" now exec 100 "$WORKLOADS/brief" 5 cpu >/dev/null
check "-- CMD: exit status of probee" equal "$RC" 0
check "-- CMD: tells the command's" grep -q 'status 7' "$T/err"
folded brief.pbz >brief.folded
check "short-lived children are sampled" at_least "$(stacks total brief.folded brief)" 100
check "short-lived children are whole" stacks share brief.folded "main;brief_outer;brief_leaf" --comm brief \
	--percent 60
not_yet "tables before the first sample of a process" "all of them" stacks share brief.folded \
	"main;brief_outer;brief_leaf" --comm brief --percent 99
check "they are many" at_least "$(csv brief.pbz | awk -F'|' '$4 == "brief" { print $3 }' | sort -u | wc -l)" 60

# The number of samples fits the CPU time that the command says it got.
sample -F 499 -o exact.pbz -- "$WORKLOADS/brief" 2000 cpu >said
folded exact.pbz >exact.folded
cpu_ms=$(awk '$1 == "cpu_ms" { print $2 }' said)
check "-F 499: as many samples as CPU time, $cpu_ms ms" \
	at_least "$(stacks total exact.folded brief)" $((cpu_ms * 499 * 9 / 10000))
check "-F 499: and not more" at_most "$(stacks total exact.folded brief)" $((cpu_ms * 499 * 11 / 10000 + 2))

sample -F 99 -o killed.pbz -- sh -c 'kill -SEGV $$'
check "-- CMD killed: tells the signal" grep -qi 'signal 11' "$T/err"
sample -o none.pbz -- ./no-such-command
check "-- no such command: fails" not equal "$RC" 0
check "-- no such command: one line" one_line "$T/err"

# Only the command: nothing of this shell or of another process.
start chain30
sample -F 499 -o only.pbz -- "$WORKLOADS/brief" 500 cpu
folded only.pbz >only.folded
check "-- CMD samples nothing else" not stacks frame only.folded f30
check "-- CMD: from its start" stacks share only.folded "main;brief_outer;brief_leaf" --percent 80
finish "$PID"

# A process that execs 100 times a second. How soon each program is known depends on how busy the CPUs are.
start red
sample_cpu exec.pbz "$PID" 1500 -F 999
folded exec.pbz >exec.folded
check "red is never blue" stacks never exec.folded red_leaf blue_leaf
check "comm red" stacks only exec.folded red red_outer 60
check "comm blue" stacks only exec.folded blue blue_outer 60
check "red leaf to main" stacks share exec.folded "main;red_outer;red_leaf" --percent 60
check "blue leaf to main" stacks share exec.folded "main;blue_outer;blue_leaf" --percent 60
check "colour and comm agree" awk -F'[; ]' '
	{ total += $NF } ($1 == "red" && /blue_leaf/) || ($1 == "blue" && /red_leaf/) { bad += $NF }
	END { print bad + 0 " of " total; exit !(total > 100 && bad <= 0.01 * total) }' exec.folded
finish "$PID"
done_testing
