#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: README.md
# core: yes
# README is short: it can be read in a few minutes, on any screen. tests/live/readme.sh runs its commands.
set -eu
cd "$(dirname "$0")/../.."
lines=$(wc -l <README.md)
[ "$lines" -le 200 ] || { echo "README.md has $lines lines, 200 are allowed"; exit 1; }
awk 'length > 120 { print "README.md:" NR ": " length " columns, 120 are allowed"; bad = 1 } END { exit bad }' README.md
# Each test and page that it names is there; architecture.sh looks at other files.
for name in $(grep -oE 'tests/[a-z_/]+\.sh' README.md | sort -u); do
	[ -x "$name" ] || { echo "README.md names $name, which is no test"; exit 1; }
done
for part in $(sed -n 's/.*| bench\.sh \([a-z, ]*\) |$/\1/p; s/.*bench\.sh \([a-z ]*\)`.*/\1/p' README.md | tr -d ,); do
	[ -e "tests/bench/part_$part.sh" ] || { echo "README.md names the part $part of bench.sh, which is not there"; exit 1; }
done
# Each page of docs is linked, so that it can be found.
for page in docs/*.md; do
	grep -qF "($page)" README.md || [ "$page" = docs/FAULTS.md ] || { echo "README.md does not link $page"; exit 1; }
done
