#!/bin/bash
# run.sh [KIND...]: runs the tests and counts them. Kinds, in this order, all of them by default:
#
#   layers               tests/layers.sh
#   unit                 built by `make tests`
#   san                  the same with sanitizers, built by `make SAN=1 all tests`, and tests/cli/ once more
#   cli tools spec oracle browser live vm
#                        executable tests/KIND/*.sh and *.py; vm boots other kernels in emulated machines
#   fuzz                 built by `make FUZZ=1 fuzzers`, FUZZ_SECONDS (20) each, two at a time
#
# A test exits 0 (passed), 77 (skipped: its last line says why) or anything else (failed). One that prints
# TAP ("ok 1 - name", "not ok 2 - name", "ok 3 # SKIP why") is counted by those lines. It starts in the
# root of the tree and gets OUT, PROBEE and an empty directory TMP. Its time is limited to 120 s; a line
# "# timeout: 300" among the first ten of a script says otherwise.
#
# Passing tests are one line each; of others everything is shown. The last line is "N passed, N failed,
# N skipped"; exit 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1
OUT=$(realpath -m "${OUT:-.out}")
PROBEE=$OUT/probee
FUZZ_SECONDS=${FUZZ_SECONDS:-20}
export OUT PROBEE LC_ALL=C.UTF-8
passed=0 failed=0 skipped=0
work=$(mktemp -d "${TMPDIR:-/tmp}/probee-tests.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# say VERDICT NAME SECONDS [TEXT]
say() { printf '%-5s %-44s %6s s  %s\n' "$1" "$2" "$3" "${4:-}"; }

seconds_since() { local ms=$((($(date +%s%N) - $1) / 1000000)); printf '%d.%02d' $((ms / 1000)) $((ms % 1000 / 10)); }

time_limit() {
	local limit
	limit=$(head -n 10 "$1" | tr -d '\0' | sed -n 's/^# timeout: *\([0-9][0-9]*\).*/\1/p' | head -n 1)
	echo "${limit:-120}"
}

# judge NAME EXIT-CODE SECONDS LOG: counts one finished test and prints its line.
judge() {
	local name=$1 rc=$2 took=$3 log=$4 ok=0 bad=0 skip=0 plan

	ok=$(grep -cE '^(ok [0-9]+|not ok [0-9]+ *# *SKIP)' "$log")
	bad=$(grep -E '^not ok [0-9]+' "$log" | grep -ciEv '# *skip')	# cmocka says "not ok 3 # SKIP name"
	skip=$(grep -ciE '^(not )?ok [0-9]+.*# *skip' "$log")
	plan=$(sed -n 's/^1\.\.\([0-9][0-9]*\)$/\1/p' "$log" | head -n 1)
	if [ $((ok + bad)) = 0 ]; then
		case $rc in
		0) ok=1 ;;
		77) ok=1 skip=1 ;;
		*) bad=1 ;;
		esac
	elif [ "$bad" = 0 ] && { { [ "$rc" != 0 ] && [ "$rc" != 77 ]; } || [ "${plan:-$ok}" != "$ok" ]; }; then
		bad=1	# it died on the way
	fi
	passed=$((passed + ok - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))

	if [ "$bad" != 0 ]; then
		[ "$rc" != 124 ] && [ "$rc" != 137 ] || echo "(out of time)" >>"$log"
		say FAIL "$name" "$took" "exit $rc"
		sed 's/^/    /' "$log"
	elif [ $((ok - skip)) = 0 ]; then
		say skip "$name" "$took" "$(grep -v '^[[:space:]]*$' "$log" | tail -n 1)"
	else
		say pass "$name" "$took" "$([ $((ok - skip)) = 1 ] || echo "$((ok - skip)) tests")"
		grep -iE '^(not )?ok [0-9]+.*# *skip' "$log" | sed 's/^/    /'
	fi
}

