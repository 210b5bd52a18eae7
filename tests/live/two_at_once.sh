#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording src/capture/bpf
# Several recordings at the same time do not disturb each other: each is complete.
# needs: quiet
. "$(dirname "$0")/lib.sh"

start chain30
one=$PID
start shop
two=$PID
jobs=()
for i in 1 2; do
	"$PROBEE" sample -p "$one" -F 499 -d 3 -o "one$i.pbz" 2>"one$i.err" &
	jobs+=($!)
done
"$PROBEE" sample -p "$two" -F 499 -d 3 -o two.pbz 2>two.err &
jobs+=($!)
"$PROBEE" snapshot -p "$one,$two" -F 20 -i 40 -o walks.pbz 2>walks.err &
jobs+=($!)
for job in "${jobs[@]}"; do
	wait "$job"
	check "exit status" equal $? 0
done
for f in one1 one2 two walks; do
	folded $f.pbz >$f.folded
done
for f in one1 one2; do
	check "$f: samples" at_least "$(stacks total $f.folded)" 50
	check "$f: chain" stacks share $f.folded "main;f1;f2;f3" --of f30
	check "$f: only its process" not stacks frame $f.folded "~open_day"
done
check "two: samples" at_least "$(stacks total two.folded)" 50
check "two: only its process" not stacks frame two.folded f30
for f in one1 one2; do csv $f.pbz --columns timestamp >$f.csv; done
check "both count the same" stacks beside one1.csv one2.csv
csv walks.pbz >walks.csv
check "walks: rows" equal "$(stacks rows walks.csv)" 80
done_testing
