# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What a fleet sends, and what that costs a receiver (docs/FLEET.md). FLEET="sizes batches bursts receivers outage" and
# FLEET_HOSTS="idle ordinary busy" and FLEET_LOADS="steady wide scans mix" (of batches) choose.
#
#	sizes		bytes of a host and day: idle, ordinary and busy, by protocol and by how long a request waits
#	batches		bytes of a host and day by batch and by what tells threads apart: the made recordings of part_push.sh, one with
#			snapshots, and FLEET_MIX (300) seconds of part_push.sh's six programs
#	bursts		1,000 connections, jittered or all at once, kept or new for each request
#	receivers	CPU time, memory and disk for 1,000 windows, and what was not taken; "pyroscope" is that part of it
#	outage		10,000 agents after ten minutes without a receiver, by simulation
#
# The receivers are the stub of the tests, a collector (tests/push/collector.sh; OTELCOL), and Pyroscope (PYROSCOPE, or the one
# on PATH), as far as they are there.

FLEET=${FLEET:-sizes batches bursts receivers outage}
FLEET_PIECES=${FLEET_PIECES:-4}
FLEET_AGENTS=${FLEET_AGENTS:-1000}
FLEET_HOSTS=${FLEET_HOSTS:-idle ordinary busy}
FLEET_LOADS=${FLEET_LOADS:-steady wide scans mix}
few=
protocol=()

build_bench fleet_bodies && build_bench fleet_load && build_bench fleet_outage && build_bench make_recording &&
	build_bench make_trace || cannot "the programs of this part could not be built: make first"

does() { [[ " $FLEET " == *" $1 "* ]]; }

# ---- traces

# pieces NAME OPTION...: recordings of 15 s, one behind the other, as the windows of an agent are, in NAME.pbz.
pieces() {
	local name=$1 i
	shift
	for ((i = 0; i < FLEET_PIECES; i++)); do
		"$PROBEE" record -q -F 97 --snap-freq 1 -d 15 -o piece.pbz "$@" || return
		cat piece.pbz >>"$name.pbz"
	done
}

# 300 threads in 30 processes, all asleep.
record_idle() {
	local pids=() i
	for ((i = 0; i < 30; i++)); do
		start threads 9 sleep
		pids+=("$PID")
	done
	pieces idle -p "$(IFS=,; echo "${pids[*]}")" || rm -f idle.pbz
	for i in "${pids[@]}"; do finish "$i"; done
	[ -s idle.pbz ]
}