# run NAME LIMIT COMMAND...
run() {
	local name=$1 limit=$2 log=$work/log start rc
	shift 2
	mkdir "$work/tmp"
	start=$(date +%s%N)
	TMP=$work/tmp CMOCKA_MESSAGE_OUTPUT=tap timeout -k 5 "$limit" "$@" </dev/null >"$log" 2>&1
	rc=$?
	judge "$name" "$rc" "$(seconds_since "$start")" "$log"
	chmod -R u+rwx "$work/tmp" 2>/dev/null
	rm -rf "$work/tmp"
}

# run_scripts KIND [PREFIX]
run_scripts() {
	local t
	for t in tests/"$1"/*; do
		case $t in *.sh | *.py) ;; *) continue ;; esac
		if [ -x "$t" ]; then
			run "${2:-}${t#tests/}" "$(time_limit "$t")" "$t"
		elif [ -z "${2:-}" ] && [[ $t == *.sh ]] && head -c 2 "$t" | grep -q '#!'; then
			echo "not executable: it would never run" >"$work/log"
			judge "${t#tests/}" 126 0.00 "$work/log"
		fi
	done
}

# run_binaries KIND DIRECTORY
run_binaries() {
	local src t
	for src in tests/unit/test_*.c; do
		t=$2/tests/unit/$(basename "$src" .c)
		run "$1/$(basename "$src" .c)" 120 "$t"
	done
}

# fuzz_one NAME: in the background; leaves .log, .rc and .took behind.
fuzz_one() {
	local name=$1 dir=$work/fuzz-$1 start
	local seeds=tests/fuzz/corpus/${1#fuzz_}
	mkdir -p "$dir/corpus"
	start=$(date +%s%N)
	# shellcheck disable=SC2046  # absent seeds are no argument
	timeout -k 5 $((FUZZ_SECONDS + 60)) "$OUT/fuzz/tests/fuzz/$name" -max_total_time="$FUZZ_SECONDS" \
		-timeout=10 -rss_limit_mb=2048 -artifact_prefix="$dir/" -print_final_stats=1 \
		"$dir/corpus" $([ ! -d "$seeds" ] || echo "$seeds") </dev/null >"$dir/log" 2>&1
	echo $? >"$dir/rc"
	seconds_since "$start" >"$dir/took"
}

judge_fuzz() {
	local name=$1 dir=$work/fuzz-$1 rc input
	rc=$(cat "$dir/rc")
	[ "$rc" != 77 ] || rc=1			# what libFuzzer says of an input that it does not like is no skip
	if [ "$rc" != 0 ]; then
		tail -n 60 "$dir/log" >"$dir/tail"
		for input in "$dir"/crash-* "$dir"/timeout-* "$dir"/oom-* "$dir"/leak-*; do
			[ -e "$input" ] || continue
			mkdir -p "$OUT/fuzz/found" && cp "$input" "$OUT/fuzz/found/"
			echo "input kept: $OUT/fuzz/found/$(basename "$input")" >>"$dir/tail"
		done
		judge "fuzz/$name" "$rc" "$(cat "$dir/took")" "$dir/tail"
	else
		judge "fuzz/$name" 0 "$(cat "$dir/took")" <(:)
		sed -n 's/^stat::number_of_executed_units: */    inputs: /p' "$dir/log"
	fi
}

run_fuzz() {
	local names=() src n
	for src in tests/fuzz/fuzz_*.c; do
		[ -e "$src" ] && names+=("$(basename "$src" .c)")
	done
	for n in "${names[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
		fuzz_one "$n" &
	done
	wait
	for n in "${names[@]}"; do judge_fuzz "$n"; done
}

export RUN_BEGAN=${RUN_BEGAN:-$(date +%s)}	# for what is left out where time is short
[ $# -gt 0 ] || set -- layers unit san cli tools spec oracle browser live vm fuzz
for kind; do
	case $kind in
	layers) run layers 120 tests/layers.sh ;;
	unit) run_binaries unit "$OUT" ;;
	san)
		run_binaries san "$OUT/san"
		PROBEE=$OUT/san/probee run_scripts cli san/
		;;
	fuzz) run_fuzz ;;
	cli | tools | spec | oracle | browser | live | vm) run_scripts "$kind" ;;
	*) echo "$0: no kind of test: $kind" >&2; exit 2 ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
