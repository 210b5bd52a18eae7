#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture
# A rate that a machine may not be able to take: every tick is accounted for, and what was passed over is said.
. "$(dirname "$0")/lib.sh"

start chain30
sample -v -p "$PID" -F 50000 -d 2 -o fast.pbz
check "50 kHz: exit status" equal "$RC" 0
sed -nE 's/.*[: ]([0-9]+) ticks: ([0-9]+) idle, ([0-9]+) of others, ([0-9]+) outside, ([0-9]+) submitted, ([0-9]+) refused, ([0-9]+) passed over.*/\1 \2 \3 \4 \5 \6 \7/p' \
	"$T/err" >ticks
read -r fired idle others outside submitted refused passed <ticks
check "50 kHz: samples" at_least "${submitted:-0}" 200
check "50 kHz: each tick is counted once" equal "$fired" $((idle + others + outside + submitted + refused + passed))
csv fast.pbz -q >fast.csv
"$PROBEE" info --json --no-limits fast.pbz >info.json
cause() { python3 -S -c 'import json, sys; print(json.load(open("info.json"))["lost"]["by_cause"].get(sys.argv[1], 0))' "$1"; }
check "50 kHz: what was submitted was stored" equal "$(wc -l <fast.csv)" "$submitted"
check "50 kHz: what was passed over is lost" equal "$(cause rate-limit)" "$passed"
check "50 kHz: what was refused is lost" equal "$(cause ring-full)" "$refused"

# The rate begins at half of that, so some ticks are always passed over.
check "50 kHz: said when it ends" equal "$(grep -c 'samples were taken at .* instead of 50000 Hz at times' "$T/err")" 1
check "50 kHz: in the trace" grep -qE '"rate.lowered": *"lowest=[0-9.e+]+ asked=50000 passed='"$passed"' cause=[a-z]+"' info.json
"$PROBEE" report fast.pbz --collapse >folded 2>report.err
check "50 kHz: under a report" grep -q 'the rate was lowered, to .* of 50000 Hz at times.*weigh as much more' report.err

# A sample stands for the ticks that were passed over: the weights add up to the time, and so do folded stacks.
weights=$(awk '{ n += $NF } END { printf "%.0f\n", n }' folded)
wanted=$((submitted + passed))
echo "$fired ticks, $submitted taken, $passed passed over, which weigh as $weights"
check "50 kHz: samples weigh as the ticks" test $((weights * 100)) -ge $((wanted * 90)) -a $((weights * 100)) -le $((wanted * 110))

# At a usual rate nothing is passed over, and no word is lost on it.
sample -v -p "$PID" -F 999 -d 0.5 -o slow.pbz
check "999 Hz: nothing passed over" grep -q ' 0 passed over' "$T/err"
check "999 Hz: nothing said" equal "$(grep -c 'samples were taken at' "$T/err")" 0
done_testing
