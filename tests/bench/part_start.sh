# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A machine with at least 60 processes that map at least 200 executable files: how long it takes until the first sample of
# the whole machine, and how large the recorder is at 99 Hz.

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

many_processes
start chain30
echo "$(programs) processes with a program, $(mapped_files) executable files mapped"
for round in $(seq "$ROUNDS"); do
	have perf && one 'perf -g' perf record -q -k CLOCK_MONOTONIC -a -g -F 99 -o trace
	one 'probee auto' "$PROBEE" sample -q -a -F 99 -o trace
	one 'probee fp' "$PROBEE" sample -q -a -F 99 --unwind fp -o trace
	launched life "$PROBEE" snapshot -q -a -i 1 -o trace
	wait $LAUNCH
	record "one snapshot of everything, wall ms" 'probee auto' "$(of life wall_ms)"
done
for p in "${STARTED[@]}"; do finish "$p"; done
STARTED=()
