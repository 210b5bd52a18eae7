#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/trace src/model tests/spec
# timeout: 240
# The trace format as its page says it: decode.py, a reader written from formats/trace/TRACE.md alone, and
# probee must see the same in real traces, in the fixture trace and in those that forge.py makes by the page.
. tests/cli/lib.sh
SPEC=tests/spec
CC=${CC:-gcc}
export PYTHONDONTWRITEBYTECODE=1

command -v zstd >/dev/null || skip 'zstd is not installed'

decode() { python3 $SPEC/decode.py "$@"; }

# The numbers that both print: samples, walks, lost, damaged, truncated, END records missing, then "end NAME N" lines.
numbers_of_info() {
	awk '/^samples /{n["samples"] = $2} /^snapshots /{n["walks"] = $2 + 0} / of the file.s chunks (is|are) damaged/{n["damaged"] = $1}
		/ the file was cut short/{n["truncated"] = 1} / have no END record/{n["without_end"] = $1}
		/^$/{part = ""} /^losses$/{part = "lost"; next} /^how user stacks ended$/{part = "end"; next}
		part == "lost" && $1 ~ /^[0-9]+$/ && NF == 2 {n["lost"] += $1}
		part == "end"{print "end", $4, $1}
		END {for (k in n) if (n[k]) print k, n[k]}' | sort
}
numbers_of_stats() {
	awk '/^(samples|walks|damaged|truncated|without_end|lost) / && $2 || /^end /' | sort
}

# Time apart, which is local in one and monotonic in the other: a row's thread, state and kernel functions.
# (A CSV puts a quote before what a spreadsheet would take for a formula: ruby calls its threads -e:1.)
rows_of_csv() { sed -E "s/\+0x[0-9a-f]+(;|\||$)/\1/g; s/\|'([-=+@])/|\1/g" | awk -F'|' -v OFS='|' '{print $2, $3, $4, $5, $7}' | sort; }
rows_of_decode() { sed 's/_\[k\]//g' | awk -F'\t' -v OFS='|' '{print $2, $3, $4, $5, $7}' | sort; }

