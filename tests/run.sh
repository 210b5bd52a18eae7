#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [KIND...]: runs the tests and counts them. Kinds, all of them by default:
#
#	layers               tests/layers.sh
#	unit                 built by `make tests`
#	cli tools spec vm oracle browser consumers push live
#	                     executable tests/KIND/*.sh and *.py; vm boots other kernels in emulated machines; consumers
#	                     are programs that others made, which read our files (tests/consumers/install.sh); push sends to
#	                     receivers, some of which others made (tests/push/receivers.sh)
#	san                  unit and cli with sanitizers, built by `make SAN=1 all tests`
#	fuzz                 built by `make FUZZ=1 fuzzers`, FUZZ_SECONDS (20) each, but FUZZ_TOTAL seconds at most for all
#
# A test whose script the shell could not read in some place has failed, because a check may not have run.
# A test exits 0 (passed), 77 (skipped: its last line says why) or anything else (failed). One that prints
# TAP ("ok 1 - name", "not ok 2 - name", "ok 3 # SKIP why") is counted by those lines. It starts in the
# root of the tree and gets OUT, PROBEE and an empty directory TMP. Its time is limited to 120 s, unless a line
# "# timeout: 300" among the first ten of the script gives another limit. With sanitizers a script has twice its time.
# Three tests run at the same time (LANES), because most of them wait; on a machine with one CPU, one does. Live tests record, wait, and
# look at the whole machine. So only one of them runs at a time, and a test of another kind beside it has a lower priority. A live
# test that says "# beside: live" looks only at its own processes and neither counts nor times, so it may run beside another live
# test. A test that compares amounts of CPU time or the times of scans, or that burdens the machine so that others would fail, says
# "# needs: quiet" among its first ten lines: it runs alone, after the others. Tests of browsers, consumers, receivers and tools, and
# those that say "# light: yes", mostly wait for something: one of them runs besides the others (not with LANES=1). All other tests
# must not rely on being alone, and no test may end processes by their name.
# A test of the kinds live, vm, browser, consumers, push, oracle, unit, cli and san (unless a sanitizer has found something) that fails
# beside others is run once more, alone, after all others. If it passes then, it counts as passed, and its line says so; the figure of such tests is in the line before the last.
# So is a test of any other kind but fuzz that was out of time.
# RETRIES (15) limits their number, RETRY_UNTIL (1700) the seconds in which one may begin; RETRIES=0: none.
# A test of the kind cli that says "# san: no" mostly waits, and is not run with sanitizers.
# With BUILD=1 the programs for san, fuzz and live are built while the first tests run.
# tests/choose.sh chooses among the tests of the kinds: T, CHANGED and CHECK.
# LIST=1 prints the names of the chosen tests and runs none.
# With TALLY=FILE the figures and failures of this run are written there; if the file is there already, those in it are added first.
# A test that passes is one line; of any other test the whole output is shown, in the order of the names within a kind.
# What failed is named once more at the end, because a reader of a long log may see only its head and its end.
# The last line is "N passed, N failed, N skipped"; exit 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1
OUT=$(realpath -m "${OUT:-.out}")
PROBEE=$OUT/probee
FUZZ_SECONDS=${FUZZ_SECONDS:-20}
LANES=${LANES:-$(($(nproc) > 1 ? 3 : 1))}
export OUT PROBEE LC_ALL=C.UTF-8
export -n T CHANGED CHECK TALLY LIST		# they choose for this run, not for one that a test begins
passed=0 failed=0 skipped=0
work=$(mktemp -d "${TMPDIR:-/tmp}/probee-tests.XXXXXX")
# What is kept between recordings (line_cache.h) must not come from the machine, nor stay on it.
export XDG_CACHE_HOME=$work/cache
chmod 711 "$work"		# some tests read as another user

# --- jobs: their properties, by number

names=() kinds=() limits=() programs=() commands=()	# commands are quoted for the shell
after=()						# the job that builds it, or nothing
is_live=()					# 1: of the live lane
began=() ended=() codes=()				# filled when it runs: ms, ms, exit code
cpu_s=() cpu_before=0					# CPU time of each job; of all until now
second=() passed_alone=()			# jobs that are run once more; names of those that then passed
failures=$work/failures				# names of those that failed, with what failed in them
RETRIES=${RETRIES:-15} RETRY_UNTIL=${RETRY_UNTIL:-1700}
shared_live=() shared_other=() light=() alone=()	# numbers that wait for their turn
is_light=()						# 1: of the queue light
declare -A job_of=() running=()
declare -A order=() order_alone=() kind_ms=()	# of each kind: jobs not shown yet; those of them that run alone; time

