#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: README.md tools/images.sh docs
# core: yes
# The pictures of README and docs/USE.md are there, are pictures, and are small enough for a repository (tools/images.sh makes
# them). Each stands in one of these pages, and README has one.
set -eu
cd "$(dirname "$0")/../.."
first=$(grep -o '(docs/images/[a-z]*\.png)' README.md | wc -l)
[ "$first" = 1 ] || { echo "README shows $first pictures, not 1"; exit 1; }
names=$(grep -oh '(\(docs/\)\?images/[a-z]*\.png)' README.md docs/USE.md | tr -d '()' | sed 's,^images,docs/images,' | sort -u)
all=0
for name in $names; do
	[ "$(head -c 4 "$name" | od -An -c | tr -d ' ')" = '211PNG' ] || { echo "$name is no PNG"; exit 1; }
	size=$(stat -c %s "$name")
	[ "$size" -lt 300000 ] || { echo "$name has $size bytes, 300,000 are allowed"; exit 1; }
	all=$((all + size))
done
[ "$all" -lt 1500000 ] || { echo "the pictures have $all bytes, 1,500,000 are allowed"; exit 1; }
for name in docs/images/*; do
	echo "$names" | grep -qx "$name" || { echo "no page shows $name"; exit 1; }
	grep -q "/$(basename "$name")" tools/images.sh || { echo "tools/images.sh does not make $name"; exit 1; }
done
