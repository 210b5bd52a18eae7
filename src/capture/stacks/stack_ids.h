/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that the BPF programs hand out once, under an id, and refer to from then on
 * (bpf/off_cpu.bpf.h). They are kept as they came, with registers and memory if there are any.
 *
 *	stack_ids_new(&s)
 *	stack_ids_put(s, id, record, len)	takes a copy of what wire_decode() has accepted
 *	stack_ids_find(s, id, &len)		that record, borrowed until the next call; NULL: it
 *						is not there
 *	stack_ids_free(s)
 *
 * An id with the bit STACK_IDS_SINGLE is referred to once at most: the record is gone after the
 * second find() that follows. Those whose reference does not come are thrown out, oldest first,
 * when they take more than 16 MiB. All others stay; the BPF programs know at most 32,768 of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STACK_IDS_SINGLE (1ull << 63)

struct stack_ids;

int stack_ids_new(struct stack_ids **sp);
void stack_ids_free(struct stack_ids *s);		/* NULL is fine */

int stack_ids_put(struct stack_ids *s, uint64_t id, const void *record, size_t len);
const void *stack_ids_find(struct stack_ids *s, uint64_t id, size_t *len);
size_t stack_ids_bytes(const struct stack_ids *s);	/* of all records */