# add QUEUE KIND NAME LIMIT COMMAND...: if builder is set, that job must be done first.
add() {
	local -n queue=$1
	local i=${#names[@]}
	kinds[i]=$2 names[i]=$3 limits[i]=$4 programs[i]=$PROBEE after[i]=${builder:-}
	printf -v "commands[$i]" '%q ' "${@:5}"
	queue+=("$i")
	[ "$1" != shared_live ] || is_live[i]=1
	[ "$1" != light ] || is_light[i]=1
	if [ "$1" = alone ]; then order_alone[$2]+="$i "; else order[$2]+="$i "; fi
}

head_of() { head -n 10 "$1" | tr -d '\0'; }
. tests/choose.sh

time_limit() {
	local limit
	limit=$(head_of "$1" | sed -n 's/^# timeout: *\([0-9][0-9]*\).*/\1/p' | head -n 1)
	echo "${limit:-120}"
}

# add_scripts KIND DIRECTORY [PREFIX]
add_scripts() {
	local t queue slower=1
	[ "$1" != san ] || slower=2
	for t in tests/"$2"/*; do
		case $t in *.sh | *.py) ;; *) continue ;; esac
		is_chosen "$1" "${3:-}${t#tests/}" "$t" || continue
		[ "$1" != san ] || ! head_of "$t" | grep -q '^# san: no' || continue
		queue=shared_other
		[ "$2" != live ] || head_of "$t" | grep -q '^# beside: live' || queue=shared_live
		case $2 in browser | consumers | push | tools) queue=light ;; esac
		! head_of "$t" | grep -q '^# light: yes' || queue=light
		! head_of "$t" | grep -q '^# needs: quiet' || queue=alone
		if [ -x "$t" ]; then
			# shellcheck disable=SC2046
			add $queue "$1" "${3:-}${t#tests/}" $(($(time_limit "$t") * slower)) env $(settings_of "$t") "$t"
		elif [ -z "${3:-}" ] && [[ $t == *.sh ]] && head -c 2 "$t" | grep -q '#!'; then
			add $queue "$1" "${t#tests/}" 10 sh -c 'echo "not executable: it would never run"; exit 126'
		fi
	done
}

# add_binaries KIND DIRECTORY
add_binaries() {
	local src
	for src in tests/unit/test_*.c; do
		is_chosen "$1" "$1/$(basename "$src" .c)" "$src" || continue
		add shared_other "$1" "$1/$(basename "$src" .c)" 120 "$2/tests/unit/$(basename "$src" .c)"
	done
}

add_fuzzers() {
	local src name seeds seconds=$FUZZ_SECONDS nr
	nr=$(find tests/fuzz -name 'fuzz_*.c' 2>/dev/null | wc -l)
	[ "$nr" = 0 ] && return
	if [ -n "${FUZZ_TOTAL:-}" ] && [ $((nr * seconds)) -gt "$FUZZ_TOTAL" ]; then
		seconds=$((FUZZ_TOTAL / nr > 1 ? FUZZ_TOTAL / nr : 1))
	fi
	for src in tests/fuzz/fuzz_*.c; do
		is_chosen fuzz "fuzz/$(basename "$src" .c)" "$src" || continue
		name=$(basename "$src" .c) seeds=tests/fuzz/corpus/${name#fuzz_}
		[ -d "$seeds" ] || seeds=
		add shared_other fuzz "fuzz/$name" $((seconds + 240)) sh -c 'cd "$TMP" && mkdir corpus && exec "$@"' sh \
			"$OUT/fuzz/tests/fuzz/$name" "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix=./ \
			-print_final_stats=1 corpus ${seeds:+"$PWD/$seeds"}
	done
}

# add_build QUEUE NAME COMMAND...: sets builder, for the jobs that are added next.
add_build() {
	local queue=$1 name=$2
	builder=
	[ "${BUILD:-}" ] || return 0
	shift 2
	add "$queue" build "build/$name" 900 env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "$@"
	builder=$((${#names[@]} - 1))
}

# drop_idle_build QUEUE: no test was added that needs the build which was added last.
drop_idle_build() {
	local -n queue=$1
	[ "${builder:-}" ] && [ ${#names[@]} = $((builder + 1)) ] || return 0
	unset 'queue[-1]'
	order[build]=${order[build]%"$builder "}
}

add_kind() {
	local kind=$1 builder=
	case $kind in
	layers) ! is_chosen layers layers tests/layers.sh || add shared_other layers layers 120 tests/layers.sh ;;
	unit) add_binaries unit "$OUT" ;;
	san)
		add_build shared_other san make -s "-j$(nproc)" "OUT=$OUT" SAN=1 all tests
		add_binaries san "$OUT/san"
		PROBEE=$OUT/san/probee add_scripts san cli san/
		drop_idle_build shared_other
		;;
	fuzz)
		# -O0 takes a third of the time to compile and runs half as fast, which is less in all for so short a run.
		add_build shared_other fuzz make -s "-j$(nproc)" "OUT=$OUT" FUZZ=1 OPT=-O0 fuzzers
		add_fuzzers
		drop_idle_build shared_other
		;;
	live)
		add_build shared_live workloads tests/workloads/build.sh "$OUT/workloads"
		add_scripts live live
		drop_idle_build shared_live
		;;
	cli | tools | spec | oracle | browser | consumers | push | vm) add_scripts "$kind" "$kind" ;;
	*) echo "$0: no kind of test: $kind" >&2; exit 2 ;;
	esac
}

# --- verdicts

# say VERDICT NAME MILLISECONDS [TEXT]: with the CPU time of the job that is shown, in seconds.
say() {
	printf '%-5s %-44s %3d.%02d s %4s  %s\n' "$1" "$2" $(($3 / 1000)) $(($3 % 1000 / 10)) "${cpu_s[${shown:-0}]:-}" "${4:-}"
}

# show_failures NAME LOG: what failed comes first, because a reader of a long log may see only its head; then the whole log.
show_failures() {
	local parts=$work/parts
	awk '/^not ok/ { on = !/# *[sS][kK][iI][pP]/ } /^ok/ { on = 0 } on { print "    " $0 }' "$2" | head -n 40 >"$parts"
	cat "$parts"
	sed 's/^/    /' "$2"
	[ -s "$parts" ] || tail -n 5 "$2" | sed 's/^/    /' >"$parts"	# it has no parts, or it died
	{ echo "failed: $1"; head -n 12 "$parts" | sed 's/^    not ok/    failed/'; } >>"$failures"
}

# judge NAME EXIT-CODE MILLISECONDS LOG: counts one finished test and prints its line.
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
	elif grep -E ': line [0-9]+: .*(syntax error|bad substitution|division by 0)' "$log" >"$work/parts"; then
		bad=1	# the shell has left out what it could not read, perhaps a check
		sed 's/^/not ok - the shell: /' "$work/parts" >>"$log"
	fi
	passed=$((passed + ok - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))

	if [ "$bad" != 0 ]; then
		[ "$rc" != 124 ] && [ "$rc" != 137 ] || echo "(out of time)" >>"$log"
		say FAIL "$name" "$took" "exit $rc"
		show_failures "$name" "$log"
	elif [ $((ok - skip)) = 0 ]; then
		say skip "$name" "$took" "$(grep -v '^[[:space:]]*$' "$log" | tail -n 1)"
	else
		say pass "$name" "$took" "$([ $((ok - skip)) = 1 ] || echo "$((ok - skip)) tests")"
		grep -iE '^(not )?ok [0-9]+.*# *skip' "$log" | sed 's/^/    /'
	fi
}

# judge_fuzz NAME EXIT-CODE MILLISECONDS LOG: called while the job's directory exists.
judge_fuzz() {
	local name=$1 rc=$2 took=$3 log=$4 input
	[ "$rc" != 77 ] || rc=1			# what libFuzzer says of an input that it does not like is no skip
	if [ "$rc" != 0 ]; then
		tail -n 60 "$log" >"$log.tail"
		for input in "${log%/*}"/tmp/{crash,timeout,oom,leak}-*; do
			[ -e "$input" ] || continue
			mkdir -p "$OUT/fuzz/found" && cp "$input" "$OUT/fuzz/found/"
			echo "input kept: $OUT/fuzz/found/$(basename "$input")" >>"$log.tail"
		done
		judge "$name" "$rc" "$took" "$log.tail"
	else
		judge "$name" 0 "$took" /dev/null
		sed -n 's/^stat::number_of_executed_units: */    inputs: /p' "$log"
	fi
}

# show_first_run JOB: what failed when it ran beside others. The words are others than those of a failure that counts.
show_first_run() {
	echo "    (it failed beside other tests and passed alone)"
	awk '/^not ok/ { on = !/# *[sS][kK][iI][pP]/ } /^ok/ { on = 0 } on' "$work/$1/first" | head -n 20 >"$work/parts"
	[ -s "$work/parts" ] || tail -n 5 "$work/$1/first" >"$work/parts"	# it has no parts, or it died
	sed 's/^not ok/failed/; s/^/    first run: /' "$work/parts"
	passed_alone+=("${names[$1]}")
}

# show JOB: a build counts only if it failed; then its tests have not run.
show() {
	local i=$1 took=$((ended[$1] - began[$1])) log=$work/$1/log shown=$1
	kind_ms[${kinds[i]}]=$((${kind_ms[${kinds[i]}]:-0} + took))
	case ${kinds[i]}:${codes[i]} in
	build:0) say built "${names[i]#build/}" "$took" ;;
	*:unbuilt) say none "${names[i]}" 0 'not built' ;;
	fuzz:*) judge_fuzz "${names[i]}" "${codes[i]}" "$took" "$log" ;;
	*)
		judge "${names[i]}" "${codes[i]}" "$took" "$log"
		[ -z "${second[i]:-}" ] || { [ "${codes[i]}" != 0 ] && [ "${codes[i]}" != 77 ]; } || show_first_run "$i"
		;;
	esac
	chmod -R u+rwx "$work/$i/tmp" 2>/dev/null
	rm -rf "${work:?}/$i"
}

