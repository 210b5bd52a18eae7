#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/elf_unwind src/capture/stacks
# core: yes
# timeout: 200
# beside: live
# Known call chains, 30 and 500 deep, compiled and linked in several ways: every frame is there, in order, up to the root.
. "$(dirname "$0")/lib.sh"

chain=main
for i in $(seq 30); do chain+=";f$i"; done

# whole WORKLOAD UNWIND ROOT: the chain below ROOT (with libc's own frames where the unwinder can see them).
whole() {
	start "$1" spin
	sample_cpu "$1-$2.pbz" "$PID" 400 -F 499 --unwind "$2"
	check "$1 $2: exit status" equal "$RC" 0
	folded "$1-$2.pbz" >"$1-$2.folded"
	check "$1 $2: 30 deep" stacks share "$1-$2.folded" "$chain" --of f30
	[ -z "$3" ] || check "$1 $2: reaches $3" stacks share "$1-$2.folded" "$3" --of f30
	finish "$PID"
}

for w in chain30 chain30_nopie chain30_static_pie chain30_O0; do
	whole "$w" dwarf "_start"
done
# glibc 2.34 and later has a hidden symbol between main and _start; a static binary may have other names there.
whole chain30_static auto ""
whole chain30 auto "_start"
whole chain30_fp fp ""
whole chain30_fp auto "_start"

deep() {
	start "$1" 500 spin
	sample_cpu deep.pbz "$PID" 400 -F 299 --unwind "$2"
	folded deep.pbz >deep.folded
	check "$1 $2: 500 frames" stacks depth deep.folded recurse 500
	check "$1 $2: under them" stacks share deep.folded "main;start;recurse" --of bottom
	finish "$PID"
}
deep deep auto
deep deep_fp fp

# A stripped binary has no names for the 30 functions, but unwinding must not depend on names.
start chain30_stripped
sample_cpu stripped.pbz "$PID" 1000 -F 499
folded stripped.pbz >stripped.folded
check "stripped: libc's frame below main" stacks share stripped.folded "__libc_start_main" \
	--of __libc_start_main
# Between two rounds the program is in one of the outer functions: such a stack is the outer part of the usual one, up to the function
# that runs.
check "stripped: 30 frames above it, or the outer ones of them" awk '
	{ n[NR] = split($0, f, ";"); nr[NR] = $NF; text[NR] = $0; total += $NF; if (n[NR] >= 33) { deep += $NF; if ($NF > nr[most]) most = NR } }
	END {
		for (i in n) {
			sub(/;[^;]*$/, ";", text[i])
			if (n[i] < 33 && index(text[most], text[i]) == 1) outer += nr[i]
		}
		print deep + 0 " and " outer + 0 " of " total
		exit !(total > 400 && deep >= 0.95 * total && deep + outer == total)
	}' stripped.folded
done_testing