# same FILE: probee sees what decode.py left in $TMP/FILE.stats and $TMP/FILE.folded.
same() {
	local seen=$TMP/${1##*/}
	did="$1"
	: >"$TMP/stdout"
	"$PROBEE" report -q "$1" --collapse >"$TMP/folded" 2>"$TMP/stderr"
	[ $? = 0 ] || wrong 'probee report fails'
	cmp "$seen.folded" "$TMP/folded" >"$TMP/stderr" 2>&1 || wrong 'other folded stacks'
	"$PROBEE" report -q "$1" --collapse --lines >"$TMP/lines" 2>"$TMP/stderr"
	cmp "$seen.lines" "$TMP/lines" >"$TMP/stderr" 2>&1 || wrong 'other lines'
	"$PROBEE" info "$1" 2>"$TMP/stderr" | numbers_of_info >"$TMP/info"
	numbers_of_stats <"$seen.stats" >"$TMP/stats"
	diff "$TMP/info" "$TMP/stats" >"$TMP/stderr" || wrong 'other numbers (<: probee info)'
}

agree() {
	run decode --into "$TMP" "$1"
	exits 0
	same "$1"
}

agree_on_rows() {
	did="$1"
	"$PROBEE" report -q "$1" --csv 2>"$TMP/stderr" | rows_of_csv >"$TMP/csv"
	decode --rows "$1" | rows_of_decode >"$TMP/rows"
	diff "$TMP/csv" "$TMP/rows" >"$TMP/stderr" || wrong 'other rows (<: probee report --csv)'
}

# by_the_page FILE [PATTERN]: the writer did what the page says; PATTERN: remarks that do not count.
by_the_page() {
	run decode --check "$1"
	grep -v "${2:-^$}" "$TMP/stdout" >"$TMP/remarks" && wrong 'is not as TRACE.md says'
	# The page says that a trace can be taken apart without its SIGNPOSTs.
	zstd -dcq <"$1" | decode --raw --collapse - >"$TMP/raw" 2>"$TMP/stderr"
	decode --collapse "$1" | cmp - "$TMP/raw" >"$TMP/stderr" 2>&1 || wrong 'reads otherwise from zstd -dc'
}

# --- the page names every record type that probee has

did=TRACE.md
while IFS='(, ' read -r _ number _ name _; do
	[ "$name" != SAMPLE ] || name=SAMPLES
	grep -qE "^##+ [0-9.]+ $name \($number\)" formats/trace/TRACE.md || wrong "has no section of $name ($number)"
done < <(sed -nE 's/^(RECORD|DEFINITION)\(([0-9]+), *([A-Z]+),.*/RECORD \2 x \3 x/p' src/model/records.def)

# --- the fixture trace

cat >"$TMP/fixture.c" <<'END'
#include "tests/unit/trace_fixture.h"
int main(int argc, char **argv) { return argc != 2 || trace_fixture_write(argv[1]) ? 1 : 0; }
END
run "$CC" -std=gnu11 -D_GNU_SOURCE -I. -o "$TMP/fixture" "$TMP/fixture.c" "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread
exits 0
run "$TMP/fixture" "$TMP/fixture.pbz"
exits 0
agree "$TMP/fixture.pbz"
agree_on_rows "$TMP/fixture.pbz"
by_the_page "$TMP/fixture.pbz" 'META'	# it has few of them
did='fixture trace'
[ "$(decode --stats "$TMP/fixture.pbz" | grep -cE '^(samples 8|lost 9|walks 1)$')" = 3 ] || wrong 'other numbers'
decode --collapse "$TMP/fixture.pbz" | cmp - tests/golden/fixture.folded || wrong 'other than the golden file'

# --- good and bad traces made by the page

mkdir "$TMP/forged"
did='forge.py'
python3 $SPEC/forge.py "$TMP/forged" >"$TMP/cases" || wrong 'fails'
[ "$(wc -l <"$TMP/cases")" -gt 100 ] || wrong 'makes too few'
decode --into "$TMP" "$TMP"/forged/*.pbz
while read -r name samples damaged truncated refused; do
	f=$TMP/forged/$name.pbz
	did=$f
	: >"$TMP/stdout"
	seen=$(awk '$1 ~ /^(samples|damaged|truncated|refused)$/{v[$1] = $2}
		END {print v["samples"], v["damaged"], v["truncated"], v["refused"]}' "$TMP/$name.pbz.stats")
	[ "$seen" = "$samples $damaged $truncated $refused" ] ||
		wrong "decode.py: samples, damaged, truncated, refused are $seen, not $samples $damaged $truncated $refused"
	if [ "$refused" = 0 ]; then
		same "$f"
	else
		run timeout 10 "$PROBEE" report -q "$f" --collapse
		exits 1
		one_line
		says newer
		[ ! -s "$TMP/stdout" ] || wrong 'prints something all the same'
	fi
done <"$TMP/cases"

# --- copies with names: what is damaged or left out stays so, and all else is there
mkdir "$TMP/copies" "$TMP/copied"
for name in ids-left-out lost-chunk lost-first lost-parent last-rejected odd-end id-jump frames-too-many forward-frame \
	forward-func symbol-of-none inline-257 repeat-no-row repeat-part repeat-over-ident repeat-over-lost-chunk \
	repeat-over-broken repeat-2^23-rows chunk-seq chunk-segment seq-again lenient-after data-cut; do
	run timeout 10 "$PROBEE" symbolize -q --again "$TMP/forged/$name.pbz" -o "$TMP/copies/$name.pbz"
	exits 0
done
decode --into "$TMP/copied" "$TMP"/copies/*.pbz
while read -r name samples damaged _; do
	did="copy of $name"
	[ -e "$TMP/copies/$name.pbz" ] || continue
	seen=$(awk '$1 == "samples" { s = $2 } $1 == "damaged" { d = $2 > 0 } END { print s, d }' "$TMP/copied/$name.pbz.stats")
	[ "$seen" = "$samples $((damaged > 0))" ] || wrong "samples, and whether chunks are missing: $seen, not $samples $((damaged > 0))"
done <"$TMP/cases"

# --- real traces

record() {
	local file=$1 command=$2
	shift 2
	run timeout 60 "$PROBEE" "$command" -o "$file" "$@"
	exits 0
	[ -s "$file" ] || { wrong 'records nothing'; return 1; }
	agree "$file"
	agree_on_rows "$file"
	by_the_page "$file"
}
if can_record && record "$TMP/sample.pbz" sample -a -d 1; then
	record "$TMP/snapshot.pbz" snapshot -a -i 3
	record "$TMP/fp.pbz" sample -a -d 1 -F 299 --unwind fp
	record "$TMP/command.pbz" sample -F 299 -d 5 -- sh -c 'for i in 1 2 3 4; do ls -R /usr/share; done >/dev/null'
	cat "$TMP/sample.pbz" "$TMP/snapshot.pbz" >"$TMP/both.pbz"
	agree "$TMP/both.pbz"
	head -c "$(($(stat -c %s "$TMP/both.pbz") - 100))" "$TMP/both.pbz" >"$TMP/cut.pbz"
	agree "$TMP/cut.pbz"
fi
finish
