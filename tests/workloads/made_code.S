/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `made image FILE` runs: functions that keep no frame pointers, with unwind information that only gdb is given. Each spins
 * and calls the next one; the innermost calls back. To be linked at ADDRESS, where made maps memory:
 *	gcc -c made_code.S; ld -Ttext=0x6a0000000000 -e entry; objcopy -O binary -j .text
 */
	.text

	.macro spin
	mov	$4096, %ecx
9:	dec	%ecx
	jne	9b
	.endm

	.globl	entry, plain, data_in_rbp, deep
	.type	entry, @function
entry:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	push	%r12
	.cfi_def_cfa_offset 24
	sub	$8, %rsp
	.cfi_def_cfa_offset 32
	mov	%rdi, %rbx
	mov	%rsi, %r12
1:	mov	%r12, %rdi
	call	plain
	spin
	dec	%rbx
	jne	1b
	add	$8, %rsp
	.cfi_def_cfa_offset 24
	pop	%r12
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	entry, . - entry

	.balign	16
	.type	plain, @function
plain:
	.cfi_startproc
	sub	$72, %rsp
	.cfi_def_cfa_offset 80
	mov	%rdi, 8(%rsp)
	spin
	call	data_in_rbp
	test	%rax, %rax
	jne	2f
	add	$72, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
2:	.cfi_restore_state
	spin
	add	$72, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	plain, . - plain

	.balign	16
	.type	data_in_rbp, @function
data_in_rbp:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	push	%r13
	.cfi_def_cfa_offset 24
	push	%r14
	.cfi_def_cfa_offset 32
	xor	%ebp, %ebp
	mov	%rdi, %r13
3:	mov	%r13, %rdi
	call	deep
	spin
	inc	%rbp
	cmp	$3, %rbp
	jne	3b
	mov	%rbp, %rax
	and	$1, %eax
	pop	%r14
	.cfi_def_cfa_offset 24
	pop	%r13
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	data_in_rbp, . - data_in_rbp

	.balign	16
	.type	deep, @function
deep:
	.cfi_startproc
	sub	$1032, %rsp
	.cfi_def_cfa_offset 1040
	spin
	call	*%rdi
	spin
	add	$1032, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	deep, . - deep
	.section .note.GNU-stack, "", @progbits
