#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/processes src/capture/session
# Processes come and go all the time: recordings still end on time, and their figures add up.
. "$(dirname "$0")/lib.sh"

start chain30
target=$PID
churn() { while :; do "$WORKLOADS/brief" 2; /bin/true; done; }
for _ in 1 2; do
	churn &
	STARTED+=($!)
	disown
done

sample -a -F 199 -d 5 -o sample.pbz
check "sample -a: exit status" equal "$RC" 0
folded sample.pbz >sample.folded
check "sample -a: the steady one is whole" stacks share sample.folded "main;f1;f2;f3" --of f30 
check "sample -a: of brief ones as well" stacks share sample.folded "main;brief_outer;brief_leaf" \
	--comm brief --percent 30
# Its children may be sampled in kernel mode without a user stack yet; they still must have a comm.
check "sample -a: every line has a comm" not grep -qE '^(;| )' sample.folded

snapshot -a -F 50 -i 150 -o snapshot.pbz
check "snapshot -a: exit status" equal "$RC" 0
csv snapshot.pbz >snapshot.csv
check "snapshot -a: the steady one in each walk" equal "$(stacks rows snapshot.csv "$target")" 150
check "snapshot -a: and whole" stacks rooted snapshot.csv "$target"
done_testing
