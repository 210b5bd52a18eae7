#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: README.md tools/images.sh docs
# core: yes
# The pictures of README are there, are pictures, and are small enough for a repository (tools/images.sh makes them).
set -eu
cd "$(dirname "$0")/../.."
names=$(grep -o 'docs/images/[a-z]*\.png' README.md | sort -u)
[ -n "$names" ] || { echo 'README shows no picture'; exit 1; }
all=0
for name in $names; do
	[ "$(head -c 4 "$name" | od -An -c | tr -d ' ')" = '211PNG' ] || { echo "$name is no PNG"; exit 1; }
	size=$(stat -c %s "$name")
	[ "$size" -lt 300000 ] || { echo "$name has $size bytes, 300,000 are allowed"; exit 1; }
	all=$((all + size))
done
[ "$all" -lt 1500000 ] || { echo "the pictures have $all bytes, 1,500,000 are allowed"; exit 1; }
for name in docs/images/*; do
	echo "$names" | grep -qx "$name" || { echo "README does not show $name"; exit 1; }
	grep -q "/$(basename "$name")" tools/images.sh || { echo "tools/images.sh does not make $name"; exit 1; }
done
