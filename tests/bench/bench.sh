#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench.sh [sample|tick|walk|snapshot|chains|forever|report|bombs|neighbour|start|disk|roots|quiet|grammar|scale|tables|live|rights|rates|memory|cold|made|late|lines|steady|short|bytes|window|page|fed|diff|probe|usdt|python|node|top|day|segments|push|agent|fleet|soak|sql|java|frames|dump|small|cpus|commands|slow|first|sleepers|churn]...: measures what
# probee and other tools cost, in one run on this machine; without arguments all parts. ROUNDS=N (default 5) rounds of each
# tool, interleaved. The tables show median, smallest, largest, and the ratio to the tool in the first line of each block.
# Needs root.
# A busy machine distorts times (but not bytes, shares and rows), so compare within a run, never between runs.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
OUT=$(realpath -m "${OUT:-$root/.out}")
PROBEE=$(realpath -m "${PROBEE:-$OUT/probee}")
ROUNDS=${ROUNDS:-5}
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
STARTED=()

say() { echo "bench: $*" >&2; }
cannot() { say "$*"; exit 77; }

[ "$(id -u)" = 0 ] || cannot "needs root"
[ -x "$PROBEE" ] || cannot "no binary at $PROBEE"
WORKLOADS=$("$root/tests/workloads/build.sh" "$OUT/workloads") || exit 1
T=$(mktemp -d /tmp/probee-bench.XXXXXX) || exit 1
stats_before=$(cat /proc/sys/kernel/bpf_stats_enabled)

cleanup() {
	local p
	for p in "${STARTED[@]}"; do kill -KILL "$p" 2>/dev/null; done
	echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
	rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
cd "$T" || exit 1

have() { command -v "$1" >/dev/null; }
figure() { python3 -S "$here/figures_of.py" "$@"; }
calc() { awk "BEGIN { print $* }"; }

# record METRIC TOOL VALUE
record() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$results"; }

# of FILE KEY: a number that launch wrote.
of() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }

start() {
	local fd word prog=$WORKLOADS/$1
	shift
	exec {fd}< <(exec "$prog" "$@")
	STARTED+=($!)
	read -r -t 60 -u "$fd" word PID _ || { say "${prog##*/} did not get ready"; exit 1; }
}

finish() {
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# family PID: it and all processes that descend from it.
family() {
	local p all=$1 next=$1
	while [ -n "$next" ]; do
		next=$(for p in $next; do pgrep -P "$p"; done)
		all="$all $next"
	done
	echo $all
}

# pss PID: KiB of its whole family.
pss() {
	local p
	for p in $(family "$1"); do cat "/proc/$p/smaps_rollup"; done 2>/dev/null | awk '/^Pss:/ { n += $2 } END { printf "%.0f\n", n }'
}

# launched FILE COMMAND...: runs it in the background by `launch`; sets LAUNCH (the pid to wait for) and TOOL_PID.
launched() {
	local file=$1 tries=200
	shift
	rm -f "$file"
	"$bin/launch" "$file" "$@" >launched.out 2>launched.err &
	LAUNCH=$!
	while ! grep -qs '^real_ns' "$file" && [ $((tries--)) -gt 0 ]; do sleep 0.005; done
	TOOL_PID=$(of "$file" pid)
	STARTED+=("$TOOL_PID")
}

build() {
	bin=$OUT/bench
	mkdir -p "$bin"
	gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE "$here/launch.c" -o "$bin/launch" || exit 1
}

build_ancestor() {
	clang -target bpf -O2 -g -Wall -mcpu=v3 -D__TARGET_ARCH_x86 -I"/usr/include/$(gcc -print-multiarch)" \
		-I"$here" -c "$here/ancestor_walk.bpf.c" -o "$bin/ancestor_walk.bpf.o" &&
		gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -I"$root" "$here/ancestor_walk.c" -lbpf -o "$bin/ancestor_walk"
}

# build_bench NAME: a program of this folder that uses probee's library.
build_bench() {
	gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -I"$root" -I"$OUT" -DARCH_HEADER="\"unwind/arch_$(uname -m).h\"" "$here/$1.c" "$OUT/libprobee.a" \
		-lbpf -ldw -lelf -lz -lzstd -lpcre2-8 -lseccomp -lcap-ng -liberty -lprotobuf-c -lpthread -o "$bin/$1"
}

parts=(sample tick walk snapshot chains forever report bombs neighbour start disk roots quiet grammar scale tables live rights rates memory cold made late lines steady short bytes window page fed diff probe usdt python top day segments sql push java node frames dump small cpus commands slow first sleepers churn fleet)
[ $# -gt 0 ] || set -- "${parts[@]}"
build
echo "kernel $(uname -r), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg), $(perf --version 2>/dev/null)"
for part; do
	[ -f "$here/part_$part.sh" ] || { say "no part $part: ${parts[*]}"; exit 2; }
	results=$T/results.$part
	: >"$results"
	echo
	echo "== $part"
	# shellcheck source=/dev/null
	. "$here/part_$part.sh"
	[ ! -s "$results" ] || python3 -S "$here/figures.py" "$results"
done
