/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small BTF against libbpf, which reads the whole one of the kernel that runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>
#include <errno.h>

#include "src/capture/bpf/bpf_object.h"
#include "src/capture/bpf/btf_types.h"
#include "src/capture/bpf/kernel_types.h"

struct whole {
	struct btf *btf;
	const void *blob;
	uint32_t bytes;
	struct object_wishes wishes;
};

static void open_whole(struct whole *w)
{
	size_t elf_bytes;
	const void *elf = bpf_object_bytes(true, true, &elf_bytes);

	w->btf = btf__load_vmlinux_btf();
	if (!w->btf)
		skip();
	w->blob = btf__raw_data(w->btf, &w->bytes);
	assert_non_null(w->blob);
	assert_int_equal(object_wishes_init(&w->wishes, elf, elf_bytes), 0);
}

static void close_whole(struct whole *w)
{
	object_wishes_release(&w->wishes);
	btf__free(w->btf);
}

/* Without typedefs and qualifiers. */
static const struct btf_type *bare(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (btf_is_mod(t) || btf_is_typedef(t) || btf_kind(t) == BTF_KIND_TYPE_TAG)
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* Members with members of their own are compared, too. */
static unsigned compare(const struct btf *a, uint32_t ida, const struct btf *b, uint32_t idb)
{
	const struct btf_type *ta = bare(a, ida), *tb = bare(b, idb);
	const struct btf_member *ma = btf_members(ta), *mb = btf_members(tb);
	unsigned nr = 1;

	assert_int_equal(btf_kind(ta), btf_kind(tb));
	assert_string_equal(btf__name_by_offset(a, ta->name_off), btf__name_by_offset(b, tb->name_off));
	if (btf_is_ptr(ta))
		return nr;
	assert_int_equal(btf__resolve_size(a, ida), btf__resolve_size(b, idb));
	if (btf_is_array(ta))
		return nr + compare(a, btf_array(ta)->type, b, btf_array(tb)->type);
	assert_int_equal(btf_vlen(ta), btf_vlen(tb));
	if (btf_is_int(ta))
		assert_int_equal(btf_int_encoding(ta), btf_int_encoding(tb));
	for (uint16_t i = 0; btf_is_composite(ta) && i < btf_vlen(ta); i++) {
		assert_string_equal(btf__name_by_offset(a, ma[i].name_off),
				    btf__name_by_offset(b, mb[i].name_off));
		assert_int_equal(ma[i].offset, mb[i].offset);
		nr += compare(a, ma[i].type, b, mb[i].type);
	}
	return nr;
}

static void test_layouts(void **state)
{
	struct whole w;
	bool trusted;
	void *small;
	size_t small_bytes;
	struct btf *btf;
	unsigned nr = 0;

	(void)state;
	open_whole(&w);
	assert_int_equal(kernel_types_cut(w.blob, w.bytes, &w.wishes, &small, &small_bytes, &trusted), 0);
	btf = btf__new(small, (uint32_t)small_bytes);
	assert_non_null(btf);
	assert_true(w.wishes.nr_layouts > 20);
	for (size_t i = 0; i < w.wishes.nr_layouts; i++) {
		const struct wish *x = &w.wishes.v[i];
		int whole = btf__find_by_name_kind(w.btf, x->name, BTF_KIND_STRUCT);
		int cut = btf__find_by_name_kind(btf, x->name, BTF_KIND_STRUCT);

		assert_true(whole > 0 && cut > 0);
		assert_int_equal(x->id, whole);
		nr += compare(w.btf, (uint32_t)whole, btf, (uint32_t)cut);
	}
	assert_true(nr > 1000);
	assert_true(small_bytes < w.bytes / 8);
	btf__free(btf);
	free(small);
	close_whole(&w);
}

static void test_targets(void **state)
{
	static const struct {
		const char *section, *name;
		uint32_t kind;
	} rows[] = {
		{ "?tp_btf/sched_switch", "btf_trace_sched_switch", BTF_KIND_TYPEDEF },
		{ "tp_btf/sched_process_exec", "btf_trace_sched_process_exec", BTF_KIND_TYPEDEF },
		{ "?iter.s/task", "bpf_iter_task", BTF_KIND_FUNC },
		{ "?iter/task", "bpf_iter_task", BTF_KIND_FUNC },
	};
	struct kernel_types t;
	struct whole w;
	size_t elf_bytes;
	const void *elf = bpf_object_bytes(true, true, &elf_bytes);

	(void)state;
	open_whole(&w);
	assert_int_equal(kernel_types_open(elf, elf_bytes, &t), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(kernel_types_target(&t, rows[i].section),
				 btf__find_by_name_kind(w.btf, rows[i].name, rows[i].kind));
	assert_int_equal(kernel_types_target(&t, "?perf_event"), 0);
	assert_int_equal(kernel_types_target(&t, "?raw_tp/sched_switch"), 0);
	kernel_types_close(&t);
	close_whole(&w);
}

/* A kernel may lack a type; then libbpf is to look in all its modules. */
static void test_one_is_missing(void **state)
{
	struct whole w;
	bool trusted;
	void *small;
	size_t bytes;

	(void)state;
	open_whole(&w);
	w.wishes.v[0].name[0] = '?';
	assert_int_equal(kernel_types_cut(w.blob, w.bytes, &w.wishes, &small, &bytes, &trusted), -ENOENT);
	assert_null(small);
	assert_int_not_equal(w.wishes.v[w.wishes.nr_layouts].id, 0);	/* targets are found */
	close_whole(&w);
}

/* What is cut short or changed is an error, or gives other types, and never more than its bytes. */
static void test_broken(void **state)
{
	struct whole w;
	bool trusted;
	void *small, *copy;
	size_t small_bytes, other;
	int err;

	(void)state;
	open_whole(&w);
	assert_int_equal(kernel_types_cut(w.blob, w.bytes, &w.wishes, &small, &small_bytes, &trusted), 0);
	for (size_t n = 0; n < small_bytes; n += n < 100 ? 1 : 997) {
		void *out;
		void *part = malloc(n ? n : 1);

		memcpy(part, small, n);
		for (size_t i = 0; i < w.wishes.nr; i++)
			w.wishes.v[i].id = 0;
		assert_int_not_equal(kernel_types_cut(part, n, &w.wishes, &out, &other, &trusted), 0);
		free(part);
	}
	copy = malloc(small_bytes);
	for (size_t at = sizeof(struct btf_header); at < small_bytes; at += 37) {
		void *out;

		memcpy(copy, small, small_bytes);
		((uint8_t *)copy)[at] ^= 0x55;
		for (size_t i = 0; i < w.wishes.nr; i++)
			w.wishes.v[i].id = 0;
		err = kernel_types_cut(copy, small_bytes, &w.wishes, &out, &other, &trusted);
		assert_true(err == 0 || err == -EINVAL || err == -ENOENT);
		free(out);
	}
	free(copy);
	free(small);
	close_whole(&w);
}

/* What tells that global functions may get a task, as libbpf sees it. */
static void test_trusted(void **state)
{
	struct kernel_types t;
	struct whole w;
	size_t elf_bytes;
	const void *elf = bpf_object_bytes(true, true, &elf_bytes);
	int id;
	bool is_there = false;

	(void)state;
	open_whole(&w);
	id = btf__find_by_name_kind(w.btf, "bpf_subprog_arg_info", BTF_KIND_STRUCT);
	if (id > 0) {
		const struct btf_type *s = btf__type_by_id(w.btf, (uint32_t)id), *u;
		const struct btf_member *m;

		u = btf__type_by_id(w.btf, btf_members(s)[btf_vlen(s) - 1].type);
		m = btf_members(u);
		for (uint16_t i = 0; btf_is_union(u) && i < btf_vlen(u); i++)
			is_there |= !strcmp(btf__name_by_offset(w.btf, m[i].name_off), "btf_id");
	}
	assert_int_equal(kernel_types_open(elf, elf_bytes, &t), 0);
	assert_int_equal(t.has_trusted_args, is_there);
	kernel_types_close(&t);
	close_whole(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_trusted),
		cmocka_unit_test(test_one_is_missing),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
