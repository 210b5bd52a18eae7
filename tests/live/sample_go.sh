#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/elf_unwind src/symbolize src/debug_info bpf
# timeout: 200
# beside: live
# Go programs: stacks are whole by Go's own tables, in goroutines and in threads of the runtime, through C and back. Lines and
# inlined functions are there without debug information, too.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "no go"
[ "$(uname -m)" = x86_64 ] || skip "Go's tables are read on x86-64 only"

WARM_MS=1000
go_stacks() { python3 -S "$LIVE/go_stacks.py" "$@"; }

# recorded NAME [OPTION...]: writes what the reports say into files.
recorded() {
	local name=$1
	shift
	folded "$name.pbz" "$@" >"$name.folded"
	"$PROBEE" report "$name.pbz" "$@" --json >"$name.json" 2>>"$T/err"
}

line_of() { grep -nF "$1" "$ROOT/tests/workloads/herd.go" | cut -d: -f1; }
role=main.roleLeaf:$(line_of 'sink += leafCaller(n')
lines="$role;main.leafCaller:$(line_of 'return leaf(n) + 1')"

for build in herd herd_pie herd_stripped; do
	start "$build"
	sample_cpu "$build.pbz" "$PID" 2000 -F 1999
	recorded "$build" --from "$WARM"
	check "$build: whole, nothing guessed" go_stacks whole "$build.json" 99.5
	check "$build: only possible stacks" go_stacks grammar "$build.folded"
	check "$build: a leaf without a frame" stacks share "$build.folded" "main.roleLeaf;main.leafCaller;main.leaf" \
		--of main.roleLeaf --percent 95
	check "$build: stacks that grew" stacks frame "$build.folded" main.dive
	sed -i 's/\.abi0//g' "$build.folded"
	check "$build: a thread that makes a stack grow" stacks like "$build.folded" \
		"runtime.goexit;(.*;)?main.(grow|dive);runtime.morestack;.*|runtime.goexit;main.role[^;]*;(.*;)?runtime.morestack;.*" \
		--of runtime.copystack --percent 98
	check "$build: the collector's threads" stacks frame "$build.folded" runtime.gcBgMarkWorker
	"$PROBEE" report --lines --collapse=- --from "$WARM" "$build.pbz" >"$build.lines"
	check "$build: source lines" stacks share "$build.lines" "$lines" --of "$role" --percent 95
	check "$build: inlined functions" grep -q "runtime\.[^;]*:[0-9]*_\[i\]" "$build.lines"
	finish "$PID"
done

cat herd.folded herd_pie.folded herd_stripped.folded >herds.folded
check "the collector on a thread's stack" stacks like herds.folded \
	"runtime.goexit;.*;runtime.gcBgMarkWorker;runtime.systemstack;.*" --of runtime.gcDrain --percent 98

start herd
snapshot -p "$PID" -F 5 -i 25 -o snap.pbz
recorded snap --from 1s		# tables are made then
check "snapshot: whole, nothing guessed" go_stacks whole snap.json 99.5
check "snapshot: only possible stacks" go_stacks grammar snap.folded
check "snapshot: a thread that a goroutine locked" stacks share snap.folded "main.roleLocked;main.lockedSleep" \
	--of main.lockedSleep --percent 100 --min 3
finish "$PID"

if [ -x "$WORKLOADS/herdc" ]; then
	for build in herdc herdc_stripped; do
		start "$build"
		sample_cpu "$build.pbz" "$PID" 2000 -F 499
		recorded "$build" --from "$WARM"
		sed -i 's/\.abi0//g; s/runtime.cgocallbackg;runtime.cgocallbackg;/runtime.cgocallbackg;/' "$build.folded"
		check "$build: whole, nothing guessed" go_stacks whole "$build.json" 99
		check "$build: Go to C" stacks share "$build.folded" \
			"runtime.goexit;runtime.main;main.main;main.out;main._Cfunc_c_out;runtime.cgocall;runtime.asmcgocall" \
			--of main.out --percent 97
		check "$build: C to Go" stacks share "$build.folded" \
			"back;crosscall2;runtime.cgocallback;runtime.cgocallbackg;runtime.cgocallbackg1" --of main.leaf
		finish "$PID"
	done
	check "a thread of C calls Go" stacks share herdc.folded "c_thread;back;crosscall2" --of c_thread
	check "Go to C to Go" stacks frame herdc.folded c_out
else
	skip_part "herdc is not built (no gcc?)"
fi
done_testing
