/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/beside_names.h"

#include <errno.h>
#include <string.h>

/* Offset of a copy of s, for which there must be room. */
static uint32_t put(struct beside_names *n, const char *s)
{
	size_t len = strlen(s) + 1;
	uint32_t at = n->text_len;

	memcpy(n->text + at, s, len);
	n->text_len += (uint32_t)len;
	return at;
}

static bool is_length(uint32_t kind, size_t build_id_len)
{
	if (kind != BESIDE_ALT)
		return !build_id_len;
	return build_id_len >= 2 && build_id_len <= sizeof(((struct beside_name *)0)->build_id);
}

int beside_names_add(struct beside_names *n, enum beside_kind kind, const char *name,
		     const char *dir, const void *build_id, size_t build_id_len)
{
	struct beside_name *b;

	name = name ? name : "";
	dir = dir ? dir : "";
	if (!is_length(kind, build_id_len))
		return -EINVAL;
	if (n->nr == BESIDE_MAX ||
	    strlen(name) + strlen(dir) + 2 > sizeof(n->text) - n->text_len)
		return -ENOSPC;
	b = &n->v[n->nr++];
	*b = (struct beside_name){ .kind = kind, .build_id_len = (uint32_t)build_id_len };
	b->name = put(n, name);
	b->dir = put(n, dir);
	if (build_id_len)
		memcpy(b->build_id, build_id, build_id_len);
	return 0;
}

bool beside_names_are_sound(const struct beside_names *n)
{
	if (n->nr > BESIDE_MAX || n->text_len > sizeof(n->text))
		return false;
	if (n->nr && (!n->text_len || n->text[n->text_len - 1]))
		return false;
	for (uint32_t i = 0; i < n->nr; i++) {
		const struct beside_name *b = &n->v[i];

		if (b->kind >= BESIDE_KINDS || b->name >= n->text_len || b->dir >= n->text_len ||
		    !is_length(b->kind, b->build_id_len))
			return false;
	}
	return true;
}
