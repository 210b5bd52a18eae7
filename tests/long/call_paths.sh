#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames of PHP and Perl in thousands of samples, and in snapshots, of programs whose stacks prove themselves: names, lines, and where
# native frames are between (tests/live/call_paths.py). All versions that are found. call_paths.sh SECONDS: so long each.
set -eu
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || { echo "x86-64 only"; exit 77; }
seconds=${1:-20} here=$PWD
export PROBEE=${PROBEE:-$PWD/.out/probee}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T"
nr=0
for language in php perl; do
	while read -r version program; do
		[ "$version" != missing: ] || { echo "missing: $language $program"; continue; }
		for how in "" sleep; do
			echo "$language $version $how"
			# shellcheck disable=SC2086 # none or one
			python3 "$here/tests/live/${language}_judge.py" "$program" "$seconds" $how
		done
		nr=$((nr + 1))
	done < <("$here/tests/oracle/$language/${language}s.sh")
done
[ $nr != 0 ] || { echo "no PHP and no Perl that is known"; exit 77; }
