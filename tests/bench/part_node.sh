# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The time of a JavaScript frame in the kernel: a recursion of 20 and of 120 frames under the sampler, interpreted and as baseline code,
# of each node that is found (NODES, tests/oracle/node/nodes.sh). Only ticks in that process count: those of others on its CPU cost next to
# nothing, and the busier the machine, the more of them there are. The cost of a frame is the difference between the two depths.

# node_frames NAME NODE OPTION...
node_frames() {
	local name=$1 few many
	shift
	few=$("$here/interpreter_frames.py" "$PROBEE" $(($(nproc) - 1)) 20 "$@" "$here/node_deep.js") || return
	many=$("$here/interpreter_frames.py" "$PROBEE" $(($(nproc) - 1)) 120 "$@" "$here/node_deep.js") || return
	record "ns a walk, with 20 JavaScript frames" "$name" "$few"
	record "ns a walk, with 120 JavaScript frames" "$name" "$many"
	record "ns a JavaScript frame, between 20 and 120" "$name" "$(calc "($many - $few) / 100")"
}

echo 1 >/proc/sys/kernel/bpf_stats_enabled
for _ in $(seq "$ROUNDS"); do
	while read -r version node; do
		[ "$version" != missing: ] || continue
		node_frames "node $version, interpreted" "$node" --jitless
		node_frames "node $version, baseline" "$node" --always-sparkplug --no-opt --no-maglev
	done < <("$root/tests/oracle/node/nodes.sh")
done
echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
