#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/symbolize src/capture/session
# beside: live
# Names of C++, Rust and Go code; threads that rename themselves.
. "$(dirname "$0")/lib.sh"

start shop
sample -p "$PID" -F 499 -d 2 -o shop.pbz
folded shop.pbz >shop.folded
chain="main;shop::open_day(int);shop::Till<long>::checkout(shop::Basket<long> const&);shop::(anonymous namespace)::weigh(long)"
check "C++ names" stacks share shop.folded "$chain"
check "an exception in flight is caught in whole stacks" stacks share shop.folded "main;shop::open_day(int)" \
	--of "main" --percent 98
check "no mangled names" not grep -qE '(^|;)_ZN' shop.folded
finish "$PID"

start rename
sample -p "$PID" -F 499 -d 2 -o rename.pbz
folded rename.pbz >rename.folded
check "phase-one is work_one" stacks only rename.folded phase-one work_one 97
check "phase-two is work_two" stacks only rename.folded phase-two work_two 97
finish "$PID"

# A part whose compiler is missing is said to be missing, and does not hide the others.
if [ -x "$WORKLOADS/crate_rs" ]; then
	start crate_rs
	sample -p "$PID" -F 499 -d 1 -o rust.pbz
	folded rust.pbz >rust.folded
	check "Rust names" stacks share rust.folded "crate_rs::orchard::Basket::weigh;crate_rs::orchard::leaf_burn" \
		--of crate_rs::orchard::leaf_burn
	check "Rust without hashes" not grep -qE '::h[0-9a-f]{16}' rust.folded
	check "Rust to _start" stacks share rust.folded _start --of crate_rs::orchard::leaf_burn
	finish "$PID"
else
	skip_part "no rustc: no Rust"
fi
if [ -x "$WORKLOADS/goblin" ]; then
	start goblin
	sample -p "$PID" -F 499 -d 1 -o go.pbz
	folded go.pbz >go.folded
	# No .eh_frame, and leaf() has no frame: a frame pointer cannot know its caller, inner().
	check "Go, whole chain" stacks share go.folded "main.main;main.outer;main.inner;main.leaf"
	check "Go to its root" stacks share go.folded "runtime.main;main.main" --of main.main
	finish "$PID"
else
	skip_part "no go: no Go"
fi
done_testing
