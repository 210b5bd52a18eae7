#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# JavaScript frames of running programs whose stacks prove themselves (tests/live/node_judge.py), of all nodes that are found and in all
# modes: node_stacks.sh SECONDS for each. Versions that are missing are fetched first (tests/oracle/node/fetch.sh).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
export PROBEE=${PROBEE:-$root/.out/probee} LEAST=${LEAST:-99} HZ=${HZ:-999} BEFORE=${BEFORE:-2}
failed=0 nr=0
for version in 18 20 22 24; do
	"$root/tests/oracle/node/fetch.sh" "$version" >/dev/null 2>&1 || true
done
while read -r version node; do
	[ "$version" != missing: ] || { echo "missing: $node"; continue; }
	nr=$((nr + 1))
	for mode in "" --jitless --no-opt --always-sparkplug --maglev; do
		# Maglev of node 18 and 20 is an experiment, and off: frames that were inlined are not known there.
		least=$LEAST
		case $version$mode in 18--maglev | 20--maglev) least=0 ;; esac
		printf 'node %s %s: ' "$version" "${mode:-as it is}"
		# shellcheck disable=SC2086
		LEAST=$least SAY=0 timeout $((30 + $1 * 3)) python3 "$root/tests/live/node_judge.py" "$node" "$1" $mode 2>/dev/null || failed=1
	done
done < <("$root/tests/oracle/node/nodes.sh")
[ $nr != 0 ] || { echo "no node that is known"; exit 77; }
exit $failed
