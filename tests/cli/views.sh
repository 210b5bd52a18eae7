#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/profile src/report formats/render src/commands
# Views and filters of a report: each shows the same samples, so all sums are equal; what filters leave out is left out of
# every format; and -o chooses the format by the name.
. tests/cli/lib.sh
CC=${CC:-cc}
make_trace=$TMP/make_trace
run "$CC" -std=gnu11 -O1 -D_GNU_SOURCE -I. -o "$make_trace" tests/bench/make_trace.c "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 \
	-lseccomp -lcap-ng -lpthread
exits 0
run "$make_trace" "$TMP/t.pbz" 5000 200
exits 0

sum_of() { "$PROBEE" report "$TMP/t.pbz" --collapse "$@" | awk '{ s += $NF } END { printf "%.0f\n", s }'; }
same() { [ "$1" = "$2" ] || { echo "$3: $1, not $2"; failed=1; }; }
failed=0

for view in '' '--by process' '--by process,thread' '--by cpu,state' '--by none' '--by user,cgroup' '--inverted' \
	'--inverted --by thread' '--collapse-recursion' '--merge line' '--merge address' '--no-inline' '--all-threads'; do
	# shellcheck disable=SC2086  # words
	same "$(sum_of $view)" 5000 "report $view"
done

# A function and its complement are the whole.
name=$("$PROBEE" report "$TMP/t.pbz" --collapse | awk 'NR == 50' | sed 's/ [0-9]*$//; s/.*;//; s/_\[k\]$//')
with=$(sum_of --include "^\\Q$name\\E\$") without=$(sum_of --exclude "^\\Q$name\\E\$")
[ "$with" -gt 0 ] || { echo "no sample has $name"; failed=1; }
same $((with + without)) 5000 "--include and --exclude $name"
# Its callers and its callees are the samples whose stacks have it.
same "$(sum_of --callers "$name")" "$with" "--callers $name"
same "$(sum_of --callees "$name")" "$with" "--callees $name"
same "$(sum_of --callees "$name" --inverted)" "$with" "--callees $name --inverted"
same "$("$PROBEE" report "$TMP/t.pbz" --callers "$name" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["value"])')" \
	"$("$PROBEE" report "$TMP/t.pbz" --include "^\\Q$name\\E\$" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["value"])')" \
	"weight in JSON"

run "$PROBEE" report "$TMP/t.pbz" --by process,nothing
exits 2; says "'nothing' is no level"
run "$PROBEE" report "$TMP/t.pbz" --include '('
exits 2; says 'is no regular expression'
run "$PROBEE" report "$TMP/t.pbz" --callers a --callees b
exits 2; says 'different parts'
run "$PROBEE" report "$TMP/t.pbz" --callers 'no such function'
exits 1; says "no function is called 'no such function'"
run "$PROBEE" report "$TMP/t.pbz" --include 'no such function'
exits 1; says 'no sample passes: the trace has no stack with a name that --include finds'

run "$PROBEE" report "$TMP/t.pbz" -o "$TMP/a.svg" -o "$TMP/a.folded" -o "$TMP/waits.json.txt"
exits 0
head -c 5 "$TMP/a.svg" | grep -q '<?xml' || { echo "-o a.svg is no SVG"; failed=1; }
cmp "$TMP/a.folded" <("$PROBEE" report "$TMP/t.pbz" --collapse) || failed=1
grep -q '^title ' "$TMP/waits.json.txt" || { echo '-o x.json.txt is no text'; failed=1; }
run "$PROBEE" report "$TMP/t.pbz" -o "$TMP/a.xyz"
exits 2; says 'no report has this one. Try: one of .svg'
[ $failed = 0 ] || exit 1
finish
