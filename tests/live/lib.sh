# shellcheck shell=bash
#
# What every live test sources first. A test is a bash script that needs root and BPF, takes less than a
# minute and prints TAP, one line for each check, or exits 77 with the reason why it cannot run. It gets a
# temporary directory in $T (and as working directory), and whatever it started is killed when it ends.
#
#	start NAME ARG...	a workload; waits for its "ready PID" line; sets PID, and READY to the rest of it
#	sample|snapshot ARG...	probee with a time limit; sets RC; its stderr is in $T/err
#	check WHAT COMMAND...	one assertion
#
# PROBEE is the binary under test (default .out/probee); workloads are built in OUT (default .out).
set -u

LIVE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$LIVE/../.." && pwd)
PROBEE=${PROBEE:-$ROOT/.out/probee}
TIME_LIMIT=${TIME_LIMIT:-40}
T=
PID= READY= RC=0
STARTED=()
FAILED=0 CHECKS=0

skip() {
	echo "$*"
	exit 77
}

cleanup() {
	local p
	for p in "${STARTED[@]}"; do
		kill -CONT "$p" 2>/dev/null
		kill -KILL "$p" 2>/dev/null
	done
	[ -z "$T" ] || { cd / && umount "$T"/mnt 2>/dev/null; rm -rf "$T"; }
}

[ "$(id -u)" = 0 ] || skip "needs root"
[ -e /sys/kernel/btf/vmlinux ] || skip "kernel has no BTF"
[ -x "$PROBEE" ] || skip "no binary at $PROBEE"
PROBEE=$(readlink -f "$PROBEE")
WORKLOADS=$("$ROOT/tests/workloads/build.sh" "${WORKLOADS:-${OUT:-$ROOT/.out}/workloads}") || exit 1
T=$(mktemp -d "${TMPDIR:-/tmp}/probee-live.XXXXXX") || exit 1
chmod 755 "$T"		# some tests read it as another user
cd "$T" || exit 1
trap cleanup EXIT
trap 'exit 130' INT TERM

# --- processes

# start NAME ARG...: NAME is a workload or a path.
start() {
	local fd prog=$1 word
	shift
	[ -x "$prog" ] || prog=$WORKLOADS/$prog
	[ -x "$prog" ] || skip "workload ${prog##*/} is not built (compiler missing?)"
	exec {fd}< <(exec "$prog" "$@")
	STARTED+=($!)
	if ! read -r -t 30 -u "$fd" word PID READY || [ "$word" != ready ]; then
		check "workload ${prog##*/} gets ready" false
		exit 1
	fi
	[ "$PID" = "${STARTED[-1]}" ] || STARTED+=("$PID")
}

# background COMMAND...: sets PID; killed at the end.
background() {
	"$@" &
	PID=$!
	STARTED+=("$PID")
}

# finish PID [SIGNAL]: ends a workload now.
finish() {
	kill -"${2:-KILL}" "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# until_true SECONDS COMMAND...: waits for the command to succeed, asking twenty times a second.
until_true() {
	local tries=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ $((tries--)) -gt 0 ] || return 1
		sleep 0.05
	done
}

run_limited() {
	timeout -k 5 "$TIME_LIMIT" "$PROBEE" "$@" 2>"$T/err"
	RC=$?
}

sample() { run_limited sample "$@"; }
snapshot() { run_limited snapshot "$@"; }

# folded TRACE [OPTION...] and csv TRACE [OPTION...]: prints the report; it must succeed.
folded() {
	"$PROBEE" report "$@" --collapse 2>>"$T/err" || echo "report $1 --collapse: exit $?" >>"$T/report-failed"
}
csv() {
	"$PROBEE" report "$@" --csv 2>>"$T/err" || echo "report $1 --csv: exit $?" >>"$T/report-failed"
}

stacks() { python3 -S "$LIVE/stacks.py" "$@"; }

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

# skip_part WHY: some checks cannot be made here, the others can.
skip_part() {
	CHECKS=$((CHECKS + 1))
	echo "ok $CHECKS - # SKIP $*"
}

# not_yet WHY WHAT COMMAND...: a check of something that is promised and not built. When it passes, make it a
# check; until then it counts as skipped, with its figure.
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

# Last line of every test.
done_testing() {
	check "every report could be made" sh -c "! cat '$T/report-failed' 2>/dev/null"
	echo "1..$CHECKS"
	[ "$FAILED" -eq 0 ]
	exit $?
}

# Can this machine do it at all? Asked once per test, with the smallest program there is.
need_bpf() {
	"$PROBEE" snapshot -t $$ -i 1 -o "$T/need.pbz" 2>"$T/err"
	RC=$?
	[ "$RC" -ne 77 ] || skip "$(head -1 "$T/err")"
	[ "$RC" -ne 127 ] || skip "binary does not run"
}
need_bpf
