# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Assertions and reports for tests that print TAP, sourced by tests/live/lib.sh and tests/vm/lib.sh. These must set
# T, a temporary directory, and PROBEE, the program that makes the reports.
#
#	check WHAT COMMAND...	one assertion
#	skip WHY		the whole test; skip_part WHY: one check
#	done_testing		the last line
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
FAILED=0 CHECKS=0

skip() {
	echo "$*"
	exit 77
}

# folded TRACE [OPTION...] and csv TRACE [OPTION...]: print the report, which must succeed. They show calls, and so no inlined
# functions.
folded() {
	"$PROBEE" report "$@" --no-inline --collapse 2>>"$T/err" || echo "report $1 --collapse: exit $?" >>"$T/report-failed"
}
csv() {
	"$PROBEE" report "$@" --no-inline --csv 2>>"$T/err" || echo "report $1 --csv: exit $?" >>"$T/report-failed"
}

stacks() { python3 -S "$ROOT/tests/live/stacks.py" "$@"; }

# --- assertions

# check WHAT COMMAND...: what COMMAND prints is the figure of a pass and the reason of a failure.
check() {
	local what=$1 out
	shift
	CHECKS=$((CHECKS + 1))
	if out=$("$@" 2>&1); then
		echo "ok $CHECKS - $what${out:+ (${out//$'\n'/ })}"
		return
	fi
	FAILED=$((FAILED + 1))
	echo "not ok $CHECKS - $what${out:+: ${out//$'\n'/ }}"
	if [ -s "$T/err" ]; then
		sed "s/^/#   stderr: /" "$T/err" | head -5
	fi
}

# skip_part WHY: some checks cannot be made on this machine.
skip_part() {
	CHECKS=$((CHECKS + 1))
	echo "ok $CHECKS - # SKIP $*"
}

# not_yet WHY WHAT COMMAND...: a check of something that is promised but not built. Until it passes it counts as skipped,
# with its figure; when it passes, it should become a check.
not_yet() {
	local why=$1 what=$2 out
	shift 2
	if out=$("$@" 2>&1); then
		check "$what" echo "$out"
	else
		skip_part "not yet: $why: $what: ${out//$'\n'/ }"
	fi
}

not() { ! "$@"; }
equal() { [ "$1" = "$2" ] || { echo "got $1, want $2"; return 1; }; }
at_least() { [ "$1" -ge "$2" ] && echo "$1" || { echo "got $1, want at least $2"; return 1; }; }
at_most() { [ "$1" -le "$2" ] && echo "$1" || { echo "got $1, want at most $2"; return 1; }; }
one_line() { [ "$(wc -l <"$1")" -eq 1 ] || { echo "$(wc -l <"$1") lines"; return 1; }; }
# names_frame FILE NAME: the folded file has a frame of exactly this name.
names_frame() { stacks frame "$1" "$2"; }
alive() { kill -0 "$1"; }

# The last line of every test.
done_testing() {
	check "every report could be made" sh -c "! cat '$T/report-failed' 2>/dev/null"
	echo "1..$CHECKS"
	[ "$FAILED" -eq 0 ]
	exit $?
}
