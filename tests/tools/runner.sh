#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: tests/run.sh tests/choose.sh
# core: yes
# tests/run.sh counts right: a small tree with one test of every kind of ending. And it runs two tests at a time, but those
# that need it alone; shows them in order; and ends what it started.
set -u
unset BUILD LANES FUZZ_TOTAL RETRY_UNTIL T CHANGED CHECK TALLY LIST	# of the run that this test is part of
export RETRIES=0
tree=$TMP/tree
mkdir -p "$tree/tests/cli"
cp tests/run.sh tests/choose.sh "$tree/tests/"
cd "$tree" || exit 1

script() { printf '%s\n' '#!/bin/sh' "${@:2}" >"tests/cli/$1.sh"; chmod +x "tests/cli/$1.sh"; }
script passes 'echo not shown'
script fails 'echo the reason' 'exit 3'
script skips 'echo "no such kernel"' 'exit 77'
script tap 'echo 1..4' 'echo "ok 1 - a"' 'echo "ok 2 - b # SKIP no root"' 'echo "not ok 3 - c"' 'echo "ok 4 - d"' 'exit 1'
script dies_early 'echo 1..3' 'echo "ok 1 - a"'
script dies_late 'echo 1..1' 'echo "ok 1 - a"' 'exit 139'
printf '%s\n' '#!/bin/bash' 'echo "ok 1 - a"' 'echo "ok 2 - $((1.5 + 1))"' 'echo 1..1' >tests/cli/unread.sh; chmod +x tests/cli/unread.sh
script hangs '# timeout: 1' 'sleep 30'
printf '#!/bin/sh\n' >tests/cli/forgotten.sh
printf 'helper() { :; }\n' >tests/cli/lib.sh

start=$(date +%s)
OUT=$PWD/out tests/run.sh cli >log 2>&1
rc=$?

bad=0
want() { grep -qE "$1" log || { echo "no line like: $1"; bad=1; }; }
[ $rc = 1 ] || { echo "exit $rc, not 1"; bad=1; }
[ "$(tail -n 1 log)" = '6 passed, 7 failed, 2 skipped' ] || { echo "wrong last line"; bad=1; }
[ $(($(date +%s) - start)) -lt 15 ] || { echo "the time limit did not work"; bad=1; }
want '^pass  cli/passes.sh'
want '^FAIL  cli/fails.sh .*exit 3'
want '^    the reason'
want '^skip  cli/skips.sh .*no such kernel'
want '^    ok 2 - b # SKIP no root'
want '^FAIL  cli/dies_early.sh'
want '^FAIL  cli/dies_late.sh'
want '^    \(out of time\)'
want '^FAIL  cli/forgotten.sh'
want '^FAIL  cli/unread.sh'
want '^    not ok - the shell: .*syntax error'
[ "$(sed -n '/^failed: cli\/tap.sh$/,/^failed: cli/p' log | sed -n 2p)" = "    failed 3 - c" ] || { echo "failures are not named at the end"; bad=1; }
want '^failed: cli/fails.sh'
grep -q 'not shown' log && { echo "a passing test was not silent"; bad=1; }
grep -q 'lib.sh' log && { echo "lib.sh was run"; bad=1; }

rm tests/cli/[!p]*.sh
OUT=$PWD/out tests/run.sh cli >log 2>&1 || { echo "failed although all passed"; bad=1; }
[ "$(tail -n 1 log)" = '1 passed, 0 failed, 0 skipped' ] || { echo "wrong last line of a good run"; bad=1; }

# One that fails beside others is run once more at the end: here each fails the first time, and one fails every time.
script once "[ -e $PWD/twice ] || { touch $PWD/twice; echo 'not ok 1 - busy'; exit 1; }" 'echo "ok 1 - quiet"'
script never 'echo 1..2' 'echo "ok 1 - a"' 'echo "not ok 2 - broken"' 'exit 1'
RETRIES=10 OUT=$PWD/out tests/run.sh cli >log 2>&1 && { echo "passed although one fails each time"; bad=1; }
want '^pass  cli/once.sh'
want '^    first run: failed 1 - busy'
want '^FAIL  cli/never.sh'
want '^1 tests passed only alone: cli/once.sh'
[ "$(tail -n 1 log)" = '3 passed, 1 failed, 0 skipped' ] || { echo "wrong last line after a second run"; cat log; bad=1; }
rm "$PWD/twice"
OUT=$PWD/out tests/run.sh cli >log 2>&1 && { echo "ran it again although RETRIES is 0"; bad=1; }
[ "$(tail -n 1 log)" = '2 passed, 2 failed, 0 skipped' ] || { echo "wrong last line without a second run"; bad=1; }
rm tests/cli/once.sh tests/cli/never.sh "$PWD/twice"

