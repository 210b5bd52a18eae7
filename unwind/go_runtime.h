/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where Go's runtime keeps what leads from a thread to the goroutine that it works for. This
 * differs between versions, and stripped programs have no debug information; but the code of
 * runtime.systemstack says it, where it goes back to the goroutine's stack:
 *
 *	mov %fs:TLS,%rax  or  mov $TLS,%rcx; mov %fs:(%rcx),%rax	the thread's g
 *	mov 0x30(%rax),%rbx						its m
 *	mov CURG(%rbx),%rax						the m's goroutine
 *	...
 *	mov BP(%rax),%rbp						since Go 1.21
 *
 * Internal to go_table.c and go_rules.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct go_runtime {
	bool is_known;
	int32_t tls;			/* g, from the thread pointer */
	int32_t curg;			/* in struct m */
	int32_t bp;			/* sched.bp in struct g */
};

/*
 * Reads the code of runtime.systemstack for x86-64. False: it says something else, and *out is as
 * it was.
 */
bool go_runtime_read(const uint8_t *code, size_t len, struct go_runtime *out);
