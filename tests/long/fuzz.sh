#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz.sh SECONDS [TARGET]...: each target of tests/fuzz (or only these: cfi, wire) for so long, two at a time, from the
# inputs in tests/fuzz/corpus on. Wrong is a crash, an input that takes 10 s, and more than 2 GiB of memory; such inputs are
# kept in OUT/fuzz/found. Takes SECONDS times half the number of targets. `make FUZZ=1 fuzzers` builds them.
set -u
seconds=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
targets=()
[ $# -gt 0 ] || set -- $(cd "$root/tests/fuzz" && printf '%s\n' fuzz_*.c | sed 's/^fuzz_//; s/\.c$//')
for name in "$@"; do
	targets+=("$OUT/fuzz/tests/fuzz/fuzz_$name")
	[ -x "${targets[-1]}" ] || { echo "no ${targets[-1]}. Try: make FUZZ=1 fuzzers"; exit 1; }
done

# run TARGET: in a directory of its own, which stays.
run() {
	local name=${1##*/} seeds=$root/tests/fuzz/corpus/${1##*/fuzz_}
	mkdir -p "$name/corpus" && cd "$name" || exit 1
	[ -d "$seeds" ] || seeds=
	"$1" "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix=./ -print_final_stats=1 \
		corpus ${seeds:+"$seeds"} >log 2>&1
	echo $? >status
}

figure() { sed -n "s/^stat::$2: *//p" "$1/log" | grep . || echo 0; }

for target in "${targets[@]}"; do
	[ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
	run "$target" &
done
wait

bad=0 inputs=0
for target in "${targets[@]}"; do
	name=${target##*/}
	printf '  %-22s %10d inputs, %6d a second\n' "$name" "$(figure "$name" number_of_executed_units)" \
		"$(figure "$name" average_exec_per_sec)"
	inputs=$((inputs + $(figure "$name" number_of_executed_units)))
	[ "$(cat "$name/status")" = 0 ] && continue
	bad=$((bad + 1))
	mkdir -p "$OUT/fuzz/found" && cp "$name"/{crash,timeout,oom,leak}-* "$OUT/fuzz/found/" 2>/dev/null
	echo "  wrong: $name: exit $(cat "$name/status"); inputs are kept in $OUT/fuzz/found"
	tail -n 30 "$name/log"
done
echo "fuzz: ${#targets[@]} targets, $seconds s each: $inputs inputs; $bad wrong"
[ $bad = 0 ]
