#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/session src/capture/processes
# needs: quiet
# BPF programs that are loaded and unloaded while a recording runs, one after the other and often at one address: each has its
# own name, and none that of another program.
. "$(dirname "$0")/lib.sh"
[ -x "$WORKLOADS/bpf_programs" ] || no_workload bpf_programs

names=(first_one second_one third_one)
# samples FILE: how many samples are in each program.
samples() {
	"$PROBEE" report "$1" -q --collapse | grep -oE 'bpf_test_run_\[k\];bpf_prog_[0-9a-f]{16}_[a-z0-9_]*_\[k\] [0-9]+$' |
		sed -E 's/.*bpf_prog_[0-9a-f]*_(.*)_\[k\] /\1 /' | awk '{ n[$1] += $2 } END { for (i in n) print i, n[i] }' | sort
}
run_limited sample -q -F 499 -o run.pbz -- "$WORKLOADS/bpf_programs" 400 "${names[@]}" <<<go >/dev/null
[ "$RC" != 77 ] || skip "BPF programs may not be loaded here"
samples run.pbz >run.samples
check "each program has samples of its own, and no other has any" equal "$(awk '$2 >= 10 { print $1 }' run.samples | tr '\n' ' ')/$(wc -l <run.samples)" \
	"first_one second_one third_one /3"
check "no frame of a program is without a name" not grep -q '\[bpf+' <("$PROBEE" report run.pbz -q --collapse)
check "the trace is sound" python3 "$ROOT/tests/spec/decode.py" --check run.pbz

# What is loaded when the recording begins is unloaded in it.
exec {go}> >(exec "$WORKLOADS/bpf_programs" 1000000 before >ready.txt)
STARTED+=($!)
until_true 5 grep -q ready ready.txt
read -r _ PID <ready.txt
echo go >&"$go"
until_true 5 grep -q _before /proc/kallsyms
sample -q -p "$PID" -F 499 -d 0.5 -o before.pbz
samples before.pbz >before.samples
check "a program that was there before" equal "$(cut -d ' ' -f 1 before.samples)" before
done_testing
