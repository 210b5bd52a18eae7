#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/report_follow.c formats/trace
# report --follow beside a recorder: a report each second, a complete one in the end, and it ends too if the recorder is killed.
# beside: live
# timeout: 120
. "$(dirname "$0")/lib.sh"

background sh -c "while :; do :; done"	# so that the trace grows on an idle machine, too
start threads 200 sleep
crowd=$PID
reports() { grep -c '^samples' "$1"; }
shows() { [ "$(reports followed)" -ge "$1" ]; }
follow() {
	: >followed	# before shows() looks at it
	timeout 60 "$PROBEE" report --follow "$@" >followed 2>followed.err &
	follower=$!
}

# The last report equals that of the finished trace, byte for byte.
same_end() {
	"$PROBEE" report "$2" >want 2>/dev/null
	check "$1: the last report is that of the trace" cmp want <(tail -n "$(wc -l <want)" followed)
}

follow all.pbz
sample -a -d 6 -o all.pbz
wait $follower
check "sample: exit status" equal $? 0
check "sample: reports" at_least "$(reports followed)" 3
check "sample: they grow" bash -c "sed -n 's/^samples .* in \([0-9,]*\) samples.*/\1/p' followed | tr -d , | sort -cn"
same_end sample all.pbz

follow crowd.pbz
snapshot -p "$crowd" -F 5 -i 25 -o crowd.pbz
wait $follower
check "snapshot: exit status" equal $? 0
check "snapshot: reports" at_least "$(reports followed)" 3
same_end snapshot crowd.pbz

# Times before the end mean the last sample so far.
follow last.pbz --from -2s
sample -a -d 6 -o last.pbz
wait $follower
check "--from -2s: filters each report" at_least "$(grep -c 'the filters left' followed)" 2

printf '#!/bin/sh\nexec timeout 15 sh -c "while :; do :; done"\n' >busy
chmod +x busy
for how in "sample -a" "snapshot -a -F 2" "sample -- ./busy"; do
	rm -f killed.pbz
	follow killed.pbz
	# shellcheck disable=SC2086
	"$PROBEE" ${how/ / -q -o killed.pbz } 2>/dev/null &
	recorder=$!
	STARTED+=($recorder)
	check "$how: is shown" until_true 20 shows 2
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	check "$how: killed: the follower ends" until_true 20 bash -c "! kill -0 $follower 2>/dev/null"
	wait $follower
	check "$how: killed: exit status" equal $? 0
	check "$how: killed: says so" grep -q 'no recorder has it open' followed.err
done
done_testing
