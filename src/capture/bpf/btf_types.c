/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/btf_types.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MEAN_BYTES 24			/* of a type, about */

/* What follows a type: once, and for each of its members. */
static const struct {
	bool known;
	uint8_t once, each;
} kinds[] = {
	[BTF_KIND_INT] = { true, sizeof(uint32_t), 0 },
	[BTF_KIND_PTR] = { true, 0, 0 },
	[BTF_KIND_ARRAY] = { true, sizeof(struct btf_array), 0 },
	[BTF_KIND_STRUCT] = { true, 0, sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { true, 0, sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { true, 0, sizeof(struct btf_enum) },
	[BTF_KIND_FWD] = { true, 0, 0 },
	[BTF_KIND_TYPEDEF] = { true, 0, 0 },
	[BTF_KIND_VOLATILE] = { true, 0, 0 },
	[BTF_KIND_CONST] = { true, 0, 0 },
	[BTF_KIND_RESTRICT] = { true, 0, 0 },
	[BTF_KIND_FUNC] = { true, 0, 0 },
	[BTF_KIND_FUNC_PROTO] = { true, 0, sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { true, sizeof(struct btf_var), 0 },
	[BTF_KIND_DATASEC] = { true, 0, sizeof(struct btf_var_secinfo) },
	[BTF_KIND_FLOAT] = { true, 0, 0 },
	[BTF_KIND_DECL_TAG] = { true, sizeof(struct btf_decl_tag), 0 },
	[BTF_KIND_TYPE_TAG] = { true, 0, 0 },
	[BTF_KIND_ENUM64] = { true, 0, sizeof(struct btf_enum64) },
};

uint32_t btf_type_bytes(const struct btf_type *type)
{
	uint32_t kind = BTF_INFO_KIND(type->info);

	return (uint32_t)sizeof(*type) + kinds[kind].once +
	       BTF_INFO_VLEN(type->info) * kinds[kind].each;
}

static bool is_known(const struct btf_type *type)
{
	uint32_t kind = BTF_INFO_KIND(type->info);

	return kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].known;
}

static int grow(struct btf_types *t, size_t *room)
{
	size_t want = *room * 2;
	uint32_t *at = want <= UINT32_MAX ? realloc(t->at, want * sizeof(*at)) : NULL;

	if (!at)
		return -ENOMEM;
	t->at = at;
	*room = want;
	return 0;
}

static int find_types(struct btf_types *t)
{
	size_t room = t->nr_bytes / MEAN_BYTES + 2;
	uint32_t at = 0;

	t->at = malloc(room * sizeof(*t->at));
	if (!t->at)
		return -ENOMEM;
	t->at[0] = 0;
	for (t->nr = 1; t->nr_bytes - at >= sizeof(struct btf_type); t->nr++) {
		const struct btf_type *type = (const void *)(t->bytes + at);

		if (!is_known(type) || btf_type_bytes(type) > t->nr_bytes - at)
			return -EINVAL;
		if (t->nr == room && grow(t, &room))
			return -ENOMEM;
		t->at[t->nr] = at;
		at += btf_type_bytes(type);
	}
	return at == t->nr_bytes ? 0 : -EINVAL;
}

static bool is_inside(const struct btf_header *h, size_t off, size_t len, size_t blob_bytes)
{
	return h->hdr_len <= blob_bytes && off <= blob_bytes - h->hdr_len &&
	       len <= blob_bytes - h->hdr_len - off;
}

int btf_types_init(struct btf_types *t, const void *blob, size_t blob_bytes)
{
	const struct btf_header *h = blob;
	int err;

	*t = (struct btf_types){ 0 };
	if (blob_bytes < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION ||
	    h->hdr_len < sizeof(*h) || h->hdr_len % 4 || h->type_off % 4 || !h->str_len ||
	    !is_inside(h, h->type_off, h->type_len, blob_bytes) ||
	    !is_inside(h, h->str_off, h->str_len, blob_bytes))
		return -EINVAL;
	t->bytes = (const uint8_t *)blob + h->hdr_len + h->type_off;
	t->nr_bytes = h->type_len;
	t->strings = (const char *)blob + h->hdr_len + h->str_off;
	t->nr_strings = h->str_len;
	err = t->strings[t->nr_strings - 1] ? -EINVAL : find_types(t);
	if (err)
		btf_types_release(t);
	return err;
}

void btf_types_release(struct btf_types *t)
{
	free(t->at);
	*t = (struct btf_types){ 0 };
}

const struct btf_type *btf_types_get(const struct btf_types *t, uint32_t id)
{
	return (const void *)(t->bytes + t->at[id]);
}

const char *btf_types_string(const struct btf_types *t, uint32_t offset)
{
	return offset < t->nr_strings ? t->strings + offset : "";
}
