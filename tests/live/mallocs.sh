#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base src/recording src/capture formats src/commands
# light: yes
# beside: live
# One request for memory fails, each time another one. The command then fails with a line that says so, or its result is
# complete, or a line says that something may be missing. It never crashes or hangs, and a trace can be read.
# EVERY=1 tries each request (minutes); otherwise a few of them.
# timeout: 3600
. "$(dirname "$0")/lib.sh"

shim=$T/failing_malloc.so
${CC:-gcc} -O2 -Wall -Wextra -Werror -shared -fPIC -o "$shim" "$ROOT/tests/workloads/failing_malloc.c" || exit 1
if nm -D "$PROBEE" 2>/dev/null | grep -q __asan; then skip "sanitizers have their own malloc"; fi

# with N COMMAND...: request N fails; sets RC; leaves out and err.
with() {
	FAIL_AT=$1 LD_PRELOAD=$shim timeout -k 5 60 "$PROBEE" "${@:2}" >out 2>err </dev/null
	RC=$?
}
# requests COMMAND...: how many there are if none fails.
requests() {
	rm -f count
	FAIL_COUNT=$T/count LD_PRELOAD=$shim "$PROBEE" "$@" >reference 2>reference.err </dev/null
	sort -n count | tail -n 1
}
said() { grep -q '^probee: ' err; }
wrong() { echo "request $1: exit $RC, $2: $(head -c 200 err)"; }

# A recording's summary ends with the file's name; any other line is about what is missing.
judge_recording() {
	local bad
	[ ! -s x.pbz ] || "$PROBEE" info x.pbz >info 2>&1 || wrong "$1" "the trace cannot be read: $(cat info)"
	[ "$RC" = 0 ] || return
	"$PROBEE" report -q x.pbz --csv >rows 2>/dev/null
	bad=$(grep -vEm 1 'f1\+.*main\+.*_start\+' rows)
	[ -z "$bad" ] || grep -qv ' in x.pbz$' err || wrong "$1" "stacks are not whole, and nothing is said: $bad"
}
judge_report() {
	[ "$RC" != 0 ] || cmp -s out reference || ! cmp -s err reference.err || wrong "$1" "other output, and nothing is said"
}

# try JUDGE NUMBERS COMMAND...: NUMBERS is how many requests to try, spread evenly. The word TARGET is the workload's number,
# which is started again when it has ended (ready.h).
try() {
	local judge=$1 tries=$2 n nr step bad=
	shift 2
	nr=$(requests "${@/#TARGET/$PID}")
	check "$1 ${*: -1}: it requests memory" at_least "${nr:-0}" 10
	step=$(("${EVERY:-0}" ? 1 : nr / tries > 0 ? nr / tries : 1))
	for ((n = 1; n <= nr; n += step)); do
		rm -f x.pbz
		alive "$PID" 2>/dev/null || start chain30 spin
		with $n "${@/#TARGET/$PID}"
		[ "$RC" -le 77 ] || bad+=$(wrong $n "a crash or a hang")$'\n'
		[ "$RC" = 0 ] || said || bad+=$(wrong $n "and nothing is said")$'\n'
		bad+=$($judge $n)
	done
	check "$1 ${*: -1}: one of $nr requests fails, $((1 + (nr - 1) / step)) tried" equal "$bad" ""
}

start chain30 spin
snapshot -p "$PID" -i 2 -F 20 -o t.pbz
for args in "report t.pbz" "report t.pbz --svg" "report t.pbz --csv" "report t.pbz --waits" "info t.pbz" \
	"unwind-info $WORKLOADS/chain30" "unwind-info nosuchthing"; do
	try judge_report 20 $args
done
try judge_recording 7 sample -p TARGET -F 199 -d 0.3 -o x.pbz
try judge_recording 7 snapshot -p TARGET -i 1 -o x.pbz

# All requests from one on fail.
for n in 1 50 500 1000; do
	FAIL_FROM=$n LD_PRELOAD=$shim timeout -k 5 60 "$PROBEE" snapshot -p "$PID" -i 1 -o x.pbz >out 2>err
	RC=$?
	check "all from request $n on: fails with a line" bash -c "[ $RC != 0 ] && [ $RC -le 77 ] && grep -q '^probee: ' err"
done
done_testing
