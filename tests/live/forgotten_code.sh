#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/session src/capture/processes
# What was read of functions of an interpreter goes with its process: else a recording of days comes to its limits by programs that have
# ended. The recorder keeps what ended for some seconds, so a recording that goes on for a while afterwards has forgotten it.
. "$(dirname "$0")/lib.sh"
have_python=$(command -v python3) || skip "no python3"

cat >short.py <<'PY'
import json, time
def one(n): return json.loads(json.dumps([n] * 50))
def two(n): return sum(len(one(i)) for i in range(n))
end = time.process_time() + 0.1
while time.process_time() < end: two(20)
PY

# recorded NAME SECONDS: five processes that end, and then SECONDS of nothing.
recorded() {
	timeout 100 "$PROBEE" sample -q -F 499 -o "$1.pbz" -- bash -c 'for _ in 1 2 3 4 5; do "$0" short.py; done; exec sleep "$1"' "$have_python" "$2" 2>"$T/err"
	RC=$?
	code=$("$PROBEE" info "$1.pbz" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["meta"]["runtimes.code"])')
	named=$(sed -E 's/.*named=([0-9]*).*/\1/' <<<"$code") kept=$(sed -E 's/.*kept=([0-9]*).*/\1/' <<<"$code")
}

recorded soon 0
check "exit status" equal $RC 0
check "functions were named ($code)" [ "$named" -ge 10 ]
check "at once after their end they are kept" [ "$kept" -ge 5 ]
# ENDED_KEPT_NS is 5 s; a machine that is busy may take longer to look.
for wait in 8 20 40; do
	recorded later $wait
	[ "$kept" != 0 ] || break
done
check "some time later functions were named, too ($code)" [ "$named" -ge 10 ]
check "and none is kept" equal "$kept" 0
"$PROBEE" report later.pbz --collapse -q >later.folded
check "their frames have names" grep -q ';two;' later.folded
done_testing