# A fuzz target that finds something exits with 77: that is no skip.
mkdir -p tests/fuzz out/fuzz/tests/fuzz
touch tests/fuzz/fuzz_finds.c tests/fuzz/fuzz_clean.c
for exits in finds:77 clean:0; do
	printf '#!/bin/sh\necho "$@"\n[ %s = 0 ] || touch crash-1\nexit %s\n' "${exits#*:}" "${exits#*:}" >"out/fuzz/tests/fuzz/fuzz_${exits%:*}"
	chmod +x "out/fuzz/tests/fuzz/fuzz_${exits%:*}"
done
OUT=$PWD/out tests/run.sh fuzz >log 2>&1 && { echo "passed although a fuzz target found something"; bad=1; }
want '^FAIL  fuzz/fuzz_finds'
want '^pass  fuzz/fuzz_clean'
[ -e out/fuzz/found/crash-1 ] || { echo "what fuzzing found is not kept"; bad=1; }
FUZZ_SECONDS=7 FUZZ_TOTAL=6 OUT=$PWD/out tests/run.sh fuzz >log 2>&1
want 'max_total_time=3 '

# Two at a time: each of these waits for the other. One quiet test beside them would see them; the slow one is shown first.
rm -rf tests/fuzz tests/cli
mkdir -p tests/cli tests/live
seen=$PWD/seen
mkdir "$seen"
meet() { echo "touch $seen/$1; for i in \$(seq 40); do [ -e $seen/$2 ] && exit; sleep 0.05; done; exit 1"; }
running() { echo "mkdir $seen/running.$1 || exit 1; sleep $2; rmdir $seen/running.$1"; }
script a_slow "$(meet a b)" 
sed -i '2s/exit;/break;/; 2s/; exit 1//' tests/cli/a_slow.sh
echo "[ -e $seen/b ] || exit 1; sleep 0.5" >>tests/cli/a_slow.sh
script b_quick "$(meet b a)"
script c_quiet '# needs: quiet' "[ -z \"\$(ls -d $seen/running.* 2>/dev/null)\" ] || exit 1" "$(running quiet 0.3)"
script d_other "[ ! -e $seen/running.quiet ] || exit 1" "$(running d 0.1)"
script e_tmp 'rmdir "$TMP" && mkdir "$TMP"' "sh -c 'kill -INT \$\$; exit 0' && exit 1; exit 0"
mv tests/cli/d_other.sh tests/live/
sed 's/running.d/running.live/g; s/sleep 0.1/sleep 0.5/' tests/live/d_other.sh >tests/live/f_live.sh	# both would make the same directory
sed 's/running.d/running.live/g; s/sleep 0.1/sleep 0.5/' tests/live/d_other.sh >tests/live/g_live.sh
chmod +x tests/live/*.sh
for lanes in 2 1; do
	rm -f "$seen"/[ab]
	LANES=$lanes OUT=$PWD/out tests/run.sh cli live >log 2>&1
	rc=$?
	[ "$(sed '/^failed/d' log | grep -o 'cli/[a-e]' | tr -d '\n')" = cli/acli/bcli/ecli/c ] || { echo "not in order with $lanes lanes"; bad=1; }
	if [ $lanes = 2 ]; then
		[ $rc = 0 ] || { echo "failed: two at a time"; bad=1; }
	else
		[ "$(grep -c '^FAIL' log)" = 1 ] || { echo "not one at a time"; bad=1; }
	fi
	[ $bad = 0 ] || cat log
done

# Two live tests meet if one of them says that it may be beside another.
rm tests/live/*.sh
script h_beside '# beside: live' "$(meet h i)"
script i_live "$(meet i h)"
mv tests/cli/[hi]_*.sh tests/live/
LANES=2 OUT=$PWD/out tests/run.sh live >log 2>&1 || { echo "live tests do not run beside each other"; cat log; bad=1; }

# What cannot be built fails, once, and its tests do not run.
printf 'all tests:\n\t@echo no such luck; exit 1\n' >Makefile
mkdir -p tests/unit
touch tests/unit/test_x.c
BUILD=1 OUT=$PWD/out tests/run.sh san >log 2>&1 && { echo "passed although nothing was built"; bad=1; }
want '^FAIL  build/san .*exit 2'
want '^    no such luck'
want '^none  san/test_x .*not built'
[ "$(tail -n 1 log)" = '0 passed, 1 failed, 0 skipped' ] || { echo "wrong last line of a build that failed"; bad=1; }

# Chosen tests: by name, by what a usual check has, and by what is changed.
rm -rf tests/cli tests/unit tests/live
mkdir -p tests/cli tests/live tests/unit tests/workloads src/a src/b out/tests/unit
script one '# covers: src/a' '# core: yes' 'exit 0'
script two '# covers: src/b/b.c' 'exit 0'
script three '# covers: tests/x' '# runs the workload burn' '# core: SHARE=9' '[ "${SHARE:-}" = 9 ]'
touch tests/unit/test_a.c tests/unit/test_c.c tests/workloads/burn.c src/a/a.c src/a/a.h src/b/b.c src/b/bb.c
echo 'x: tests/unit/test_a.c src/b/c.h' >out/tests/unit/test_a.d
echo 'x: tests/unit/test_c.c src/a/a.h' >out/tests/unit/test_c.d
git init -q . && git add -A . && git -c user.name=x -c user.email=x@x commit -q -m x
# chosen WANT SETTING...: the names of the tests that are chosen, in the order of their kinds.
chosen() {
	local got want=$1
	shift
	got=$(env "$@" BUILD=1 LIST=1 OUT="$PWD/out" tests/run.sh cli unit live 2>&1 | tr '\n' ' ')
	[ "$got" = "$want" ] || { echo "$*: '$got', not '$want'"; bad=1; }
}
chosen 'cli/two.sh ' T=cli/two
chosen 'tests/run.sh: T=cli/twoo names no test. Try: make check ALL=1 LIST=1, which lists all ' T=cli/twoo
chosen 'cli/one.sh unit/test_c ' 'T=cli/o* unit/test_c'
chosen 'cli/one.sh cli/three.sh ' CHECK=core
chosen 'cli/three.sh cli/two.sh unit/test_a unit/test_c ' CHECK=rest
chosen '' CHANGED=1
echo >>src/a/a.c
chosen 'cli/one.sh unit/test_a unit/test_c ' CHANGED=1
git checkout -q src
echo >>src/b/b.c
echo >>src/b/bb.c
chosen 'cli/two.sh covered by no test: src/b/bb.c  ' CHANGED=1
git checkout -q src
echo >>tests/workloads/burn.c
chosen 'cli/three.sh ' CHANGED=HEAD
git checkout -q tests
echo >>tests/cli/two.sh
touch src/b/c.h
chosen 'cli/two.sh unit/test_a unit/test_c ' CHANGED=1
chosen 'tests/run.sh: CHANGED=nothing is no commit of this tree ' CHANGED=nothing

# Two runs that are counted together.
script bad 'echo "not ok 1 - broken"' 'exit 1'
TALLY=$PWD/tally T=cli/bad OUT=$PWD/out tests/run.sh cli >log 2>&1
[ "$(tail -n 1 log)" = '0 passed, 1 failed, 0 skipped' ] || { echo "wrong last line of the first of two"; bad=1; }
TALLY=$PWD/tally T=cli/one OUT=$PWD/out tests/run.sh cli >log 2>&1 && { echo "passed although the run before failed"; bad=1; }
[ "$(tail -n 1 log)" = '1 passed, 1 failed, 0 skipped' ] || { echo "wrong last line of both"; bad=1; }
want '^failed: cli/bad.sh'
CHECK=core OUT=$PWD/out tests/run.sh cli >log 2>&1 || { echo "a setting of a usual check is missing"; bad=1; }
CHECK=rest T=cli/three OUT=$PWD/out tests/run.sh cli >log 2>&1 && { echo "a setting of a usual check is there in another"; bad=1; }

# Ended by Ctrl-C, or by a signal: nothing that it started goes on, and its directory is gone.
rm -rf tests/cli tests/unit
mkdir -p tests/cli temporary
runs() { grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null; }
script long "echo \$\$ >$seen/long" "sh -c 'trap \"\" TERM; echo \$\$ >$seen/child; exec sleep 987'"
for signal in INT TERM; do
	rm -f "$seen/child"
	set -m			# else it would not hear SIGINT
	TMPDIR=$PWD/temporary OUT=$PWD/out tests/run.sh cli >log 2>&1 &
	echo $! >"$seen/runner"
	set +m
	for i in $(seq 100); do [ ! -s "$seen/child" ] || break; sleep 0.05; done
	kill -$signal "$(cat "$seen/runner")"
	( sleep 10; kill -KILL "$(cat "$seen/runner")" ) 2>/dev/null &
	wait "$(cat "$seen/runner")"
	[ $? = 130 ] || { echo "SIG$signal: another exit status"; bad=1; }
	kill $! 2>/dev/null
	for who in runner long child; do
		for i in $(seq 20); do runs "$(cat "$seen/$who")" || continue 2; sleep 0.05; done
		echo "SIG$signal leaves $who running"
		kill -KILL "$(cat "$seen/$who")"
		bad=1
	done
	[ -z "$(ls temporary)" ] || { echo "SIG$signal leaves its directory behind"; bad=1; }
done
[ $bad = 0 ] || cat log
exit $bad
