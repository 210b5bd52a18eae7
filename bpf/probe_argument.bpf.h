/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of USDT probes. Each place of a probe has them elsewhere, in registers or in memory, as
 * a note in the file says; user space makes a struct usdt_place of it (usdt_arguments.h).
 */
#pragma once

#include "bpf/maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* USDT_PLACES; set by user space */
	__type(key, uint32_t);
	__type(value, struct usdt_place);
} usdt_places SEC(".maps");

static __always_inline uint64_t register_word(uint64_t regs, uint32_t word)
{
	uint64_t value = 0;

	if (word < ARCH_NR_REGS)
		bpf_probe_read_kernel(&value, sizeof(value), (void *)(regs + 8 * word));
	return value;
}

/* Copies so many bytes of user memory. Those behind may be on a page that is not there. */
static __always_inline long read_sized(uint64_t *value, uint32_t size, uint64_t addr)
{
	*value = 0;
	if (size == 8)
		return bpf_probe_read_user(value, 8, (void *)addr);
	if (size == 4)
		return bpf_probe_read_user(value, 4, (void *)addr);
	if (size == 2)
		return bpf_probe_read_user(value, 2, (void *)addr);
	return bpf_probe_read_user(value, 1, (void *)addr);
}

/* base, index: its registers, or 0. Its value as a word of 64 bits: 0, or an error. */
static __always_inline long read_argument(const struct probe_argument *a, uint64_t base,
					  uint64_t index, uint64_t *out)
{
	uint64_t value = a->value;
	uint32_t shift = 64 - 8 * a->size;
	long err = a->kind == ARGUMENT_NONE;

	if (a->kind == ARGUMENT_REGISTER)
		value = base >> (a->shift & 63);
	if (a->kind == ARGUMENT_MEMORY)
		err = read_sized(&value, a->size, base + value + index * a->scale);
	value <<= shift & 63;
	*out = a->is_signed ? (uint64_t)((int64_t)value >> (shift & 63)) : value >> (shift & 63);
	return err;
}

/*
 * regs: address of the struct pt_regs. A function of its own for the verifier. 0, or an error.
 */
__noinline long usdt_argument_at(uint64_t regs, uint32_t place, uint32_t i, uint64_t *out)
{
	struct usdt_place *p;

	if (!WITH_PROBES || !out || i >= USDT_ARGUMENTS)
		return 1;
	p = bpf_map_lookup_elem(&usdt_places, &place);
	if (!p)
		return 1;
	return read_argument(&p->v[i], register_word(regs, p->v[i].reg),
			     register_word(regs, p->v[i].index), out);
}
