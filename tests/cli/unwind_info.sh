#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/inspect src/commands/cmd_unwind_info.c src/commands/unwind_info_text.c src/commands/unwind_info_json.c
# probee unwind-info of files, processes and addresses, and its errors for anything else.
. tests/cli/lib.sh
CC=${CC:-gcc}

# --- mistakes

run probee unwind-info;                        exits 2; says 'needs an ELF file or a process'
run probee unwind-info --rows 1;               exits 2; says '--rows needs a file'
run probee unwind-info "$TMP/none";            exits 1; one_line; says 'No such file'
run probee unwind-info "$TMP";                 exits 1; one_line; says 'not a regular file'
run probee unwind-info /dev/null;              exits 1; one_line; says 'not a regular file'
run probee unwind-info tests/cli/lib.sh;       exits 1; one_line; says 'is not an ELF file'
: >"$TMP/empty"
run probee unwind-info "$TMP/empty";           exits 1; one_line
run probee unwind-info 999999999;              exits 1; one_line; says 'no process 999999999'
run probee unwind-info "$PROBEE" no_such_fn;   exits 1; one_line; says "no function 'no_such_fn'"
run probee unwind-info "$PROBEE" 0xfffffffff0; exits 1; one_line; says '0xfffffffff0 is outside its code'
run probee unwind-info "$PROBEE" 0xfffffffff0 main; exits 1; one_line; prints ' main: '
run probee unwind-info "$OUT/src/main.o";      exits 1; one_line; says 'not linked yet'
if [ "$(id -u)" != 0 ]; then
	run probee unwind-info 1; exits 77; one_line; says 'Try: run it as root'
fi

# --- bare names: the file that the loader or the shell would find, which is named

libc=$(ldd "$PROBEE" | awk '$1 == "libc.so.6"{print $3}')
run probee unwind-info libc.so.6 qsort;        exits 0; one_line; says "libc.so.6 is "; prints ' qsort: '
[ "$(realpath "$(sed 's/.* is //' "$TMP/stderr")")" = "$(realpath "$libc")" ] || wrong "is not $libc"
run env PATH="$(dirname "$PROBEE")" "$PROBEE" unwind-info probee main; exits 0; says "probee is $PROBEE"
run probee unwind-info no-such-program;        exits 1; one_line; says 'is no file here, in $PATH or'
cp /bin/true "$TMP/libc.so.6"
(cd "$TMP" && "$PROBEE" unwind-info libc.so.6 2>&1 | grep -q '^file      libc.so.6') || { did='a file here'; wrong 'does not win'; }

# --- damaged files: one line, or an answer; never a crash

size=$(stat -c %s /bin/true)
for part in 10 63 64 120 1000 $((size / 4)) $((size / 2)) $((size - 2000)) $((size - 1)); do
	head -c "$part" /bin/true >"$TMP/cut"
	run timeout 20 "$PROBEE" unwind-info "$TMP/cut"; exits 1; one_line; says "$TMP/cut"
done
for seed in 1 2 3 4; do
	cp /bin/true "$TMP/spoilt"
	RANDOM=$seed
	for ((i = 0; i < 60; i++)); do
		printf "\\x$(printf %x $((RANDOM % 256)))" |
			dd of="$TMP/spoilt" bs=1 seek=$((64 + RANDOM % (size - 64))) conv=notrunc status=none
	done
	run timeout 20 "$PROBEE" unwind-info "$TMP/spoilt" --rows
	[ "$rc" = 0 ] && [ ! -s "$TMP/stderr" ] || { exits 1; one_line; }
done

# --- programs made for this test

