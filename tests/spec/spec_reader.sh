#!/bin/bash
# timeout: 240
# The trace format as its page says it: decode.py, a reader written from formats/trace/TRACE.md alone, and
# probee must see the same in real traces, in the fixture trace and in those that forge.py makes by the page.
. tests/cli/lib.sh
SPEC=tests/spec
CC=${CC:-gcc}
export PYTHONDONTWRITEBYTECODE=1

command -v zstd >/dev/null || skip 'zstd is not installed'
command -v python3 >/dev/null || skip 'python3 is not installed'
has_command report && has_command info || skip 'probee report or probee info is not built'

decode() { python3 $SPEC/decode.py "$@"; }

# The numbers that both print: samples, walks, lost, damaged, truncated, END records missing, then "end NAME N" lines.
numbers_of_info() {
	awk '/^samples /{n["samples"] = $2} /^walks /{n["walks"] = $2} / chunks are damaged/{n["damaged"] = $1}
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
rows_of_csv() { sed -E '1d; s/\+0x[0-9a-f]+(;|\||$)/\1/g' | awk -F'|' -v OFS='|' '{print $2, $3, $4, $5, $7}' | sort; }
rows_of_decode() { sed 's/_\[k\]//g' | awk -F'\t' -v OFS='|' '{print $2, $3, $4, $5, $7}' | sort; }

# agree FILE: everything that both can tell.
agree() {
	did="$1"
	decode --collapse "$1" >"$TMP/stdout" 2>"$TMP/stderr" || wrong 'decode.py cannot read it'
	"$PROBEE" report -q "$1" --collapse >"$TMP/folded" 2>"$TMP/stderr"
	[ $? = 0 ] || wrong 'probee report fails'
	cmp "$TMP/stdout" "$TMP/folded" >"$TMP/stderr" 2>&1 || wrong 'other folded stacks'
	"$PROBEE" info "$1" 2>"$TMP/stderr" | numbers_of_info >"$TMP/info"
	decode --stats "$1" | numbers_of_stats >"$TMP/stats"
	diff "$TMP/info" "$TMP/stats" >"$TMP/stderr" || wrong 'other numbers (<: probee info)'
}

agree_on_rows() {
	did="$1"
	"$PROBEE" report -q "$1" --csv 2>"$TMP/stderr" | sed '/^timestamp|/!s/^/\n/; 1{/^timestamp/!s/^/\n/}' |
		grep . | { IFS= read -r first; printf '%s\n' "timestamp"; case $first in timestamp*) ;; *) printf '%s\n' "$first";; esac; cat; } |
		rows_of_csv >"$TMP/csv"
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
