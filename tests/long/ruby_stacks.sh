#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Many samples of running Rubies whose stacks prove themselves, and threads that wait (tests/live/ruby_judge.py), with all versions that are
# found or can be had from the package archive. ruby_stacks.sh SECONDS: so long per version.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
OUT=${OUT:-$root/.out}
export PROBEE=${PROBEE:-$OUT/probee}
seconds=${1:-30}
"$root/tests/oracle/ruby/fetch.sh" 2.7 3.3 3.4 || echo "not all versions can be had"
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T"
nr=0
while read -r version ruby; do
	[ "$version" != missing: ] || { echo "missing: $ruby"; continue; }
	echo "Ruby $version"
	python3 "$root/tests/live/ruby_judge.py" tree "$ruby" "$seconds" -W0
	! "$ruby" --yjit -e 'exit RubyVM::YJIT.enabled?' 2>/dev/null ||
		python3 "$root/tests/live/ruby_judge.py" tree "$ruby" "$seconds" -W0 --yjit
	python3 "$root/tests/live/ruby_judge.py" made "$ruby" "$seconds"
	for _ in 1 2 3; do python3 "$root/tests/live/ruby_judge.py" waits "$ruby"; done
	nr=$((nr + 1))
done < <("$root/tests/oracle/ruby/rubies.sh")
[ $nr != 0 ] || { echo "no Ruby that is known"; exit 77; }