# This machine, while two compilers are busy, and whatever else runs on it.
record_ordinary() {
	local pids=() i
	for i in 1 2; do
		(while :; do for f in "$root"/src/*/*.c; do gcc -O2 -D_GNU_SOURCE -I"$root" -I"$OUT" -c "$f" -o /dev/null 2>/dev/null; done; done) &
		pids+=("$!")
		STARTED+=("$!")
		disown
	done
	pieces ordinary -a || rm -f ordinary.pbz
	for i in "${pids[@]}"; do finish "$i"; done
	[ -s ordinary.pbz ]
}

# busy_pieces NAME PIECES [NAME=NUMBER]...: eight busy CPUs, of the shape that real recordings have, with 64 threads.
busy_pieces() {
	local name=$1 pieces=$2 i
	shift 2
	for ((i = 0; i < pieces; i++)); do
		"$bin/make_recording" piece.pbz cpus=8 hz=97 threads=64 lines=1 scans=1 samples=11640 first=$((15 * i)) "$@" || return
		cat piece.pbz >>"$name.pbz"
	done
}

# "few" has a quarter of the stacks and half of the functions; stacks of "random" have next to nothing in common.
make_traces() {
	record_idle || say "no trace of an idle host"
	[[ $FLEET_HOSTS != *ordinary* ]] || record_ordinary || say "no trace of an ordinary host"
	busy_pieces busy "$FLEET_PIECES"
	! does sizes || busy_pieces busy-5m 20
	! does sizes || busy_pieces few-5m 20 stacks=800 functions=600
	! does sizes || "$bin/make_trace" random.pbz 11880 3385 8
}

# bodies TRACE [NAME=VALUE]...: the requests of a trace in ./bodies, and what they are in ./facts.
bodies() {
	rm -rf bodies
	mkdir bodies
	"$bin/fleet_bodies" "$1.pbz" bodies "${@:2}" >facts
}

# ---- sizes

# size TOOL TRACE [NAME=VALUE]...
size() {
	local tool=$1 trace=$2 per_day
	shift 2
	bodies "$trace" "$@" || return
	per_day="86400 / $(of facts seconds)"
	record "$trace: MB a host and day" "$tool" "$(calc "$(of facts bytes) / 1e6 * $per_day")"
	record "$trace: requests a host and day" "$tool" "$(calc "$(of facts requests) * $per_day")"
	record "$trace: largest request, kB" "$tool" "$(calc "$(of facts largest) / 1e3")"
}

sizes_of() {
	local name=$1 protocol
	[ -f "$name.pbz" ] || return
	for protocol in otlp pyroscope ingest; do
		size "$protocol, 15 s" "$name" protocol=$protocol
		size "$protocol, 15 s, without threads" "$name" protocol=$protocol threads=none
	done
	size "otlp, 60 s" "$name" apart=0
	size "otlp, 60 s, without threads" "$name" apart=0 threads=none
}

sizes() {
	local name
	for name in idle ordinary busy; do sizes_of $name; done
	for name in busy-5m few-5m; do
		size "otlp, 60 s" $name apart=0
		size "otlp, 60 s, without threads" $name apart=0 threads=none
		size "otlp, 300 s" $name apart=0 bundle=300
		size "otlp, 300 s, without threads" $name apart=0 bundle=300 threads=none
	done
	size "otlp, 15 s" random
}

# ---- batches

# made NAME [NAME=NUMBER]...: half an hour on eight busy CPUs. It is one recording, of which the windows of an agent are parts.
made() { "$bin/make_recording" "$1.pbz" samples=1396800 hz=97 cpus=8 lines=1 "${@:2}"; }

# As many samples a second as eight busy CPUs give at 97 Hz.
record_mix() {
	local targets
	# shellcheck source=/dev/null
	. "$here/mix.sh"
	build_mix
	begin_mix
	sleep 2
	targets=$(IFS=,; echo "${mix[*]}")
	"$PROBEE" sample -q -F $((97 * 8 / $(nproc))) -d "${FLEET_MIX:-300}s" --segment-time 15s -p "$targets" -o - >mix.pbz
	"$PROBEE" info --json mix.pbz | python3 -S -c 'import json, sys; d = json.load(sys.stdin); print("# mix:", d["recordings"], d["samples"], "samples")' >&2
	end_mix
}

# batch_of TOOL TRACE [NAME=VALUE]...: of samples for the mix, because this machine gives fewer than it should when others are busy on it.
batch_of() {
	local days
	bodies "$2" "${@:3}" || return
	days="($(of facts seconds) / 86400)"
	[ "$2" != mix ] || days="($(of facts samples) / 67046400)"
	record "$2: MB a host and day" "$1" "$(calc "$(of facts bytes) / 1e6 / $days")"
}

batches() {
	local name threads seconds
	[[ $FLEET_LOADS != *steady* ]] || made steady threads=8 stacks=300
	[[ $FLEET_LOADS != *wide* ]] || made wide threads=16 stacks=3385
	[[ $FLEET_LOADS != *scans* ]] || made scans threads=64 scans=1
	[[ $FLEET_LOADS != *mix* ]] || record_mix
	for name in $FLEET_LOADS; do
		for threads in id name; do
			batch_of "15 s, threads=$threads" $name threads=$threads
			for seconds in 60 120 300 1800; do
				[ $name:$seconds = mix:1800 ] || batch_of "$seconds s, threads=$threads" $name apart=0 bundle=$seconds threads=$threads
			done
		done
	done
}

# ---- load

# load PORT [NAME=VALUE]...: ./bodies to a receiver; what came of it is in ./load.
load() { "$bin/fleet_load" "$@" >load || { say "fleet_load: $*"; return 1; }; }

not_taken() { awk '/^status_/ && $1 != "status_200" { n += $2 } END { printf "%.0f\n", n }' load; }

burst() {
	local tool=$1 port=$2
	shift 2
	load "$port" bodies agents="$FLEET_AGENTS" "$@" || return
	record "idle hosts: requests a second" "$tool" "$(of load requests_a_second)"
	record "idle hosts: most requests begun in 100 ms" "$tool" "$(of load peak_100ms)"
	record "idle hosts: most that wait for an answer" "$tool" "$(of load most_waiting)"
	record "idle hosts: ms until the answer, 99 %" "$tool" "$(of load answer_ms_p99)"
	record "idle hosts: windows begun late" "$tool" "$(of load late)"
	record "idle hosts: requests not taken" "$tool" "$(not_taken)"
}

# 1,000 connections with a window each 15 s; with one each 1.5 s they make as many requests as 10,000.
bursts_of() {
	local receiver=$1 port=$2
	bodies idle rebase=1 || return
	burst "$receiver: jittered" "$port" windows=2
	burst "$receiver: jittered, new connections" "$port" windows=2 fresh=1
	burst "$receiver: all at once" "$port" windows=2 jitter=0
	burst "$receiver: all at once, new connections" "$port" windows=2 jitter=0 fresh=1
	burst "$receiver: jittered, as 10,000" "$port" windows=10 interval_ms=1500
}

# ---- what it costs

cpu_seconds() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"; }
status_mib() { awk -v key="$2:" '$1 == key { print $2 / 1024 }' "/proc/$1/status"; }

# Receivers go on for a while when they have answered; until they rest, or a minute.
settle() {
	local before now i
	now=$(cpu_seconds "$1")
	for ((i = 0; i < 20; i++)); do
		before=$now
		sleep 3
		now=$(cpu_seconds "$1")
		[ "$(calc "($now - $before) < 0.06")" = 0 ] || return
	done
}

# cost RECEIVER PID PORT TRACE FOLDER [NAME=VALUE]...: of as many windows as there are agents, or a fifth of that where they are
# large, of 100 hosts (hosts=N). FOLDER: what the receiver keeps.
cost() {
	local tool=$1 pid=$2 port=$3 trace=$4 folder=$5 cpu disk n agents=$FLEET_AGENTS
	[ "$trace" = idle ] || agents=$((agents / 5))
	[ -z "$few" ] || agents=$few
	bodies "$trace" rebase=1 "${protocol[@]}" || return
	shift 5
	cpu=$(cpu_seconds "$pid")
	disk=$(du -sk "$folder" | cut -f1)
	echo 5 >"/proc/$pid/clear_refs"
	load "$port" bodies agents="$agents" timeout_s=120 "$@" || return
	settle "$pid"
	kill -0 "$pid" || { say "$tool has ended"; return; }
	n=$(calc "$(of load requests) / 1000")
	record "$trace: CPU s for 1,000 windows" "$tool" "$(calc "($(cpu_seconds "$pid") - $cpu) / $n")"
	record "$trace: largest RSS, MiB" "$tool" "$(status_mib "$pid" VmHWM)"
	record "$trace: MiB on the disk for 1,000 windows" "$tool" "$(calc "($(du -sk "$folder" | cut -f1) - $disk) / 1024 / $n")"
	record "$trace: MB sent for 1,000 windows" "$tool" "$(calc "$(of load bytes) / 1e6 / $n")"
	record "$trace: requests not taken" "$tool" "$(not_taken)"
	if grep -q '^answer_ms' load; then
		record "$trace: ms until the answer, median" "$tool" "$(of load answer_ms_median)"
		record "$trace: ms until the answer, 99 %" "$tool" "$(of load answer_ms_p99)"
	fi
	grep '^status_\|^error' load | tr '\n' ' ' | sed "s/^/# $trace, $tool: /; s/\$/\n/" >&2
}

costs_of() {
	local receiver=$1 pid=$2 port=$3 folder=$4 protocol=() name
	shift 4
	for name in $FLEET_HOSTS; do
		[ ! -f "$name.pbz" ] || cost "$receiver" "$pid" "$port" "$name" "$folder" "$@"
	done
	protocol=(threads=none)
	for name in idle busy; do
		[ ! -f $name.pbz ] || cost "$receiver, without threads" "$pid" "$port" $name "$folder" "$@"
	done
}

# ---- receivers

# Functions of tests/push/receivers.sh, in a subshell, which ends them. They expect these names.
with_receivers() {
	(
		TMP=$T/$1
		mkdir -p "$TMP"
		did='' python='' rc=0
		wrong() { say "$did $*: $(tail -n 1 "$TMP/stderr")"; }
		skip() { say "$*"; exit 0; }
		finish() { exit 1; }
		run() { "$@" >"$TMP/stdout" 2>"$TMP/stderr"; rc=$?; did=$*; }
		exits() { [ "$rc" = "$1" ] || { wrong "exits with $rc"; exit 1; }; }
		cd "$root" || exit
		# shellcheck source=/dev/null
		. "$root/tests/push/receivers.sh"
		trap end_receivers EXIT
		"$@"
	)
}

port_of() { echo "${1##*:}"; }

with_collector() {
	need_collector
	start_collector
	cd "$T" || exit
	! does bursts || bursts_of collector "$(port_of "$COLLECTOR")"
	does receivers || return
	costs_of collector "$collector_pid" "$(port_of "$COLLECTOR")" "$TMP"
	say "the collector's file has $(messages "$TMP/otlp.bin") requests"
}

# Each request is a message behind its length, 4 bytes.
messages() {
	python3 -S - "$1" <<-'END'
		import os, sys
		n, left = 0, os.path.getsize(sys.argv[1])
		with open(sys.argv[1], "rb") as f:
		    while left > 0:
		        size = int.from_bytes(f.read(4), "big")
		        f.seek(size, 1)
		        n, left = n + 1, left - 4 - size
		print(n)
	END
}

# All of it in one process takes a few requests a second on a small machine, and 5xx are its answer to more.
with_pyroscope() {
	local few=${FLEET_FEW:-100}
	need_pyroscope
	start_pyroscope
	cd "$T" || exit
	costs_of Pyroscope "$pyroscope_pid" "$(port_of "$PYROSCOPE_URL")" "$TMP/pyroscope" tenant=fleet interval_ms=60000
	protocol=(protocol=pyroscope)
	cost "Pyroscope, push.v1" "$pyroscope_pid" "$(port_of "$PYROSCOPE_URL")" idle "$TMP/pyroscope" tenant=fleet interval_ms=60000
	curl -fsS "$PYROSCOPE_URL/metrics" | grep '^pyroscope_discarded_[a-z]*_total' | sed 's/^/# /' >&2
}

# The stub decodes by the official .proto and refuses what the real ones refuse: that the bodies of the load are good.
with_stub() {
	local fd port
	need_protobuf
	mkfifo "$TMP/end"
	"$python" "$root/tests/push/receiver.py" "$TMP/received" --proto "$TMP/proto" <"$TMP/end" >"$TMP/port" &
	collector_pid=$!		# ends with the others
	exec {fd}>"$TMP/end"
	wait_until 30 $collector_pid test -s "$TMP/port" || { say "the stub does not answer"; return; }
	port=$(cat "$TMP/port")
	cd "$T" || exit
	# It decodes in Python, all that comes at once.
	cost stub "$collector_pid" "$port" idle "$TMP/received" agents=40 hosts=40
}

# ---- outage

outage() {
	local words
	for words in "jitter=0" "" "retry_after_s=30 wish=3" "retry_after_s=30" "retry_after_s=30 wish=50" "limit=700" "limit=1000"; do
		# shellcheck disable=SC2086
		"$bin/fleet_outage" $words >outage || return
		words="10,000 agents: ${words:-as they are}"
		record "caught up after, s" "$words" "$(of outage caught_up_s)"
		record "most requests in 100 ms after it" "$words" "$(of outage peak_100ms)"
		record "most requests in a second after it" "$words" "$(of outage peak_1s)"
		record "requests refused" "$words" "$(of outage refused)"
		record "oldest window when it was taken, s" "$words" "$(of outage oldest_window_s)"
		record "most windows of an agent in its spool" "$words" "$(of outage most_windows_waiting)"
	done
}

[ "$FLEET" = outage ] || [ "$FLEET" = batches ] || make_traces
! does sizes || sizes
! does batches || batches
! does receivers || with_receivers with_stub
! does bursts && ! does receivers || with_receivers with_collector
! does pyroscope && ! does receivers || with_receivers with_pyroscope
! does outage || outage
