# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What one tick costs in the kernel: BPF time for each sample of two processes, one on each CPU, 30 or 100 deep. "cold":
# they go through more memory than the second-level cache holds, so a tick finds neither the stack nor its own data in
# there; "warm": they spin. All tools run at once, so that they meet the same noise, at rates that differ by 2 Hz, so that
# none of them follows another for long. Both processes keep frame pointers, which is all that the peers can follow.
#
# Ticks of other processes, which each tool passes over, count as parts of its samples; so a line for each tool says how many
# of its runs were samples.
#
# BEFORE="NAME=PATH ..." are other builds of probee to compare with. A round is a window of TICK_S seconds. bcc wants kernel
# headers: those of any kernel near, as /lib/modules/$(uname -r)/build.

TICK_S=${TICK_S:-4}
TICK_TOOLS=${TICK_TOOLS:-bcc bpftrace}
BCC_PROFILE=$(command -v profile-bpfcc)

# tick_command TOOL HZ FILE: prints the words, one a line.
tick_command() {
	case $1 in
	bcc) printf '%s\n' env --default-signal=INT /usr/bin/python3 "$BCC_PROFILE" -F "$2" -f -p "$one,$two" ;;
	bpftrace) printf '%s\n' bpftrace -e "profile:hz:$2 /pid == $one || pid == $two/ { @[ustack, kstack] = count(); }" ;;
	probee) printf '%s\n' "$PROBEE" sample -q -F "$2" -p "$one,$two" -o "$3" ;;
	*=*) printf '%s\n' "${1#*=}" sample -q -F "$2" -p "$one,$two" -o "$3" ;;
	esac
}

# tick_samples TOOL FILE
tick_samples() {
	case $1 in
	bcc) awk 'NF { n += $NF } END { printf "%.0f\n", n }' "$2.out" ;;
	bpftrace) awk '/\]: [0-9]+$/ { n += $NF } END { printf "%.0f\n", n }' "$2.out" ;;
	*) "$PROBEE" report "$2" --csv -q | wc -l ;;
	esac
}

can_tick() {
	case $1 in
	bcc) [ -n "$BCC_PROFILE" ] && [ -d "/lib/modules/$(uname -r)/build" ] ;;
	bpftrace) have bpftrace ;;
	esac
}

# wait_for_ticks PID: until its program has run, and some compile theirs first.
wait_for_ticks() {
	local tries=200
	until [ "$(figure bpf "$1" 2>/dev/null | awk '{ print $2 + 0 }')" -gt 10 ] 2>/dev/null || [ $((tries--)) = 0 ]; do
		sleep 0.1
	done
}

# tick HZ NAME PROGRAM ARG...: what the two processes run.
tick() {
	local tool words tools=() pids=() files=() lives=() runs=() hz=$1 name=$2 one two i round
	shift 2
	start "$@"
	one=$PID
	taskset -p -c 0 "$one" >/dev/null
	start "$@"
	two=$PID
	taskset -p -c 1 "$two" >/dev/null
	for tool in $TICK_TOOLS probee ${BEFORE:-}; do
		can_tick "$tool" || case $tool in probee | *=*) ;; *) continue ;; esac
		i=${#tools[@]}
		mapfile -t words < <(tick_command "$tool" "$hz" "$T/tick.$i")
		launched "life.$i" "${words[@]}"
		mv launched.out "tick.$i.out"
		tools+=("$tool") pids+=("$TOOL_PID") lives+=("$LAUNCH") files+=("$T/tick.$i")
		hz=$((hz + 2))
	done
	for i in "${!tools[@]}"; do wait_for_ticks "${pids[i]}"; done
	sleep 1
	for round in $(seq 0 "$ROUNDS"); do
		for i in "${!tools[@]}"; do runs[i]+="$(figure bpf "${pids[i]}") "; done
		[ "$round" = "$ROUNDS" ] || sleep "$TICK_S"
	done
	for i in "${!tools[@]}"; do kill -INT "${pids[i]}"; done
	for i in "${!tools[@]}"; do wait "${lives[i]}"; done
	finish "$one"
	finish "$two"
	for i in "${!tools[@]}"; do
		tick_figures "$name" "${tools[i]%=*}" "$(tick_samples "${tools[i]}" "${files[i]}")" "${runs[i]}"
	done
	rm -f tick.*
}

# tick_figures NAME TOOL SAMPLES READINGS: readings are {nanoseconds, runs, instructions} so far, for the end of each window.
# All of a tool's runs are counted, so the share that were samples is that of its whole life.
tick_figures() {
	local us
	[ "$3" -gt 100 ] || { say "$2: $3 samples"; return; }
	say "$1: $2: $(awk -v n="$3" '{ printf "%.0f %% of its runs were samples", 100 * n / $(NF - 1) }' <<<"$4")"
	for us in $(awk -v samples="$3" '{
		for (i = 4; i <= NF; i += 3)
			print ($i - $(i - 3)) / 1e3 / (($(i + 1) - $(i - 2)) * samples / $(NF - 1)) }' <<<"$4"); do
		record "$1: BPF us per sample" "$2" "$us"
	done
}

echo 1 >/proc/sys/kernel/bpf_stats_enabled
tick 95 "99 Hz, cold, 30 frames" chain30_fp stream
tick 95 "99 Hz, cold, 100 frames" deep_fp 100 stream
tick 995 "999 Hz, warm, 30 frames" chain30_fp spin
tick 995 "999 Hz, warm, 100 frames" deep_fp 100 spin
echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