if [ "$(uname -m)" = x86_64 ]; then
	cat >"$TMP/odd.s" <<-'END'
		.globl main, odd, bare
		.text
		main: .cfi_startproc
		push %rbp
		.cfi_def_cfa_offset 16
		.cfi_offset %rbp, -16
		mov %rsp, %rbp
		.cfi_def_cfa_register %rbp
		xor %eax, %eax
		pop %rbp
		.cfi_def_cfa %rsp, 8
		ret
		.cfi_endproc
		.size main, . - main
		.type main, @function
		odd: .cfi_startproc
		.cfi_escape 0x0f, 0x04, 0x77, 0x08, 0x31, 0x1c	# CFA = rsp + 8 - 1
		nop
		ret
		.cfi_endproc
		.size odd, . - odd
		.type odd, @function
		.type bare, @function
		.fill 40, 1, 0x90
		bare: mov %rdi, %rsp					# on another stack: reading the code does not help
		.fill 64, 2, 0xc031					# xor %eax, %eax
		ret
		.size bare, . - bare
		.section .note.GNU-stack,"",@progbits
	END
	run "$CC" -no-pie -o "$TMP/odd" "$TMP/odd.s"; exits 0
	run probee unwind-info "$TMP/odd"; exits 0; silent
	prints 'x86_64, program at a fixed address; all functions have names'
	prints '         1  unsupported '
	grep -qE '^ +2  0x[0-9a-f]+-0x[0-9a-f]+  odd$' "$TMP/stdout" || wrong 'does not list odd() as unsupported'
	grep -qE '^ +129  0x[0-9a-f]+-0x[0-9a-f]+  bare\+0x3$' "$TMP/stdout" || wrong 'does not list bare() without its padding'
	run probee unwind-info "$TMP/odd" main main+0x1 main+4 odd bare+4; exits 0; silent
	prints ' main: rsp+8  rbp u  ra c-8  in force'
	prints ' main+0x1: rsp+16  rbp c-16  ra c-8  in force'
	prints ' main+0x4: rbp+16  rbp c-16  ra c-8  in force'
	prints ' odd: unsupported  in force'
	prints ' bare+0x4: none (the frame pointer is tried)  in force'
	run probee unwind-info "$TMP/odd" --rows; exits 0; prints 'rbp+16       c-16      c-8'
	if command -v python3 >/dev/null; then
		"$PROBEE" unwind-info "$TMP/odd" --json --rows odd | python3 -c '
import json, sys
j = json.load(sys.stdin)
assert j["rows_by_kind"]["unsupported"] == 1 and j["unsupported"][0]["symbol"] == "odd", j
assert j["places"][0]["cfa"] == "unsupported" and len(j["rows"]) == j["nr_rows"], j
assert j["table_bytes"] == 4 * j["nr_rows"] + 8 * j["nr_pages"] + 16 * j["nr_rules"], j
' >"$TMP/stderr" 2>&1 || wrong '--json says something else'
	fi
	printf '.globl _start\n_start: ret\n' >"$TMP/tiny.s"
	if as --32 -o "$TMP/tiny32.o" "$TMP/tiny.s" 2>/dev/null && ld -m elf_i386 -o "$TMP/tiny32" "$TMP/tiny32.o" 2>/dev/null; then
		run probee unwind-info "$TMP/tiny32"; exits 1; one_line; says 'a 32-bit file'
	fi
	printf '.data\n.quad 1\n' >"$TMP/tiny.s"
	run as -o "$TMP/tiny.o" "$TMP/tiny.s"; exits 0
	run ld -shared -o "$TMP/tiny" "$TMP/tiny.o"; exits 0
	run probee unwind-info "$TMP/tiny"; exits 1; one_line; says 'has no unwind tables. Try:'; prints '0 FDEs'
fi

# --- a process: this shell

run probee unwind-info $$; exits 0; silent; prints '[vdso]'; prints 'total'; prints 'libc.so'
start=$(awk '$2 ~ /x/ && /libc\.so/ {split($1, a, "-"); print a[1]; exit}' /proc/$$/maps)
run probee unwind-info $$ "0x$start" malloc; exits 0; silent; prints "0x$start "; prints ' malloc: '
run probee unwind-info $$ 0x10; exits 1; one_line; says 'in no executable mapping'
run probee unwind-info $$ --json; exits 0; silent; prints '"pid":'
[ "$(id -u)" != 0 ] || [ ! -e /proc/2 ] || [ -s /proc/2/maps ] || {
	run probee unwind-info 2; exits 1; one_line; says 'a kernel thread'
}
finish
