#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/profile src/report formats/trace formats/render src/live
# timeout: 120
# A recording that is divided into parts is read as if it had never been divided: make_parts writes the same records in
# one segment and in several, and every report of both must be the same, byte by byte.
. tests/cli/lib.sh
need_library
run build_with_library "$TMP/make_sim" tests/cli/make_sim.c; exits 0
run build_with_library "$TMP/make_parts" tests/cli/make_parts.c; exits 0
make_fixture "$TMP/fixture.pbz"
cp tests/spec/decode.py tests/spec/pbz.py "$TMP"
cd "$TMP" || exit 1
export PYTHONDONTWRITEBYTECODE=1

# Reports name the file, so both have one name.
mkdir whole parts

# divide FILE SAMPLES: sets NR to the number of parts.
divide() {
	run ./make_parts "$1" whole/t.pbz 0; exits 0
	run ./make_parts "$1" parts/t.pbz "$2"; exits 0
	NR=$(cat stdout)
	did="$1 in parts of $2"
	[ "$NR" -gt 2 ] || wrong "has $NR parts"
	run python3 decode.py --check parts/t.pbz
	# Simulations have few META, and where a chunk holds several scans their receipts come behind all rows.
	grep -v 'META\|walk .* rows, says' stdout >remarks && wrong 'is not as TRACE.md says'
}

# What says how large the file is, which differs.
without_size() { sed '/^size /d; s/"\(size\|unpacked\)_bytes":[0-9]*,*//g'; }

# both COMMAND...: of t.pbz, in both folders.
both() {
	local of
	for of in whole parts; do
		(cd "$of" && "$PROBEE" "$@" >../$of.raw 2>../$of.err)
		echo "exit $?" >>$of.err
		without_size <$of.raw >$of.out
	done
	did="$*"
	cp parts.out stdout
	diff whole.err parts.err >stderr || wrong 'says something else of parts'
	cmp whole.out parts.out >stderr 2>&1 || wrong 'is other than that of the recording in one'
	[ -s whole.out ] || grep -q 'exit [^0]' whole.err || wrong 'is empty'
}

reports() {
	local of
	for of in text collapse csv json pprof speedscope firefox perf-script callgrind svg html waits waits-json; do
		both report -q t.pbz "--$of=-"
	done
	both report --no-pager t.pbz
	both info --no-pager t.pbz
	both info --json t.pbz
	both report -q t.pbz --from 200ms --to 600ms
	both report -q t.pbz --to 300ms --csv
	both report -q t.pbz --by program,thread --inverted
	both report -q t.pbz --include f3
	both report -q t.pbz --event snapshot --csv --wait-columns
	both report -q t.pbz --event snapshot --all-threads
	grep -q 'recordings\|not finished' parts.out && wrong 'takes parts for recordings'
}

run ./make_sim sim.pbz 1 3000; exits 0
divide sim.pbz 250
reports
divide fixture.pbz 2
reports
if can_record; then
	# A part may end before the first scan of a second: rows of scans stand behind the samples of a chunk.
	run "$PROBEE" record -q -d 4 -F 499 --snap-freq 1 --off-cpu -o real.pbz -- sh -c 'while :; do ls -R /usr/lib; done >/dev/null 2>&1'
	exits 0
	# A busy machine has fewer samples.
	run "$PROBEE" info --json real.pbz; exits 0
	divide real.pbz $(($(python3 -c 'import json; print(json.load(open("stdout"))["samples"])') / 8))
	reports
fi

# What a process is becomes known late, and is missing again: all readers count the same processes, threads and functions.
export LATE=1
divide fixture.pbz 2
unset LATE
both report -q t.pbz --by process --collapse
both report -q t.pbz --by program --collapse
both report -q t.pbz --csv
both info --json t.pbz
for view in flame top threads; do both tui --once --no-color --view $view t.pbz; done

# --- what differs: a part that is missing, and a cut in the middle

divide sim.pbz 250
head -c $(($(stat -c %s parts/t.pbz) / 2)) parts/t.pbz >cut.pbz
run "$PROBEE" info --no-pager cut.pbz
exits 0
prints '1 of 1 recordings have no END record'
run "$PROBEE" report cut.pbz
exits 0
says 'the file was cut short'
cat parts/t.pbz sim.pbz parts/t.pbz >three.pbz
run "$PROBEE" info --no-pager three.pbz
exits 0
prints '3 recordings in one file, 3 of them finished'

# What ends with a part lacks nothing, and says that the recording went on. With the beginning of a part that has nothing yet it was cut off.
python3 - parts/t.pbz 2 >first.pbz <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
begins = [i for i in range(len(data)) if data.startswith(b'\x50\x2a\x4d\x18\x23\0\0\0PROBEE-PBZ\0', i)]
sys.stdout.buffer.write(data[:begins[int(sys.argv[2])]])
END
run "$PROBEE" info --no-pager first.pbz
exits 0
prints 'ended     here, with a part of a recording that goes on in another file'
run "$PROBEE" report first.pbz
prints 'the recording goes on in another file'
grep -q 'not finished' "$TMP/stderr" && wrong 'takes a part for a recording that was cut off'
head -c 43 parts/t.pbz >>first.pbz		# the IDENT of a part that has nothing yet
run "$PROBEE" report first.pbz
says 'the recording was not finished'

# Names are added to each part, and the copy has as many.
run ./make_parts sim.pbz t.pbz 250; exits 0
run "$PROBEE" symbolize -q --again t.pbz -o named.pbz
exits 0
run "$PROBEE" report -q t.pbz --collapse; mv stdout before
run "$PROBEE" report -q named.pbz --collapse
cmp before stdout >stderr 2>&1 || wrong 'the copy of parts is another recording'
finish
