# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How long commands take to begin and to end: attached to one process, with a command, one snapshot of 100 and of 12,000
# sleeping threads, and the whole machine with at least 60 processes that map at least 200 executable files.
#
# "recording" is when all is open, by the trace's own clock; "ends late" is what a command takes beyond the recording that it
# was asked for. BEFORE=binary puts another probee into the tables, e.g. that of an earlier commit.

BEFORE=${BEFORE:-}
SHORT_S=1

# probees FUNCTION ARGUMENTS...: calls it for each probee that there is, as FUNCTION NAME BINARY ARGUMENTS...
probees() {
	local fn=$1
	shift
	[ -z "$BEFORE" ] || "$fn" 'probee before' "$BEFORE" "$@"
	"$fn" probee "$PROBEE" "$@"
}

# info KEY: a number of what `probee info --json trace` says.
info() { "$PROBEE" info trace --json >info.json && figure json info.json "$1"; }

# begins_and_ends METRIC TOOL: of a probee that was to record for SHORT_S.
begins_and_ends() {
	local began_ns exec_ns
	began_ns=$(info begin_real_ns)
	exec_ns=$(of life real_ns)
	record "$1: exec to recording, ms" "$2" "$(calc "($began_ns - $exec_ns) / 1e6")"
	record "$1: ends late, ms" "$2" "$(calc "$(of life wall_ms) - ($began_ns - $exec_ns) / 1e6 - $SHORT_S * 1e3")"
}

# whole METRIC TOOL: what launch has measured.
whole() {
	record "$1: wall ms beyond its $SHORT_S s" "$2" "$(calc "$(of life wall_ms) - $SHORT_S * 1e3")"
	record "$1: CPU ms" "$2" "$(of life cpu_ms)"
}

# ---- one process

ONE='one process, 999 Hz'

probee_one() {
	rm -f trace
	launched life "$2" sample -q -p "$busy" -F 999 -d $SHORT_S -o trace
	wait $LAUNCH
	"$PROBEE" report trace --csv >trace.csv
	record "$ONE: exec to first sample, ms" "$1" "$(figure first-csv trace.csv "$(of life real_ns)")"
	begins_and_ends "$ONE" "$1"
	whole "$ONE" "$1"
}

perf_one() {
	local first
	rm -f trace
	launched life perf record -q -k CLOCK_MONOTONIC -g -F 999 -p "$busy" -o trace -- sleep $SHORT_S
	wait $LAUNCH
	first=$(perf script -i trace -F time -G 2>/dev/null | head -n 1 | tr -d ' :')
	record "$ONE: exec to first sample, ms" 'perf -g' "$(calc "($first * 1e9 - $(of life mono_ns)) / 1e6")"
	whole "$ONE" 'perf -g'
}

