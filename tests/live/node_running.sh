#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf src/capture/session
# core: yes
# timeout: 120
# beside: live
# JavaScript frames in samples of a running program whose stacks prove themselves: names, files and lines, inlined functions too
# (node_judge.py). All versions that are found; tests/long/node_stacks.sh has more modes and samples.
. "$(dirname "$0")/lib.sh"
judge() { timeout 60 python3 "$ROOT/tests/live/node_judge.py" "$@"; }
export PROBEE LEAST=${LEAST:-90}
found=0
while read -r version node; do
	[ "$version" != missing: ] || { [ ! "$node" ] || skip_part "node $node" "not on this machine"; continue; }
	found=1
	check "node $version: stacks are paths of the tree of calls ($node)" judge "$node" "${SECONDS_EACH:-1}"
	case $version in 20 | 24)
		check "node $version, entered by copies of a builtin" \
			judge "$node" "${SECONDS_EACH:-1}" --interpreted-frames-native-stack --no-opt ;;
	esac
	[ "$version" != 20 ] || check "node $version, interpreted only" judge "$node" "${SECONDS_EACH:-1}" --jitless
done < <("$ROOT/tests/oracle/node/nodes.sh")
[ $found = 1 ] || skip "no node that is known"
done_testing
