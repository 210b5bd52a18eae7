#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf src/capture/session
# core: yes
# timeout: 200
# beside: live
# Perl frames in samples and snapshots of a program whose stacks prove themselves: names, lines, and where native frames are between
# (perl_judge.py). All versions that are found.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
judge() { timeout 100 python3 "$ROOT/tests/live/perl_judge.py" "$@"; }
export PROBEE
found=0
while read -r version perl; do
	[ "$version" != missing: ] || { skip_part "Perl $perl" "not on this machine"; continue; }
	check "Perl $version: stacks are paths of the tree of calls ($perl)" judge "$perl" "${SECONDS_EACH:-1.5}"
	[ $found = 1 ] || check "Perl $version: also while it sleeps" judge "$perl" "${SECONDS_EACH:-2.5}" sleep
	found=1
done < <("$ROOT/tests/oracle/perl/perls.sh")
[ $found = 1 ] || skip "no Perl that is known"
done_testing