bpftrace_one() {
	launched life bpftrace -e "
		profile:hz:999 /pid == $busy/ { if (!@seen) { @seen = 1; printf(\"first_ns %llu\n\", nsecs); } @[kstack, ustack] = count(); }
		interval:s:$SHORT_S { exit(); }"
	wait $LAUNCH
	record "$ONE: exec to first sample, ms" bpftrace "$(calc "($(of launched.out first_ns) - $(of life mono_ns)) / 1e6")"
	whole "$ONE" bpftrace
}

bcc_one() {
	launched life profile-bpfcc -f -F 999 -p "$busy" $SHORT_S
	wait $LAUNCH
	whole "$ONE" 'bcc profile'
}

# ---- a command: launch inner says when it began

# command_began TOOL
command_began() {
	record "a command: exec of the tool to exec of the command, ms" "$1" \
		"$(calc "($(of inner mono_ns) - $(of life mono_ns)) / 1e6")"
	record "a command: all that the tool adds to it, ms" "$1" "$(calc "$(of life wall_ms) - $(of inner wall_ms)")"
}

probee_command() {
	rm -f trace inner
	launched life "$2" sample -q -o trace -- "$bin/launch" inner sleep 0.2
	wait $LAUNCH
	command_began "$1"
}

perf_command() {
	rm -f trace inner
	launched life perf record -q -g -o trace -- "$bin/launch" inner sleep 0.2
	wait $LAUNCH
	command_began 'perf -g'
}

# ---- one snapshot

# probee_once NAME BINARY THREADS ARGUMENTS...
probee_once() {
	local name=$1 binary=$2 what="one snapshot, $3"
	shift 3
	rm -f trace
	launched life "$binary" snapshot -q -i 1 "$@" -o trace
	wait $LAUNCH
	record "$what: whole command, ms" "$name" "$(of life wall_ms)"
	record "$what: its walk, ms" "$name" "$(calc "$(info snapshots.duration_ns) / 1e6")"
	record "$what: CPU ms" "$name" "$(of life cpu_ms)"
}

# The whole life of the ancestor's method, without names.
ancestor_once() {
	launched life "$bin/ancestor_walk" "$bin/ancestor_walk.bpf.o" 0 1
	wait $LAUNCH
	record "one snapshot, $1: whole command, ms" '2 x 8-byte reads' "$(of life wall_ms)"
	record "one snapshot, $1: its walk, ms" '2 x 8-byte reads' "$(calc "$(of launched.out walk_us) / 1e3")"
	record "one snapshot, $1: CPU ms" '2 x 8-byte reads' "$(of life cpu_ms)"
}

# snapshots THREADS
snapshots() {
	local what="-a with $1 more threads"
	start threads_fp "$1" sleep
	local target=$PID
	for round in $(seq "$ROUNDS"); do
		[ ! -x "$bin/ancestor_walk" ] || ancestor_once "$what"
		probees probee_once "$what" -a
		probees probee_once "-p of these $1" -p "$target"
	done
	finish "$target"
}

# ---- the whole machine

probee_ends() {
	local name=$1 binary=$2 mode
	for mode in sample record; do
		rm -f trace
		launched life "$binary" $mode -q -a -d $SHORT_S -o trace
		wait $LAUNCH
		begins_and_ends "$mode -a" "$name"
		record "$mode -a: CPU ms" "$name" "$(of life cpu_ms)"
	done
}

# many_processes: various processes. Each python maps ten of the system's libraries as code, so that the tables of many
# files must be built.
many_processes() {
	local i modules=(ssl sqlite3 ctypes curses decimal lzma bz2 readline xml.parsers.expat zlib asyncio json
		multiprocessing hashlib unicodedata socket select uuid mmap array)
	for i in $(seq 20); do
		python3 -c "
import ${modules[i - 1]}, glob, mmap, os, time
libs = sorted({os.path.realpath(p) for p in glob.glob('/usr/lib/*-linux-gnu/lib*.so.*')})
keep = []
for path in libs[$i * len(libs) // 21:][:10]:
    with open(path) as f:
        keep.append(mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
time.sleep(600)" & STARTED+=($!)
		bash -c 'while :; do read -t 600 -r _ <> <(:); done' & STARTED+=($!)
		perl -MPOSIX -MSocket -MStorable -e 'sleep 600' & STARTED+=($!)
		sleep 600 & STARTED+=($!)
	done
	for i in 1 2 3; do
		have redis-server && { redis-server --port 0 --unixsocket "$T/r$i" --save '' >/dev/null & STARTED+=($!); }
	done
	have node && { node -e 'setInterval(() => 0, 1000)' & STARTED+=($!); }
	have ruby && { ruby -rsocket -rjson -ropenssl -rpsych -e 'sleep 600' & STARTED+=($!); }
	have gdb && { gdb -q -batch -ex 'python import time; time.sleep(600)' >/dev/null 2>&1 & STARTED+=($!); }
	have git && { git cat-file --batch <> <(:) >/dev/null 2>&1 & STARTED+=($!); }
	sleep 4
}

mapped_files() { cat /proc/[0-9]*/maps 2>/dev/null | awk '$2 ~ /x/ && $6 ~ /^\// { print $6 }' | sort -u | wc -l; }
programs() { ls /proc/[0-9]*/exe 2>/dev/null | xargs -n 1 readlink 2>/dev/null | wc -l; }

# one TOOL COMMAND...: attaches to the whole machine, on which one process spins.
one() {
	local tool=$1 first clock=real_ns
	shift
	rm -f trace	# probee does not replace what another tool wrote
	launched life "$@"
	sleep 4
	record "whole machine, 99 Hz: peak RSS, MiB" "$tool" "$(calc "$(figure rss "$TOOL_PID") / 1024")"
	kill -INT "$TOOL_PID"
	wait $LAUNCH
	case $tool in
	perf*)
		clock=mono_ns
		first=$(perf script -i trace -F time -G 2>/dev/null | head -1 | tr -d ' :')
		record "exec to first sample, ms" "$tool" "$(calc "($first * 1e9 - $(of life $clock)) / 1e6")"
		;;
	*)
		"$PROBEE" report trace --csv >trace.csv
		record "exec to first sample, ms" "$tool" "$(figure first-csv trace.csv "$(of life $clock)")"
		;;
	esac
	record "CPU ms of its whole life" "$tool" "$(of life cpu_ms)"
}

build_ancestor || say "the ancestor's method could not be built"
start chain30
busy=$PID
for round in $(seq "$ROUNDS"); do
	have perf && perf_one
	have bpftrace && bpftrace_one
	have profile-bpfcc && bcc_one
	probees probee_one
	have perf && perf_command
	probees probee_command
done
finish "$busy"
snapshots 100
snapshots 12000
many_processes
start chain30
echo "$(programs) processes with a program, $(mapped_files) executable files mapped"
for round in $(seq "$ROUNDS"); do
	have perf && one 'perf -g' perf record -q -k CLOCK_MONOTONIC -a -g -F 99 -o trace
	one 'probee auto' "$PROBEE" sample -q -a -F 99 -o trace
	one 'probee fp' "$PROBEE" sample -q -a -F 99 --unwind fp -o trace
	probees probee_once '-a, many files' -a
	probees probee_ends
done
for p in "${STARTED[@]}"; do finish "$p"; done
STARTED=()
