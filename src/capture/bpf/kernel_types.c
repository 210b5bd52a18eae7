/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/io.h"
#include "src/capture/bpf/btf_types.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define MAX_BYTES (256u << 20)
#define WISHABLE (1u << BTF_KIND_INT | 1u << BTF_KIND_STRUCT | 1u << BTF_KIND_UNION | \
		  1u << BTF_KIND_ENUM | 1u << BTF_KIND_ENUM64 | 1u << BTF_KIND_TYPEDEF | \
		  1u << BTF_KIND_FUNC)

/* ---- The small blob ---- */

struct cut {
	struct btf_types all;
	uint32_t *new_ids;		/* by number in all; 0: not copied */
	uint32_t *ids;			/* copied, in the order of their new numbers */
	size_t nr_ids, cap_ids;
	uint8_t *types;
	size_t nr_types, cap_types;
	char *strings;
	size_t nr_strings, cap_strings;
};

/* Returns the new number of a type, and queues it to be copied. 0: void, or no memory: *err. */
static uint32_t want(struct cut *c, uint32_t id, int *err)
{
	uint32_t *slot;

	if (!id || *err)
		return 0;
	if (id >= c->all.nr) {
		*err = -EINVAL;
		return 0;
	}
	if (c->new_ids[id])
		return c->new_ids[id];
	slot = array_push(&c->ids, &c->nr_ids, &c->cap_ids);
	if (!slot) {
		*err = -ENOMEM;
		return 0;
	}
	*slot = id;
	return c->new_ids[id] = (uint32_t)c->nr_ids;
}

static void *room(void **v, size_t *nr, size_t *cap, size_t bytes, int *err)
{
	void *at;

	if (*err || array_reserve_raw(v, cap, *nr + bytes, 1)) {
		*err = *err ? *err : -ENOMEM;
		return NULL;
	}
	at = (char *)*v + *nr;
	*nr += bytes;
	return at;
}

static uint32_t copy_string(struct cut *c, uint32_t off, int *err)
{
	const char *text = btf_types_string(&c->all, off);
	size_t bytes = strlen(text) + 1;
	char *to;

	if (bytes == 1)
		return 0;
	to = room((void **)&c->strings, &c->nr_strings, &c->cap_strings, bytes, err);
	if (!to)
		return 0;
	memcpy(to, text, bytes);
	return (uint32_t)(to - c->strings);
}

static void copy_members(struct cut *c, struct btf_member *m, uint32_t nr, int *err)
{
	for (uint32_t i = 0; i < nr; i++) {
		m[i].name_off = copy_string(c, m[i].name_off, err);
		m[i].type = want(c, m[i].type, err);
	}
}

/* An enumerator of either width begins with its name. */
static void copy_enumerators(struct cut *c, uint8_t *v, size_t each, uint32_t nr, int *err)
{
	for (uint32_t i = 0; i < nr; i++, v += each) {
		uint32_t *name_off = (uint32_t *)(void *)v;

		*name_off = copy_string(c, *name_off, err);
	}
}

/* New numbers in the copy of a type; what it consists of is queued. */
static int adapt(struct cut *c, struct btf_type *type)
{
	struct btf_array *array = (void *)(type + 1);
	uint32_t nr = BTF_INFO_VLEN(type->info);
	int err = 0;

	type->name_off = copy_string(c, type->name_off, &err);
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
		type->type = 0;
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		type->type = want(c, type->type, &err);
		break;
	case BTF_KIND_ARRAY:
		array->type = want(c, array->type, &err);
		array->index_type = want(c, array->index_type, &err);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		copy_members(c, (void *)(type + 1), nr, &err);
		break;
	case BTF_KIND_ENUM:
		copy_enumerators(c, (void *)(type + 1), sizeof(struct btf_enum), nr, &err);
		break;
	case BTF_KIND_ENUM64:
		copy_enumerators(c, (void *)(type + 1), sizeof(struct btf_enum64), nr, &err);
		break;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		break;
	default:			/* no part of a type that has a layout */
		err = -EINVAL;
	}
	return err;
}

