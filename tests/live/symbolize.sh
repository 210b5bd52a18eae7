#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/late_names src/symbolize src/commands/cmd_symbolize.c
# beside: live
# Names that are added later: --no-symbolize records addresses alone, and `probee symbolize` names them from files with the
# same build-id, beneath directories that were given and nowhere else.
. "$(dirname "$0")/lib.sh"

add() { run_limited symbolize "$@"; }
nameless() { "$PROBEE" info --json "$1" | python3 -c 'import json,sys; print(json.load(sys.stdin)["frames"]["unnamed"])'; }
nobody() { setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"; }

# Programs at a place of their own, so that no other file has their path.
mkdir bin && cp "$WORKLOADS"/chain30 bin/ && chmod 755 bin bin/chain30
start "$T/bin/chain30"
sample -p "$PID" -F 499 -d 1 --no-symbolize --csv=now.csv -o bare.pbz
check "it records" equal "$RC" 0
sample -p "$PID" -F 499 -d 1 -o full.pbz
finish "$PID"
folded bare.pbz >bare.folded
check "addresses alone: no function has a name" not grep -q 'main\|f30' bare.folded
check "addresses alone: the file and the offset" grep -q '\[chain30+0x[0-9a-f]*\]' bare.folded
check "addresses alone: rows while recording" grep -q '\[chain30+0x[0-9a-f]*\]' now.csv
check "the trace says so" grep -q '^symbols *none$' <("$PROBEE" info bare.pbz)

add bare.pbz -o none.pbz --debug-dir /nonexistent
check "a directory that is not there: no" equal "$RC" 1
add bare.pbz -o none.pbz
check "without a directory no path of the trace is followed" not grep -q "f30" <(folded none.pbz)
check "... and it says what helps" grep -q "chain30 ([0-9]* frames, build-id [0-9a-f]*): no file found. Try: --binary-dir" err
add bare.pbz -o named.pbz --binary-dir /
check "with / it is named" equal "$RC" 0
folded named.pbz >named.folded
folded full.pbz >full.folded
chain=main$(printf ';f%d' {1..30})
check "the chain is the one that was recorded with names" stacks share named.folded "$chain" --of f30 --percent 95
check "inlined functions are there, too" grep -q "f30;burn_\[i\]" <("$PROBEE" report named.pbz --collapse)
check "the trace says when" grep -q '^symbols *late$' <("$PROBEE" info named.pbz)
check "END has the number of nameless frames" equal "$(python3 "$ROOT/tests/spec/decode.py" --check named.pbz >/dev/null; echo $?)" 0
check "same samples" equal "$(stacks total named.folded)" "$(stacks total bare.folded)"
add named.pbz -o twice.pbz --binary-dir /
check "a second time nothing changes" cmp named.folded <(folded twice.pbz)
add full.pbz -o again.pbz --again --binary-dir /
check "--again finds what was found while recording" cmp full.folded <(folded again.pbz)
check "... and the same lines" cmp <("$PROBEE" report full.pbz --json) <("$PROBEE" report again.pbz --json)

# Another file at the path: its build-id decides, wherever it is.
mv bin/chain30 bin/right && cp "$WORKLOADS"/chain30_O0 bin/chain30
add bare.pbz -o other.pbz --binary-dir /
check "another file at the path is not taken" not grep -q "f30" <(folded other.pbz)
check "... and it says so" grep -q 'chain30 .*: the file found is another version' err
mkdir -p moved dbg/.build-id links && cp bin/right moved/chain30
add bare.pbz -o moved.pbz --binary-dir moved
# libc is not there.
check "a directory with the file by its name" cmp <(grep -o ';main;.*' named.folded) <(folded moved.pbz | grep -o ';main;.*')
id=$(readelf -n bin/right | sed -n 's/.*Build ID: //p')
mkdir -p "dbg/.build-id/${id:0:2}" && objcopy --only-keep-debug bin/right "dbg/.build-id/${id:0:2}/${id:2}.debug"
add bare.pbz -o debug.pbz --debug-dir dbg
check "a debug file alone has all names" stacks share <(folded debug.pbz) "$chain" --of f30 --percent 95
ln -s "$T/bin/right" links/chain30
add bare.pbz -o links.pbz --binary-dir links
check "a link out of the directory leads nowhere" not grep -q "f30" <(folded links.pbz)
mkdir fifo && mkfifo fifo/chain30
add bare.pbz -o fifo.pbz --binary-dir fifo
check "what is no file is not opened" equal "$RC:$(folded fifo.pbz | grep -c f30)" 0:0

# Parts of files, several in one, and the command line.
cat bare.pbz bare.pbz >two.pbz
add two.pbz -o two2.pbz --binary-dir moved
check "two recordings in one file" equal "$(nameless two2.pbz)" $((2 * $(nameless moved.pbz)))
head -c $(($(stat -c %s two.pbz) - 40)) two.pbz >cut.pbz	# in the second one
add cut.pbz -o cut2.pbz --binary-dir moved
check "a trace that was cut: says so" grep -q 'cut.pbz was cut short' "$T/err"
check "a trace that was cut" stacks share <(folded cut2.pbz) "$chain" --of f30 --percent 95
check "... and still has no end" grep -q ' 2 recordings in one file, 1 of them finished' <("$PROBEE" info cut2.pbz)
add cut.pbz -o cut3.pbz --binary-dir moved --strict
check "--strict" equal "$RC" 3
"$PROBEE" symbolize - -o - --binary-dir moved <bare.pbz 2>/dev/null >piped.pbz
check "from a pipe into a pipe" cmp <(folded moved.pbz) <(folded piped.pbz)
cp named.pbz same.pbz
add same.pbz -o same.pbz
check "the trace itself is not written" equal "$RC:$(cmp named.pbz same.pbz && echo same)" 1:same
echo text >text && add text -o x.pbz
check "no trace: no file" equal "$RC:$(ls x.pbz 2>/dev/null)" 1:
add named.pbz -o text
check "no other file is replaced" equal "$RC:$(cat text)" 1:text

# An ordinary user needs no right, and the kernel's symbols only where they are hidden.
mkdir -m 777 out && chmod 644 bare.pbz && cat /proc/kallsyms >kallsyms && chmod 644 kallsyms
TIME_LIMIT=40 nobody "$PROBEE" symbolize bare.pbz -o out/user.pbz --binary-dir moved 2>err
check "as an ordinary user" stacks share <(folded out/user.pbz) "$chain" --of f30 --percent 95
sample -a -F 499 -d 1 --no-symbolize -o kernel.pbz
chmod 644 kernel.pbz
add kernel.pbz -o kernel2.pbz
"$PROBEE" report kernel2.pbz --collapse >kernel.folded
check "functions of the running kernel" not grep -q '\[vmlinux+' kernel.folded
nobody "$PROBEE" symbolize kernel.pbz -o out/kallsyms.pbz --kallsyms kallsyms 2>err
check "the same from a copy of its symbols" cmp <(grep -o ';[^;]*_\[k\]' kernel.folded | sort) \
	<("$PROBEE" report out/kallsyms.pbz --collapse | grep -o ';[^;]*_\[k\]' | sort)

# A file that nobody could look at while recording is known by its inode, as long as it has not changed since.
mkdir -m 700 private
cp "$WORKLOADS/chain30" "$PROBEE" private
start "$T/private/chain30" spin
install -m 755 "$PROBEE" probee
two=-all,+bpf,+perfmon
if setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --inh-caps=$two --ambient-caps=$two \
	./probee sample -p "$PID" -F 199 -d 1 -o out/unseen.pbz 2>err; then
	add out/unseen.pbz -o seen.pbz --binary-dir /
	check "a file that could not be read while recording" grep -q ';f30' <(folded seen.pbz)
	touch "$T/private/chain30"
	add out/unseen.pbz -o changed.pbz --binary-dir /
	check "not once it has changed" not grep -q ';f30' <(folded changed.pbz)
	check "which is said" grep -q 'the file found has changed since' err
else
	skip_part "users with cap_bpf and cap_perfmon may not record here"
fi
finish "$PID"
done_testing
