#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/trace src/profile src/report src/commands
# timeout: 300
# Traces that stand for far more than their size says (tests/spec/bombs.py): every report of them ends soon and in little
# memory, or refuses with one line. 300 MiB of address space are allowed for the largest, of 3 MB; the time is no figure but
# a guard against reports that do not end. A recording that is large for good reasons is read as a whole.
. tests/cli/lib.sh
command -v python3 >/dev/null && command -v zstd >/dev/null || skip 'needs python3 and zstd'
case $PROBEE in */san/*) address_space=unlimited ;; esac	# sanitizers reserve some
python3 tests/spec/bombs.py "$TMP" >"$TMP/bombs" || { cat "$TMP/bombs"; exit 1; }
[ "$(wc -l <"$TMP/bombs")" -gt 25 ] || { echo 'few bombs'; exit 1; }

limited() {
	ulimit -v "${address_space:-$((300 << 10))}"
	exec timeout 20 "$PROBEE" "$@"
}

# refuses OPTION...: exit 0 or a refusal in one line, but no lack of memory and no end by force.
ends() {
	case $rc in 0 | 1) ;; *) wrong "exit $rc" ;; esac
	[ "$rc" = 0 ] || [ "$(grep -c '^probee: ' "$TMP/stderr")" = 1 ] || grep -q 'bytes were not read' "$TMP/stderr" ||
		wrong 'does not refuse with one line'
	! grep -qi 'memory' "$TMP/stderr" || wrong 'lacks memory'
}

while read -r name _; do
	case $name in
	csv | pairs | distinct) formats='text csv' ;;			# made for what each of these does with them
	rows) formats=speedscope ;;
	names | short-names) formats='svg json collapse' ;;
	comms | inlined) formats='text collapse' ;;
	waits | repeat | threads) formats='waits waits-json svg' ;;
	paths | events) formats=text ;;
	*) formats= ;;
	esac
	for format in $formats; do
		run limited report "$TMP/$name.pbz" --$format; ends
	done
	run limited info "$TMP/$name.pbz"; ends
	run limited symbolize -q "$TMP/$name.pbz" -o "$TMP/named.pbz" --binary-dir /; ends
done <"$TMP/bombs"
# Beside each other: none costs more than it does alone, and the others are there.
mkdir "$TMP/all" && mv "$TMP"/*.pbz "$TMP/all" && mv "$TMP/all/named.pbz" "$TMP"
for bomb in "$TMP"/all/*.pbz; do
	run limited merge -q "$bomb" "$TMP/named.pbz" -o "$TMP/merged.pbz" --force; ends
	for columns in stack container,connection,kind,line; do
		run limited report -q "$bomb" "$TMP/named.pbz" --csv=/dev/null --columns=$columns --all-events
		case $rc in 0 | 1) ;; *) wrong "exit $rc" ;; esac
		! grep -qi 'memory' "$TMP/stderr" || wrong 'lacks memory'
	done
done
mv "$TMP"/all/*.pbz "$TMP"

for name in maps mappings; do
	run limited verify "$TMP/$name.pbz"; exits 1; one_line; says 'Try:'
done

# What was not read, or not told apart, is said, and --strict sees it.
run limited info "$TMP/strings.pbz";                              exits 0; prints 'bytes were not read'
run limited report --strict "$TMP/strings.pbz" --collapse;        exits 3; one_line; says 'bytes were not read'
run limited report --strict "$TMP/pairs.pbz" --collapse;          exits 3
grep -qF '[too many stacks] ' "$TMP/stdout" || wrong 'has no [too many stacks]'
[ "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$TMP/stdout")" = 100000 ] || wrong 'has not all samples'
run limited report "$TMP/csv.pbz" --csv;                          exits 1; one_line; says 'Try:'
run limited report --no-limits "$TMP/clocks.pbz" --collapse;      exits 0

# 100 million rows of threads that sleep are no reason to refuse a trace of 356 kB.
run limited info --json "$TMP/repeat.pbz";                        exits 0; silent; prints '"samples":99700000,'
run limited report "$TMP/repeat.pbz" --text --from 0s;            exits 0; prints '996 snapshots'
finish
