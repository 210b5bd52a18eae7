#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/report_follow.c formats/trace src/profile src/report
# light: yes
# san: no
# probee report --follow of traces that grow, are replaced, are cut, or end; and times before the end of a trace.
# timeout: 120
. tests/cli/lib.sh
need_library
run build_with_library "$TMP/make_trace" tests/bench/make_trace.c; exits 0
make_fixture "$TMP/fixture.pbz"
run "$TMP/make_trace" "$TMP/full.pbz" 100000; exits 0
run "$TMP/make_trace" "$TMP/other.pbz" 50000; exits 0
half=$(($(stat -c %s "$TMP/full.pbz") / 2))
cd "$TMP" || exit 1
head -c $half full.pbz >half.pbz
old() { touch -d '1 minute ago' "$1"; }

# until_true COMMAND...: must succeed within 10 s.
until_true() {
	for _ in $(seq 200); do "$@" 2>/dev/null && return; sleep 0.05; done
	wrong "waited in vain: $*"
}
reports() { [ "$(grep -c '^shown' "$1")" -ge "$2" ]; }

# follow FILE OPTION...: in the background, output in followed and followed.err; sets follower.
follow() {
	did="report --follow $*"
	timeout 30 "$PROBEE" report --follow "$@" >followed 2>followed.err &
	follower=$!
}

# ends_as TRACE: following ends, and the last report equals that of TRACE.
ends_as() {
	wait "$follower"
	rc=$?
	cp followed.err stderr
	cp followed stdout
	exits 0
	"$PROBEE" report "$1" >want 2>/dev/null
	tail -n "$(wc -l <want)" followed | cmp -s - want || wrong "does not end with the report of $1"
}

# A trace that has ended is shown once.
old full.pbz
run probee report full.pbz; exits 0; cp stdout once; cp stderr once.err
run probee report --follow full.pbz; exits 0
cmp -s stdout once || wrong 'is another report than without --follow'
cmp -s stderr once.err || wrong 'says something else than without --follow'

# The file does not exist yet; then it ends within a frame; then it is complete.
follow grow.pbz
until_true grep -q 'waiting for grow.pbz' followed.err
head -c 40 full.pbz >grow.pbz
sleep 0.5
head -c $half full.pbz >grow.pbz
until_true reports followed 1
tail -c +$((half + 1)) full.pbz >>grow.pbz
ends_as full.pbz
first=$(sed -n '/^samples/ { s/.* in \([0-9,]*\) samples.*/\1/p; q }' followed | tr -d ,)
[ "$first" -gt 0 ] && [ "$first" -lt 100000 ] || wrong "the first report has $first samples"
grep -qx '' <(sed -n "/^samples/,/^shown/p" followed) || wrong 'no empty line between two reports'

# What matches nothing yet may come: it is waited for in silence, and said once the recording has ended.
cp half.pbz grow.pbz
follow grow.pbz --event late-event
sleep 1.5
kill -0 $follower 2>/dev/null || wrong 'ends before the recording has'
tail -c +$((half + 1)) full.pbz >>grow.pbz
wait "$follower"
rc=$?
cp followed.err stderr
cp followed stdout
exits 1
one_line
says 'no such event'
[ ! -s followed ] || wrong 'shows something all the same'

# The file is replaced by another recording, and a new recording begins in the same file.
cp half.pbz grow.pbz
follow grow.pbz
until_true reports followed 1
head -c $(($(stat -c %s other.pbz) * 3 / 4)) other.pbz >new.pbz
mv new.pbz grow.pbz
until_true reports followed 2
: >grow.pbz
sleep 0.5
cat other.pbz >grow.pbz
ends_as other.pbz

# A trace without an END record and without a recorder.
cp half.pbz killed.pbz
old killed.pbz
run timeout 10 "$PROBEE" report --follow killed.pbz; exits 0; says 'no recorder has it open'
[ "$(grep -c '^shown' stdout)" = 1 ] || wrong 'is shown more than once'
run timeout 10 "$PROBEE" report --follow --strict killed.pbz; exits 3

# Ctrl-C, and a reader that goes away, while the file seems to grow.
touch -d '1 hour' half.pbz
run timeout -s INT --preserve-status 1.5 "$PROBEE" report --follow half.pbz; exits 0; prints 'shown'
run timeout -s INT --preserve-status 1 "$PROBEE" report --follow none.pbz; exits 1; one_line; says 'waiting for none.pbz'
run timeout 10 bash -c '"$PROBEE" report --follow half.pbz | head -n 1; echo "${PIPESTATUS[0]}"'; silent; prints 0
run timeout 10 bash -c '"$PROBEE" report --follow half.pbz >&-'; exits 1; one_line

# Files that cannot be followed.
mkdir dir.pbz
head -c 1000 /dev/urandom >noise.pbz
mkfifo fifo.pbz
for bad in dir.pbz fifo.pbz /dev/null noise.pbz; do
	run timeout 10 "$PROBEE" report --follow $bad; exits 1; one_line; says $bad
done
run timeout 10 "$PROBEE" report --follow - <full.pbz; exits 1; one_line; says 'regular file'

# A terminal shows one screen, and in the end all.
if command -v script >/dev/null; then
	cp half.pbz grow.pbz
	did='report --follow on a terminal'
	timeout 30 script -qefc "stty rows 12 cols 100; '$PROBEE' report --follow grow.pbz --top 20" typed >/dev/null </dev/null &
	until_true grep -q 'cpu-clock' typed
	sleep 1
	grep -q 'call tree' typed && wrong 'shows more than the screen has room for'
	cp full.pbz grow.pbz
	wait $!
	grep -q 'call tree' typed || wrong 'does not show all in the end'
	grep -q $'\033\\[H' typed || wrong 'does not go back to the top'
fi

# Times before the end of the trace, at 41 ms: of 5 samples of CPU time, at 10, 20, 21, 30 and 31 ms.
passes() { run probee report "$TMP/fixture.pbz" "${@:2}"; exits 0; prints "the filters left $1 of 5 samples"; }
passes 2 --from -11ms
passes 2 --from=-11ms
passes 1 --from -10ms
passes 2 --from -11ms --to -1ms
passes 2 --from 5ms --to -15ms
run probee report fixture.pbz --weight wall --to=-0; exits 0; prints 'the filters left 2 of 3 thread states'
run probee report fixture.pbz --from -1ms; exits 1; says 'no sample passes'
run probee report fixture.pbz --from -1h; exits 0; prints 'in 5 samples; '
run probee report fixture.pbz --from -1hour; exits 2; one_line; says '--from'
finish
