#!/bin/bash
# tests/run.sh counts right: a small tree with one test of every kind of ending.
set -u
tree=$TMP/tree
mkdir -p "$tree/tests/cli"
cp tests/run.sh "$tree/tests/"
cd "$tree" || exit 1

script() { printf '%s\n' '#!/bin/sh' "${@:2}" >"tests/cli/$1.sh"; chmod +x "tests/cli/$1.sh"; }
script passes 'echo not shown'
script fails 'echo the reason' 'exit 3'
script skips 'echo "no such kernel"' 'exit 77'
script tap 'echo 1..4' 'echo "ok 1 - a"' 'echo "ok 2 - b # SKIP no root"' 'echo "not ok 3 - c"' 'echo "ok 4 - d"' 'exit 1'
script dies_early 'echo 1..3' 'echo "ok 1 - a"'
script dies_late 'echo 1..1' 'echo "ok 1 - a"' 'exit 139'
script hangs '# timeout: 1' 'sleep 30'
printf '#!/bin/sh\n' >tests/cli/forgotten.sh
printf 'helper() { :; }\n' >tests/cli/lib.sh

start=$(date +%s)
OUT=$PWD/out tests/run.sh cli >log 2>&1
rc=$?

bad=0
want() { grep -qE "$1" log || { echo "no line like: $1"; bad=1; }; }
[ $rc = 1 ] || { echo "exit $rc, not 1"; bad=1; }
[ "$(tail -n 1 log)" = '5 passed, 6 failed, 2 skipped' ] || { echo "wrong last line"; bad=1; }
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
grep -q 'not shown' log && { echo "a passing test was not silent"; bad=1; }
grep -q 'lib.sh' log && { echo "lib.sh was run"; bad=1; }

rm tests/cli/[!p]*.sh
OUT=$PWD/out tests/run.sh cli >log 2>&1 || { echo "failed although all passed"; bad=1; }
[ "$(tail -n 1 log)" = '1 passed, 0 failed, 0 skipped' ] || { echo "wrong last line of a good run"; bad=1; }

# A fuzz target that finds something exits with 77: that is no skip.
mkdir -p tests/fuzz out/fuzz/tests/fuzz
touch tests/fuzz/fuzz_finds.c tests/fuzz/fuzz_clean.c
for exits in finds:77 clean:0; do
	printf '#!/bin/sh\nexit %s\n' "${exits#*:}" >"out/fuzz/tests/fuzz/fuzz_${exits%:*}"
	chmod +x "out/fuzz/tests/fuzz/fuzz_${exits%:*}"
done
OUT=$PWD/out tests/run.sh fuzz >log 2>&1 && { echo "passed although a fuzz target found something"; bad=1; }
want '^FAIL  fuzz/fuzz_finds'
want '^pass  fuzz/fuzz_clean'
[ $bad = 0 ] || cat log
exit $bad