static int copy_type(struct cut *c, uint32_t id)
{
	const struct btf_type *from = btf_types_get(&c->all, id);
	uint32_t bytes = btf_type_bytes(from);
	int err = 0;
	void *to = room((void **)&c->types, &c->nr_types, &c->cap_types, bytes, &err);

	if (!to)
		return err;
	memcpy(to, from, bytes);
	return adapt(c, to);
}

static int copy_all(struct cut *c, const struct object_wishes *w)
{
	int err = 0;

	room((void **)&c->strings, &c->nr_strings, &c->cap_strings, 1, &err);	/* the empty one */
	for (size_t i = 0; i < w->nr_layouts; i++)
		want(c, w->v[i].id, &err);
	for (size_t i = 0; i < c->nr_ids && !err; i++)
		err = copy_type(c, c->ids[i]);
	return err;
}

static int join(const struct cut *c, void **small, size_t *small_bytes)
{
	struct btf_header h = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h),
		.type_len = (uint32_t)c->nr_types,
		.str_off = (uint32_t)c->nr_types, .str_len = (uint32_t)c->nr_strings,
	};
	uint8_t *to = malloc(sizeof(h) + c->nr_types + c->nr_strings);

	if (!to)
		return -ENOMEM;
	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), c->types, c->nr_types);
	memcpy(to + sizeof(h) + c->nr_types, c->strings, c->nr_strings);
	*small = to;
	*small_bytes = sizeof(h) + c->nr_types + c->nr_strings;
	return 0;
}

/* ---- What is wanted ---- */

struct search {
	const struct object_wishes *w;
	const char *name;
	uint32_t kind;
};

static bool is_wished(const void *ctx, uint32_t i)
{
	const struct search *s = ctx;

	return s->w->v[i].kinds >> s->kind & 1 && !strcmp(s->w->v[i].name, s->name);
}

static int index_wishes(struct hash_index *ix, const struct object_wishes *w)
{
	int err = 0;

	for (uint32_t i = 0; i < w->nr && !err; i++)
		err = ix_add(ix, hash_bytes(0, w->v[i].name, strlen(w->v[i].name)), i);
	return err;
}

/*
 * -ENOENT: a layout is not there, or there are two of one name, and libbpf has to find out which
 * one fits.
 */
static int find_wishes(const struct btf_types *all, struct object_wishes *w)
{
	struct hash_index ix = { 0 };
	int err = index_wishes(&ix, w), twice = 0;

	for (uint32_t id = 1; id < all->nr && !err; id++) {
		const struct btf_type *type = btf_types_get(all, id);
		struct search s = { w, NULL, BTF_INFO_KIND(type->info) };
		uint32_t i;

		if (!(WISHABLE >> s.kind & 1))
			continue;
		s.name = btf_types_string(all, type->name_off);
		i = ix_find(&ix, hash_bytes(0, s.name, strlen(s.name)), is_wished, &s);
		if (i == IX_NONE)
			continue;
		twice |= w->v[i].id && i < w->nr_layouts;
		w->v[i].id = w->v[i].id ? w->v[i].id : id;
	}
	ix_release(&ix);
	for (size_t i = 0; i < w->nr_layouts; i++)
		twice |= !w->v[i].id;
	return err ? err : twice ? -ENOENT : 0;
}

/* What the verifier knows of an argument; its number of a type came with trusted ones. */
static const char ARGUMENT[] = "bpf_subprog_arg_info", TYPE_OF_ARGUMENT[] = "btf_id";

static bool has_member(const struct btf_types *all, uint32_t id, const char *name, int depth)
{
	const struct btf_type *type = btf_types_get(all, id);
	const struct btf_member *m = (const void *)(type + 1);
	uint32_t kind = BTF_INFO_KIND(type->info);

	if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION)
		return false;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++)
		if (!strcmp(btf_types_string(all, m[i].name_off), name) ||
		    (!m[i].name_off && depth && m[i].type && m[i].type < all->nr &&
		     has_member(all, m[i].type, name, depth - 1)))
			return true;
	return false;
}

