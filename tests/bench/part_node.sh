# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The time of a JavaScript frame in the kernel: a recursion of 20 and of 120 frames under the sampler, interpreted and as baseline code,
# of each node that is found (NODES, tests/oracle/node/nodes.sh). Times are run_time_ns / run_cnt of the BPF programs; the cost of a
# frame is the difference between the two depths.
LAST_CPU=$(($(nproc) - 1))

# ran: ns and runs of the tool's programs since it began. Descriptors may go while they are looked at.
ran() {
	local tries=20 said=
	while [ ! "$said" ] && [ $((tries--)) -gt 0 ]; do
		said=$(figure bpf "$TOOL_PID" 2>/dev/null) || said=
		[ "$said" ] || sleep 0.1
	done
	echo "${said:-0 0 0}"
}

# sample_node NAME NODE OPTION...
sample_node() {
	local depth name=$1 t1 n1 t2 n2 cost_20='' cost_120=''
	shift
	for depth in 20 120; do
		"$@" "$here/node_deep.js" "$depth" 2>/dev/null &
		local pid=$!
		taskset -p -c "$LAST_CPU" "$pid" >/dev/null
		sleep 2
		"$PROBEE" sample -q -U -C "$LAST_CPU" -F 1999 -e cpu-clock -p "$pid" -o node.pbz &
		TOOL_PID=$!
		sleep 3
		read -r t1 n1 _ < <(ran)
		sleep 3
		read -r t2 n2 _ < <(ran)
		kill -INT "$TOOL_PID"
		wait "$TOOL_PID"
		kill "$pid"
		wait "$pid" 2>/dev/null
		[ "$n2" -gt "$n1" ] || { say "$name: the program did not run"; return; }
		eval "cost_$depth=$(calc "($t2 - $t1) / ($n2 - $n1)")"
		record "ns a walk, with $depth JavaScript frames" "$name" "$(eval "echo \$cost_$depth")"
	done
	record "ns a JavaScript frame, between 20 and 120" "$name" "$(calc "($cost_120 - $cost_20) / 100")"
}

echo 1 >/proc/sys/kernel/bpf_stats_enabled
while read -r version node; do
	[ "$version" != missing: ] || continue
	sample_node "node $version, interpreted" "$node" --jitless
	sample_node "node $version, baseline" "$node" --always-sparkplug --no-opt --no-maglev
done < <("$root/tests/oracle/node/nodes.sh")
