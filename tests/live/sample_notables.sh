#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/elf_unwind src/capture/stacks bpf
# timeout: 240
# beside: live
# Code with neither unwind tables nor frame pointers, whose unwind rows come from reading it. Stacks of a known grammar must
# be whole, in samples and in snapshots; also with musl, whose libc is such code too, in Rust with panic=abort, and in .init
# and .fini of a library.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "code is only read on x86-64"

# The stacks that notables.c can have, each up to any of its frames. L: frames of libc, with and without names.
L='(;(?!worker|climb|choose|small|large|moving|sorted|compare|leaf|nap|sleeper|main)[^;]+)*'
calls="(;choose(;small|;large(;leaf)?|;moving(;leaf|$L)?|;sorted$L(;compare(;leaf)?)?)?)?"
work="worker(;climb(;climb(;climb(;climb$calls)?)?)?)?"
root='[^;]+(;[^;]+){0,2}'
grammar="$root;$work|$root;sleeper;nap(;nap){7}$L|$root;main(;nap){4}$L"

# number TRACE REGEX: prints the group of REGEX in the output of `info`, without commas.
number() { "$PROBEE" info "$1" | sed -nE "s/$2.*/\\1/p" | head -n 1 | tr -d ,; }

# At least 99 % of the stacks of a trace, and more than 20, reach the outermost frame.
whole() {
	local share of
	share=$(number "$1" '^stacks +([0-9.]+) %')
	of=$(number "$1" '^stacks .* of ([0-9,]+) user stacks')
	echo "$share % of $of"
	[ "${of:-0}" -gt 20 ] && [ "${share%.*}" -ge 99 ]
}

# At least 95 % of the stacks have frames that were found by reading code.
all_guessed() {
	local have of
	have=$(number "$1" '^user stacks with a guessed frame \(([0-9,]+)')
	of=$(number "$1" '^stacks .* of ([0-9,]+) user stacks')
	echo "$have of $of"
	[ "${of:-0}" -gt 20 ] && [ $((${have:-0} * 100)) -ge $((of * 95)) ]
}

# grammatical TRACE: every user stack in it, whole or not, follows the grammar.
grammatical() { folded "$1" >"$1.folded"; stacks like "$1.folded" "$grammar" --percent "${2:-99}"; }

# check_program NAME
check_program() {
	local name=$1
	if [ ! -x "$WORKLOADS/$name" ]; then
		skip_part "$name is not built (compiler missing?)"
		return
	fi
	start "$name"
	sample -p "$PID" -F 499 -d 2 -o "$name.pbz"
	check "$name: whole stacks" whole "$name.pbz"
	check "$name: known stacks only" grammatical "$name.pbz"
	check "$name: a callback through libc" stacks share "$name.pbz.folded" "worker;climb;climb;climb;climb;choose;sorted" \
		--of compare
	check "$name: guessed" all_guessed "$name.pbz"
	snapshot -p "$PID" -F 20 -d 2 -o "$name.snap.pbz"
	check "$name: whole stacks in snapshots" whole "$name.snap.pbz"
	check "$name: known stacks only in snapshots" grammatical "$name.snap.pbz"
	finish "$PID"
}

for name in notables notables_size notables_static notables_musl notables_musl_static; do
	check_program "$name"
done

# Without symbols there are only addresses, but the stacks are whole all the same.
start notables_stripped
sample -p "$PID" -F 499 -d 2 -o stripped.pbz
check "notables_stripped: whole stacks" whole stripped.pbz
finish "$PID"

# Realigned frames, a ret after hlt, retpolines, zeros between functions. In a thunk a register has the callee's address.
thunk='(;__x86_indirect_thunk[^;]*)?'
calls="(realigned|asserts|through_pointer(;pointed_at)?|filled_up)(;leaf)?|asserts;holds|through_pointer$thunk"
for name in shapes shapes_retpoline shapes_stripped; do
	if [ ! -x "$WORKLOADS/$name" ]; then
		skip_part "$name is not built (compiler does not know it)"
		continue
	fi
	start "$name"
	sample -p "$PID" -F 499 -d 2 -o shapes.pbz
	check "$name: whole stacks" whole shapes.pbz
	check "$name: guessed" all_guessed shapes.pbz
	if [ "$name" = shapes_stripped ]; then
		folded shapes.pbz >shapes.folded
		check "$name: five or six frames, or what they end before" stacks like shapes.folded \
			"_start;([^;]*;){0,2}(main|\\[[^;]*)(;\\[[^;]*){1,4}"
	else
		folded shapes.pbz >shapes.folded
		check "$name: known stacks only" stacks like shapes.folded "([^;]*;){0,3}main;work(;($calls))?"
		for chain in realigned asserts "through_pointer;pointed_at" filled_up; do
			check "$name: $chain" stacks share shapes.folded "main;work;$chain;leaf" --of "${chain##*;}" --percent 90 --min 20
		done
	fi
	finish "$PID"
done

if [ -x "$WORKLOADS/notables_rs" ]; then
	start notables_rs
	sample -p "$PID" -F 499 -d 2 -o rust.pbz
	folded rust.pbz >rust.folded
	c=notables_rs::climb
	check "Rust: whole stacks" whole rust.pbz
	check "Rust: known stacks" stacks share rust.folded "notables_rs::work;$c;$c;$c;$c;notables_rs::leaf"
	finish "$PID"
else
	skip_part "rustc is not installed"
fi

start reopen "$WORKLOADS/initlib.so"
sample -p "$PID" -F 499 -d 2 -o init.pbz
folded init.pbz >init.folded
check "_init and _fini: called by the section" stacks like init.folded ".*;(_init;slow_init|_fini;slow_fini);init_leaf" \
	--of init_leaf --percent 97
check "_init and _fini: below ld.so" stacks share init.folded "main;reopen" --of init_leaf --percent 97
finish "$PID"
done_testing
