/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a BTF blob by their number, without a copy of the blob: one pass over its bytes. A
 * kernel has 100,000 types.
 *
 * Format: Documentation/bpf/btf.rst of the kernel.
 */
#pragma once

#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>

struct btf_types {
	const uint8_t *bytes;		/* borrowed, like strings */
	const char *strings;
	uint32_t nr_bytes, nr_strings;
	uint32_t *at;			/* by number: where in bytes; 0 is void and has none */
	uint32_t nr;			/* with void */
};

/* 0, -EINVAL (no BTF of this byte order, or a kind that is not known), -ENOMEM. */
int btf_types_init(struct btf_types *t, const void *blob, size_t blob_bytes);
void btf_types_release(struct btf_types *t);

/* id: 1 to nr - 1. */
const struct btf_type *btf_types_get(const struct btf_types *t, uint32_t id);
/* The size of a type with what follows it. */
uint32_t btf_type_bytes(const struct btf_type *type);
/* "" where the offset is outside. */
const char *btf_types_string(const struct btf_types *t, uint32_t offset);
