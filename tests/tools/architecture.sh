#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: docs/ARCHITECTURE.md tests/layers.sh
# core: yes
# docs/ARCHITECTURE.md tells the truth about the tree: its table of layers has the rules of tests/layers.sh, in their
# order, and every file that it names is there.
set -u
bad=0
doc=docs/ARCHITECTURE.md

sed -n "/^rules='/,/^'/p" tests/layers.sh | sed -n 's/^\([a-z].*\): *\(.*\)$/\1|\2/p' | sed 's/|\*$/|everything/; s/  */ /g' >"$TMP/rules"
awk -F '|' '/^## / { on = $0 == "## Layers" } on && /^\| (src|formats|unwind|bpf)/ {
	gsub(/^ +| +$/, "", $2); gsub(/^ +| +$/, "", $4); print $2 "|" $4 }' $doc >"$TMP/table"
[ -s "$TMP/rules" ] && [ -s "$TMP/table" ] || { echo 'no rules in tests/layers.sh, or no table in the document'; exit 1; }
diff "$TMP/rules" "$TMP/table" >"$TMP/diff" || { echo "the rules (<) and the table (>) differ:"; cat "$TMP/diff"; bad=1; }

# `src/base/opt.c` is a path; `opt.c` may be in any folder; `name()` and options are none.
find bpf unwind formats src tests docs tools sources.mk Makefile -type f >"$TMP/files"
for name in $(grep -oE '`[A-Za-z0-9_./]+\.(c|h|js|css|md|sh|mk|def)`|(src|tests|formats|unwind|bpf|docs|tools)/[A-Za-z0-9_./]+\.[a-z]+' $doc | tr -d '`' | sort -u); do
	case $name in
	*/NAME.* | */*_NAME.c | */*NAME_*) continue ;;
	*/*) grep -qxF "$name" "$TMP/files" ;;
	*) grep -q "/$name\$" "$TMP/files" ;;
	esac || { echo "$doc names $name, which is not there"; bad=1; }
done

# The rows of a table have as many cells as its head. \| is no end of a cell.
for f in README.md docs/*.md formats/trace/TRACE.md tests/passed_alone.md; do
	awk -v file="$f" '/^\|/ { gsub(/\\\|/, ""); n = split($0, cell, "|"); if (head && n != head) { print file ":" FNR ": " n - 2 " cells, not " head - 2; bad = 1 }
		head = n; next } { head = 0 } END { exit bad }' "$f" || bad=1
done
exit $bad
