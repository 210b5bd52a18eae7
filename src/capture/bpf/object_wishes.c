/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/object_wishes.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/capture/bpf/btf_types.h"

/* The head of .BTF.ext up to what is read here, as libbpf and the compiler know it. */
struct btf_ext_head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len;
	uint32_t func_info_off, func_info_len, line_info_off, line_info_len;
	uint32_t relo_off, relo_len;
};

struct relo_section {			/* behind it: that many records */
	uint32_t name_off, nr;
};

struct relo {				/* struct bpf_core_relo of linux/bpf.h */
	uint32_t insn_off, type_id, access_off, kind;
};

/* Programs of these sections are loaded by parallel_load.c, which has a row for each, too. */
static const struct prefix {
	const char *section, *type;
	uint32_t kind;
} prefixes[] = {
	{ "tp_btf/", "btf_trace_", BTF_KIND_TYPEDEF },
	{ "iter/", "bpf_iter_", BTF_KIND_FUNC },
	{ "iter.s/", "bpf_iter_", BTF_KIND_FUNC },
};

int object_wishes_target(const char *section, char name[WISH_NAME])
{
	section += *section == '?';
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i].section);

		if (strncmp(section, prefixes[i].section, len))
			continue;
		snprintf(name, WISH_NAME, "%s%s", prefixes[i].type, section + len);
		return (int)prefixes[i].kind;
	}
	return 0;
}

static int wish(struct object_wishes *w, const char *name, uint32_t kinds)
{
	struct wish *new;

	for (size_t i = 0; i < w->nr; i++)
		if (!strcmp(w->v[i].name, name)) {
			w->v[i].kinds |= kinds;
			return 0;
		}
	new = array_push(&w->v, &w->nr, &w->cap);
	if (!new)
		return -ENOMEM;
	new->kinds = kinds;
	new->name = strdup(name);
	return new->name ? 0 : -ENOMEM;
}

/* The kernel may have made an enum wider than the object knows it. */
static uint32_t kinds_like(uint32_t kind)
{
	bool is_enum = kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;

	return is_enum ? 1u << BTF_KIND_ENUM | 1u << BTF_KIND_ENUM64 : 1u << kind;
}

/* What comes behind "___" tells the object's own versions of a type apart. */
static int wish_layout(struct object_wishes *w, const struct btf_types *types, uint32_t id)
{
	const struct btf_type *type = id && id < types->nr ? btf_types_get(types, id) : NULL;
	char name[128];
	char *version;

	if (!type)
		return -EINVAL;
	snprintf(name, sizeof(name), "%s", btf_types_string(types, type->name_off));
	version = strstr(name, "___");
	if (version)
		*version = 0;
	return wish(w, name, kinds_like(BTF_INFO_KIND(type->info)));
}

static int wish_layouts(struct object_wishes *w, const struct btf_types *types, const uint8_t *ext,
			size_t ext_bytes)
{
	const struct btf_ext_head *h = (const void *)ext;
	const uint8_t *at, *end;
	uint32_t each;
	int err = 0;

	if (ext_bytes < sizeof(*h) || (size_t)h->hdr_len + h->relo_off + h->relo_len > ext_bytes)
		return -EINVAL;
	at = ext + h->hdr_len + h->relo_off;
	end = at + h->relo_len;
	if (at == end)
		return 0;
	memcpy(&each, at, sizeof(each));
	for (at += sizeof(each); !err && at + sizeof(struct relo_section) <= end;) {
		const struct relo_section *s = (const void *)at;

		at += sizeof(*s);
		for (uint32_t i = 0; i < s->nr && !err && at + sizeof(struct relo) <= end; i++) {
			const struct relo *relo = (const void *)at;

			err = wish_layout(w, types, relo->type_id);
			at += each;
		}
	}
	return err;
}

static int wish_target(struct object_wishes *w, const char *section)
{
	char name[WISH_NAME];
	int kind = object_wishes_target(section, name);

	return kind ? wish(w, name, 1u << kind) : 0;
}

struct sections {
	const uint8_t *elf;
	const Elf64_Shdr *v;
	const char *names;
	size_t nr;
};

static int find_sections(struct sections *s, const void *elf, size_t elf_bytes)
{
	const Elf64_Ehdr *h = elf;

	if (elf_bytes < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_shoff + (size_t)h->e_shnum * sizeof(Elf64_Shdr) > elf_bytes ||
	    h->e_shstrndx >= h->e_shnum)
		return -EINVAL;
	s->elf = elf;
	s->v = (const void *)(s->elf + h->e_shoff);
	s->nr = h->e_shnum;
	s->names = (const char *)s->elf + s->v[h->e_shstrndx].sh_offset;
	return 0;
}

static const Elf64_Shdr *section_named(const struct sections *s, const char *name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->names + s->v[i].sh_name, name))
			return &s->v[i];
	return NULL;
}

static int wish_all(struct object_wishes *w, const struct sections *s)
{
	const Elf64_Shdr *btf = section_named(s, ".BTF"), *ext = section_named(s, ".BTF.ext");
	struct btf_types types;
	int err = btf && ext ? btf_types_init(&types, s->elf + btf->sh_offset, btf->sh_size)
			     : -EINVAL;

	if (err)
		return err;
	err = wish_layouts(w, &types, s->elf + ext->sh_offset, ext->sh_size);
	btf_types_release(&types);
	w->nr_layouts = w->nr;
	for (size_t i = 0; i < s->nr && !err; i++)
		err = wish_target(w, s->names + s->v[i].sh_name);
	return err;
}

int object_wishes_init(struct object_wishes *w, const void *elf, size_t elf_bytes)
{
	struct sections s;
	int err = find_sections(&s, elf, elf_bytes);

	*w = (struct object_wishes){ 0 };
	if (!err)
		err = wish_all(w, &s);
	if (err)
		object_wishes_release(w);
	return err;
}

int object_wishes_add(struct object_wishes *w, const char *name, uint32_t kinds)
{
	return wish(w, name, kinds);
}

void object_wishes_release(struct object_wishes *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->v[i].name);
	free(w->v);
	*w = (struct object_wishes){ 0 };
}
