#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 200
# beside: live
# PHP frames in samples and snapshots of a program whose stacks prove themselves: names, lines, and where native frames are between
# (php_judge.py). All versions that are found.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
judge() { timeout 100 python3 "$ROOT/tests/live/php_judge.py" "$@"; }
export PROBEE
found=0
while read -r version php; do
	[ "$version" != missing: ] || { skip_part "PHP $php" "not on this machine"; continue; }
	check "PHP $version: stacks are paths of the tree of calls ($php)" judge "$php" "${SECONDS_EACH:-1.5}"
	[ $found = 1 ] || check "PHP $version: also while it sleeps" judge "$php" "${SECONDS_EACH:-2.5}" sleep
	found=1
done < <("$ROOT/tests/oracle/php/phps.sh")
[ $found = 1 ] || skip "no PHP that is known"
done_testing
