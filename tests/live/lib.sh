# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Every live test sources this file first. A test is a bash script that needs root and BPF, takes less than a
# minute and prints TAP, one line for each check, or exits 77 with the reason why it cannot run. It gets a
# temporary directory in $T (and as working directory), and all that it started is killed when it ends.
#
#	start NAME ARG...	a workload; waits for its "ready PID" line; sets PID, READY to the rest of it, and SAYS to the
#				descriptor of what it prints besides
#	sample|snapshot ARG...	probee with a time limit; sets RC; its stderr is in $T/err
#	sample_cpu TRACE PID MS ARG...	probee sample until the process has had so much CPU time
#	check WHAT COMMAND...	one assertion
#
# Nothing is ended by its name: other tests run at the same time, with the same workloads.
#
# PROBEE is the binary under test (default .out/probee); workloads are built in OUT (default .out).
set -u

LIVE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$LIVE/../tap.sh"
PROBEE=${PROBEE:-$ROOT/.out/probee}
TIME_LIMIT=${TIME_LIMIT:-40}
T=
PID= READY= RC=0 WARM= RECORDER= SAYS=
STARTED=()

cleanup() {
	local p
	for p in "${STARTED[@]}"; do
		kill -CONT -- "$p" 2>/dev/null
		kill -KILL -- "$p" 2>/dev/null
	done
	[ -z "$T" ] || { cd / && umount "$T"/mnt 2>/dev/null; rm -rf "$T"; }
}

[ "$(id -u)" = 0 ] || skip "needs root"
# A test that mounts something says OWN_MOUNTS=1 before it sources this file. It then runs in a mount namespace of its own:
# its mounts are visible only there and end with it.
if [ "${OWN_MOUNTS:-}" ] && [ -z "${IN_OWN_MOUNTS:-}" ]; then
	# In a chroot whose root is no mount point nothing can be made private; a caller like that has its own namespace.
	propagation=private
	unshare -m --propagation private true 2>/dev/null || propagation=unchanged
	IN_OWN_MOUNTS=1 exec unshare -m --propagation $propagation "$0" "$@"
	exit 1
fi
[ -e /sys/kernel/btf/vmlinux ] || skip "kernel has no BTF"
[ -x "$PROBEE" ] || { echo "no binary at $PROBEE"; exit 1; }
PROBEE=$(readlink -f "$PROBEE")
WORKLOADS=$("$ROOT/tests/workloads/build.sh" "${WORKLOADS:-${OUT:-$ROOT/.out}/workloads}") || exit 1
T=$(mktemp -d "${TMPDIR:-/tmp}/probee-live.XXXXXX") || exit 1
chmod 755 "$T"		# some tests read it as another user
cd "$T" || exit 1
trap cleanup EXIT
trap 'exit 130' INT TERM

# --- processes

# no_workload NAME: the workload is missing. Some need a rare compiler (build.sh); for others it is a mistake in the test.
no_workload() {
	case $(uname -m):$1 in
	*:goblin | *:herd* | *:*_rs | *:*_musl* | *:compat32 | *:shapes_retpoline | *:usdt*) skip "workload $1 is not built: no compiler for it" ;;
	x86_64:*) check "workload $1 is built" false && exit 1 ;;
	*) skip "workload $1 is not built on $(uname -m)" ;;
	esac
	exit 1
}

# start NAME ARG...: NAME is a workload or a path.
start() {
	local fd prog=$1 word
	shift
	[ -x "$prog" ] || prog=$WORKLOADS/$prog
	[ -x "$prog" ] || no_workload "${prog##*/}"
	exec {fd}< <(exec "$prog" "$@")
	SAYS=$fd
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

# background_group COMMAND...: the same as a process group, so that all it starts can be ended: PID is -PGID.
background_group() {
	set -m
	"$@" &
	PID=-$!
	disown
	set +m
	STARTED+=("$PID")
}

# finish PID [SIGNAL]: ends a workload, or a group, now.
finish() {
	kill -"${2:-KILL}" -- "$1" 2>/dev/null
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

# build_small: ./small is probee with room for 120,000 unwind rows: libc and ten of the libraries many_lib_*.
build_small() {
	local built
	built=$(dirname "$PROBEE")
	gcc -std=gnu11 -O2 -D_GNU_SOURCE -I"$ROOT" -DUNWIND_MAX_ROWS=120000 -c "$ROOT/src/capture/tables/unwind_slabs.c" -o slabs.o &&
		gcc -o small $(printf "$built/%s " $(sed -n '/MAIN_SRCS := \\$/,/^$/s/^\t\(src.*\)\.c.*/\1.o/p' "$ROOT/sources.mk")) \
			slabs.o "$built/libprobee.a" $(sed -n 's/^LDLIBS := //p; s/^WRAP := //p' "$ROOT/Makefile")
}

run_limited() {
	timeout --foreground -k 5 "$TIME_LIMIT" "$PROBEE" "$@" 2>"$T/err"	# ends with the test's process group
	RC=$?
}

sample() { run_limited sample "$@"; }
snapshot() { run_limited snapshot "$@"; }

# cpu_ms PID: the CPU time of all its threads, in steps of 10 ms. had_cpu PID MS: it has had so much, or is gone.
cpu_ms() {
	local line
	read -r line 2>/dev/null <"/proc/$1/stat" || return
	set -- ${line##*) }
	echo $(((${12} + ${13}) * 10))
}
had_cpu() {
	local ms
	ms=$(cpu_ms "$1") || return 0
	[ "$ms" -ge "$2" ]
}

# begin_sample TRACE ARG...: probee sample in the background, which records now: the file is there once it does. Sets RECORDER.
# end_sample: ends it, as Ctrl-C does; sets RC.
begin_sample() {
	rm -f "$1"
	"$PROBEE" sample -d "$TIME_LIMIT" -o "$@" 2>"$T/err" &
	RECORDER=$!
	STARTED+=("$RECORDER")
	until_true 20 test -s "$1"
}
end_sample() {
	kill -INT "$RECORDER"
	wait "$RECORDER"
	RC=$?
}

# sample_cpu TRACE PID MS ARG...: samples a process until it has had so much CPU time: beside others that takes longer, and a time on the
# clock says little about how many samples there are. With WARM_MS=1000 it has had that before; WARM, for --from, is behind that time, in
# which tables are made.
sample_cpu() {
	local before began now warm=${WARM_MS:-0}
	begin_sample "$1" -p "$2" "${@:4}"
	before=$(cpu_ms "$2") began=$(date +%s%N)
	until_true "$TIME_LIMIT" had_cpu "$2" $((before + warm))
	now=$(date +%s%N)
	WARM=$(((now - began) / 1000000))ms
	until_true "$TIME_LIMIT" had_cpu "$2" $((before + warm + $3))
	end_sample
}

# Can this machine record at all? Each test tries the smallest recording once. If probee says no, the test is skipped,
# unless machine_can.sh, which asks the kernel without probee, says the contrary.
need_bpf() {
	"$PROBEE" snapshot -t $$ -i 1 -o "$T/need.pbz" 2>"$T/err"
	RC=$?
	if [ "$RC" = 77 ] && ! "$ROOT/tests/machine_can.sh"; then
		skip "$(head -1 "$T/err")"
	fi
	[ "$RC" = 0 ] && return
	check "the smallest recording" equal "$RC" 0
	exit 1
}
need_bpf
