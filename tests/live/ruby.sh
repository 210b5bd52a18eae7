#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf src/capture/session
# core: yes
# timeout: 200
# beside: live
# Frames of Ruby in samples of a running program whose stacks prove themselves, and of threads that wait (ruby_judge.py). All versions that are
# found.
. "$(dirname "$0")/lib.sh"
judge() { timeout 100 python3 "$ROOT/tests/live/ruby_judge.py" "$@"; }
export PROBEE
found=0
while read -r version ruby; do
	[ "$version" != missing: ] || { [ ! "$ruby" ] || skip_part "Ruby $ruby" "not on this machine"; continue; }
	[ $found = 1 ] || check "Ruby $version: code that is gone is never named wrongly" judge made "$ruby" "${SECONDS_EACH:-2}"
	found=1
	check "Ruby $version: stacks are paths of the tree of calls ($ruby)" judge tree "$ruby" "${SECONDS_EACH:-2}" -W0
	! "$ruby" --yjit -e 'exit RubyVM::YJIT.enabled?' 2>/dev/null ||
		check "Ruby $version: the same with compiled code" judge tree "$ruby" "${SECONDS_EACH:-2}" -W0 --yjit
	check "Ruby $version: threads that wait are where Ruby says ($ruby)" judge waits "$ruby"
done < <("$ROOT/tests/oracle/ruby/rubies.sh")
[ $found = 1 ] || skip "no Ruby that is known"
done_testing