static bool has_trusted_args(const struct btf_types *all, const struct object_wishes *w)
{
	for (size_t i = w->nr_layouts; i < w->nr; i++)
		if (!strcmp(w->v[i].name, ARGUMENT))
			return w->v[i].id && has_member(all, w->v[i].id, TYPE_OF_ARGUMENT, 1);
	return false;
}

int kernel_types_cut(const void *blob, size_t blob_bytes, struct object_wishes *w, void **small,
		     size_t *small_bytes, bool *trusted)
{
	struct cut c = { 0 };
	int err = btf_types_init(&c.all, blob, blob_bytes);

	*small = NULL;
	*trusted = false;
	if (!err)
		err = object_wishes_add(w, ARGUMENT, 1u << BTF_KIND_STRUCT);
	if (!err)
		err = find_wishes(&c.all, w);
	if (!err)
		*trusted = has_trusted_args(&c.all, w);
	if (!err)
		c.new_ids = calloc(c.all.nr, sizeof(*c.new_ids));
	if (!err)
		err = c.new_ids ? copy_all(&c, w) : -ENOMEM;
	if (!err)
		err = join(&c, small, small_bytes);
	free(c.new_ids);
	free(c.ids);
	free(c.types);
	free(c.strings);
	btf_types_release(&c.all);
	return err;
}

/* ---- The kernel's ---- */

static int offer(struct kernel_types *t, const void *small, size_t small_bytes)
{
	t->fd = memfd_create("kernel types", MFD_CLOEXEC);
	if (t->fd < 0)
		return -errno;
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", t->fd);
	return io_write(t->fd, small, small_bytes, NULL);
}

/* Without a small file libbpf reads the whole one, and says what is wrong with it. */
static int cut_small(struct kernel_types *t, const void *blob, size_t blob_bytes)
{
	void *small;
	size_t small_bytes = 0;
	int err = kernel_types_cut(blob, blob_bytes, &t->wishes, &small, &small_bytes,
				   &t->has_trusted_args);

	if (!err && offer(t, small, small_bytes))
		t->path[0] = 0;
	free(small);
	return err == -ENOMEM ? err : 0;
}

/* Kernels before 6.16 do not let it be mapped. */
static int cut_copied(struct kernel_types *t, int fd)
{
	char *blob;
	ssize_t n = io_read_all(fd, &blob, MAX_BYTES);
	int err;

	if (n < 0)
		return (int)n;
	err = cut_small(t, blob, (size_t)n);
	free(blob);
	return err;
}

static int cut_file(struct kernel_types *t)
{
	int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;
	int err;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	err = map == MAP_FAILED ? cut_copied(t, fd) : cut_small(t, map, (size_t)st.st_size);
	if (map != MAP_FAILED)
		munmap(map, (size_t)st.st_size);
	close(fd);
	return err;
}

/* libbpf knows where else a kernel's types may be. */
static int cut_elsewhere(struct kernel_types *t)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const void *blob;
	uint32_t bytes = 0;
	int err;

	if (!btf)
		return -ESRCH;
	blob = btf__raw_data(btf, &bytes);
	err = blob ? cut_small(t, blob, bytes) : -ENOMEM;
	btf__free(btf);
	return err;
}

int kernel_types_open(const void *elf, size_t elf_bytes, struct kernel_types *t)
{
	int err;

	*t = (struct kernel_types){ .fd = -1 };
	err = object_wishes_init(&t->wishes, elf, elf_bytes);
	if (!err)
		err = cut_file(t);
	if (err && err != -ENOMEM)
		err = cut_elsewhere(t);
	if (err)
		kernel_types_close(t);
	return err;
}

void kernel_types_close(struct kernel_types *t)
{
	if (t->fd >= 0)
		close(t->fd);
	object_wishes_release(&t->wishes);
	*t = (struct kernel_types){ .fd = -1 };
}

uint32_t kernel_types_target(const struct kernel_types *t, const char *section)
{
	char name[WISH_NAME];
	uint32_t kind = (uint32_t)object_wishes_target(section, name);

	for (size_t i = t->wishes.nr_layouts; kind && i < t->wishes.nr; i++)
		if (!strcmp(t->wishes.v[i].name, name) && t->wishes.v[i].kinds >> kind & 1)
			return t->wishes.v[i].id;
	return 0;
}
