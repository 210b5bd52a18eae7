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
. "$LIVE/../tap.sh"
PROBEE=${PROBEE:-$ROOT/.out/probee}
TIME_LIMIT=${TIME_LIMIT:-40}
T=
PID= READY= RC=0
STARTED=()

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

# Can this machine do it at all? Asked once per test, with the smallest program there is.
need_bpf() {
	"$PROBEE" snapshot -t $$ -i 1 -o "$T/need.pbz" 2>"$T/err"
	RC=$?
	[ "$RC" -ne 77 ] || skip "$(head -1 "$T/err")"
	[ "$RC" -ne 127 ] || skip "binary does not run"
}
need_bpf
