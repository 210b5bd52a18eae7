#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/commands src/output
# timeout: 180
# A recording is made into every kind of output; some outputs cannot be written.
. tests/cli/lib.sh
need_recording
cd "$TMP" || exit 1

# A busy machine may cost a recording some names, which reports then say. One without losses is wanted; -q keeps quiet about them.
quiet=-q
for i in 1 2 3 4; do
	run probee sample -F 199 -d 2 -o t.pbz -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
	exits 0
	[ -s t.pbz ] || { wrong 'writes no trace'; finish; }
	! "$PROBEE" report t.pbz --strict --collapse >strict.out 2>&1 || { quiet=; break; }
done

run probee report t.pbz $quiet --collapse;     exits 0; silent
grep -qE '^[^ ].* [0-9]+$' stdout || wrong 'has no folded stack'
run probee report t.pbz $quiet --json;         exits 0; silent
run probee report t.pbz $quiet --svg;          exits 0; silent; prints '<svg'
run probee report t.pbz $quiet --csv;          exits 0; silent
run probee report t.pbz $quiet --text;         exits 0; silent
run probee report t.pbz --svg=x.svg;    exits 0; grep -q '</svg>' x.svg || wrong 'writes no whole picture'
run probee report --svg y.svg t.pbz;    exits 0; cmp -s x.svg y.svg || wrong 'draws another picture'
run probee report --no-such t.pbz;      exits 2
run probee report t.pbz --svg=/nonexistent/x.svg; exits 1; one_line; says '/nonexistent/x.svg'

run bash -c '"$PROBEE" report t.pbz -q --json >/dev/full'; exits 1; one_line; says 'No space left'
run bash -c '"$PROBEE" report t.pbz -q --collapse >&-';    exits 1; one_line
run bash -c '"$PROBEE" report t.pbz -q --json | head -c 1 >/dev/null; echo "${PIPESTATUS[0]}"'; silent; prints 0

run probee sample -d 1 -o /dev/full -- true;            [ "$rc" != 0 ] || wrong 'does not notice a full disk'
run probee sample -d 1 -o /nonexistent/t.pbz -- true;   exits 1; one_line; says '/nonexistent/t.pbz'
run probee sample -d 1 -o u.pbz -- ./no-such-command;   [ "$rc" != 0 ] || wrong 'does not notice a missing command'
says 'no-such-command'
finish