# show_done KIND: shows the jobs that are done, up to the first that is not.
show_done() {
	local i rest=
	for i in ${order[$1]-}; do
		if [ -z "$rest" ] && [ "${codes[i]:-}" ]; then
			show "$i"
		else
			rest+="$i "
		fi
	done
	order[$1]=$rest
}

# --- running

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# start JOB: starts it as a process group, which can be ended as a whole; with set -m it gets SIGINT, too.
start() {
	local i=$1 lower=()
	[ "$LANES" = 1 ] || [ "${kinds[i]}" = live ] || lower=(nice -n 5)
	mkdir -p "$work/$i/tmp"
	chmod 711 "$work/$i"
	began[i]=$(now_ms)
	set -m
	PROBEE=${programs[i]} TMP=$work/$i/tmp CMOCKA_MESSAGE_OUTPUT=tap eval exec "${lower[*]:-}" timeout -k 5 "${limits[i]}" \
		"${commands[i]}" </dev/null >"$work/$i/log" 2>&1 &
	job_of[$!]=$i running[$i]=$!
	set +m
}

# may_repeat JOB EXIT-CODE: whether it is run once more.
may_repeat() {
	case ${kinds[$1]}:$2 in
	*:0 | *:77) return 1 ;;
	fuzz:*) return 1 ;;
	*:124 | *:137) ;;
	live:* | vm:* | browser:* | consumers:* | push:* | oracle:* | cli:* | unit:*) ;;
	san:*) ! grep -qE 'Sanitizer|runtime error:' "$work/$1/log" || return 1 ;;
	*) return 1 ;;
	esac
	[ -z "${second[$1]:-}" ] && [ ${#second[@]} -lt "$RETRIES" ] && [ $SECONDS -lt "$RETRY_UNTIL" ]
}

# put_last KIND JOB: its place among those of its kind that are not shown yet is the last.
put_last() {
	local i rest=
	for i in ${order[$1]-}; do [ "$i" = "$2" ] || rest+="$i "; done
	order[$1]="$rest$2 "
}

# count_cpu JOB: what the children of this shell have used grows when one ends, by all that it and its own have used.
count_cpu() {
	local now
	times >"$work/times"
	now=$(tail -n 1 "$work/times" | sed 's/[ms]/ /g' | awk '{ printf "%.1f", 60 * ($1 + $3) + $2 + $4 }')
	cpu_s[$1]=$(awk -v a="$cpu_before" -v b="$now" 'BEGIN { printf "%.0f", b - a }')
	cpu_before=$now
}

finish() {
	count_cpu "$1"
	unset "running[$1]"
	if may_repeat "$1" "$2"; then
		second[$1]=1
		chmod -R u+rwx "$work/$1/tmp" 2>/dev/null
		rm -rf "$work/$1/tmp"
		mv "$work/$1/log" "$work/$1/first"
		put_last "${kinds[$1]}" "$1"
		alone+=("$1")
	else
		ended[$1]=$(now_ms) codes[$1]=$2
	fi
	show_done "${kinds[$1]}"
}

any_left() {
	local pid
	for pid in "${running[@]}"; do ! kill -0 -- "-$pid" || return 0; done 2>/dev/null
	return 1
}

# Tests have two seconds to end processes that are in other groups (an emulator, for example).
end_all() {
	local pid tries=20
	for pid in "${running[@]}"; do kill -TERM -- "$pid" "-$pid"; done 2>/dev/null
	while any_left && [ $((tries--)) -gt 0 ]; do sleep 0.1; done
	for pid in "${running[@]}"; do kill -KILL -- "-$pid"; done 2>/dev/null
	rm -rf "$work"
}
trap end_all EXIT
trap 'exit 130' INT TERM

# first_of QUEUE: removes its first job and sets picked to it; fails if there is none or it is not built yet.
first_of() {
	local -n queue=$1
	while [ ${#queue[@]} != 0 ]; do
		local i=${queue[0]} needed
		needed=${after[i]}
		[ -z "$needed" ] || [ "${codes[needed]:-}" ] || return 1
		queue=("${queue[@]:1}")
		picked=$i
		[ "$needed" ] && [ "${codes[needed]}" != 0 ] || return 0
		began[i]=0 ended[i]=0 codes[i]=unbuilt
		show_done "${kinds[i]}"
	done
	return 1
}

live_runs() {
	local i
	for i in "${!running[@]}"; do
		[ -z "${is_live[i]:-}" ] || return 0
	done
	return 1
}

# pick: chooses a job that may begin now.
pick() {
	live_runs || ! first_of shared_live || return 0
	! first_of shared_other || return 0
	! first_of light || return 0
	[ ${#shared_live[@]} = 0 ] && [ ${#shared_other[@]} = 0 ] && [ ${#running[@]} = 0 ] && first_of alone
}

# pick_light: chooses one that mostly waits, if none runs.
pick_light() {
	local i
	for i in "${!running[@]}"; do [ -z "${is_light[i]:-}" ] || return 1; done
	[ "$LANES" -gt 1 ] && first_of light
}

# lanes_taken: how many of the lanes are; the job besides them does not count, but a second of its kind does.
lanes_taken() {
	local i n=0 besides=0
	for i in "${!running[@]}"; do
		if [ "${is_light[i]:-}" ] && [ $besides = 0 ] && [ "$LANES" -gt 1 ]; then besides=1; else n=$((n + 1)); fi
	done
	echo $n
}

run_all() {
	local pid rc
	while :; do
		! pick_light || start "$picked"
		while [ "$(lanes_taken)" -lt "$LANES" ] && pick; do start "$picked"; done
		[ ${#running[@]} != 0 ] || break
		wait -n -p pid "${running[@]}" 2>/dev/null
		rc=$?
		finish "${job_of[$pid]}" $rc
	done
}

# add_tally: adds what the run before wrote to TALLY, and writes the sums.
add_tally() {
	local p f s rest
	[ "${TALLY:-}" ] || return 0
	if [ -e "$TALLY" ]; then
		read -r p f s rest <"$TALLY"
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		# shellcheck disable=SC2206
		passed_alone=($rest "${passed_alone[@]}")
		cat "$TALLY.failures" "$failures" 2>/dev/null >"$failures.sum"
		mv "$failures.sum" "$failures"
	fi
	echo "$passed $failed $skipped ${passed_alone[*]}" >"$TALLY"
	cat "$failures" 2>/dev/null >"$TALLY.failures"
}

# Each is named with how often it stands in the list, which a person keeps.
say_passed_alone() {
	local name names= times
	for name in "${passed_alone[@]}"; do
		times=$(grep -cF "| $name |" tests/passed_alone.md 2>/dev/null)
		names+=" $name"
		[ "${times:-0}" = 0 ] || names+=" ($times in tests/passed_alone.md)"
	done
	echo "${#passed_alone[@]} tests passed only alone:$names"
}

# The order in which they run beside the live tests: long ones are not last.
[ $# -gt 0 ] || set -- layers unit cli tools spec live vm san oracle push browser consumers fuzz
for kind; do add_kind "$kind"; done
for kind in "${!order_alone[@]}"; do order[$kind]+=${order_alone[$kind]}; done	# they end last
[ -z "${T:-}" ] || printf '%s\n' "${kinds[@]}" | grep -qvx 'build\|' ||
	{ echo "$0: T=$T names no test. Try: make check ALL=1 LIST=1, which lists all" >&2; exit 2; }
if [ "${LIST:-}" ]; then
	for i in "${!names[@]}"; do [ "${kinds[i]}" = build ] || echo "${names[i]}"; done
	say_unchosen
	exit 0
fi
run_all
for kind in "${!kind_ms[@]}"; do printf '%s %d s\n' "$kind" $(((kind_ms[$kind] + 500) / 1000)); done | sort |
	awk '{ text = text sep $0; sep = ", " } END { if (text) print "time: " text }'
add_tally
[ ! -s "$failures" ] || cat "$failures"
[ ${#passed_alone[@]} = 0 ] || say_passed_alone
say_unchosen
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
