#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf
# timeout: 120
# beside: live
# JavaScript frames that are not those of plain functions, each with its caller and its line (tests/workloads/node_odd.mjs): generators,
# async functions, getters, private methods, names that are not ASCII, eval, callbacks of builtins in C++ and in generated code,
# WebAssembly, regular expressions, workers; and of threads that wait in a snapshot, below the native frames that they wait in.
. "$(dirname "$0")/lib.sh"
program=$ROOT/tests/workloads/node_odd.mjs
node=$("$ROOT/tests/oracle/node/nodes.sh" | awk '$1 == 20 { print $2 }')
[ "$node" ] || node=$("$ROOT/tests/oracle/node/nodes.sh" | awk '$1 != "missing:" { print $2; exit }')
[ "$node" ] || skip "no node that is known"
line() { grep -n -m 1 -- "$1" "$program" | cut -d: -f1; }
pids=()
trap 'kill "${pids[@]}" 2>/dev/null' EXIT
# waits_until_asleep PID
waits_until_asleep() {
	local tries=100
	until [ "$(cut -d' ' -f1 "/proc/$1/syscall" 2>/dev/null)" = "$2" ] || [ $((tries--)) = 0 ]; do sleep 0.1; done
}

mkfifo fifo
"$node" "$program" exec & pids+=($!)
"$node" "$program" read fifo & pids+=($!)
"$node" "$program" atomics & pids+=($!)
waits_until_asleep "${pids[0]}" 281	# epoll_pwait
waits_until_asleep "${pids[1]}" 257	# openat
waits_until_asleep "${pids[2]}" 202	# futex
list=$(IFS=,; echo "${pids[*]}")
"$PROBEE" snapshot -p "$list" -i 1 -o waits.pbz 2>err || cat err
folded waits.pbz --lines >waits.folded
has() { grep -qE -- "$1" "$2" || { echo "not in $2: $1"; head -c 3000 "$2"; return 1; }; }
check "a process that is waited for: JavaScript below libuv" \
	has "waits_for_process:$(line 'function waits_for_process');execFileSync:[0-9]+;.*spawnSync:[0-9]+;.*uv_run" waits.folded
check "a file that is waited for" has "waits_for_file:$(line 'function waits_for_file');readFileSync:[0-9]+;.*uv_fs_open" waits.folded
check "memory that is waited for" has "waits_for_memory:$(line 'function waits_for_memory');.*Builtin_AtomicsWait" waits.folded
kill "${pids[@]}" $(pgrep -P "${pids[0]}") 2>/dev/null
pids=()

"$node" "$program" run & pids+=($!)
sleep 1
"$PROBEE" sample -p "${pids[0]}" -F 499 -d 4 -o run.pbz 2>err || cat err
folded run.pbz --lines >run.folded
n=$(line 'get wert')
check "generators, async functions, private and static methods, getters" has \
	"awaits:$(line 'async function awaits');next;generator:$(line 'function. generator');run:$(line 'run() {');#hidden:$(line '#hidden() {');σ:$(line 'static σ');get wert:$n;spin:" run.folded
check "a callback of sort" has "sorts:$(line 'function sorts');sort;[^;]*;?compares:$(line 'function sorts');spin:" run.folded
check "a callback of replace" has "replaces:$(line 'function replaces');replace;(.*;)?replaced:$(line 'function replaces');spin:" run.folded
check "a callback from C++" has "JsonStringif.*;toJSON:$(line 'function to_json');spin:" run.folded
check "WebAssembly" has "calls_wasm:$(line 'function calls_wasm');(.*;)?\[wasm function\]" run.folded
regexp='\[regular expression\]'
[ "$("$node" -p 'process.versions.node.split(".")[0]')" != 18 ] || regexp='\[(regular expression|jit)\]'	# it has no mark there
check "a regular expression" has "searches:$(line 'function searches');(test;)?(.*;)?$regexp" run.folded
check "builtins of workers, which V8 maps once more for each" has "node::worker::Worker.*;entries:$(line 'function entries');fromEntries;" run.folded
check "a worker, which has an isolate of its own" has "node::worker::Worker.*;get wert:$n;spin:" run.folded
done_testing
