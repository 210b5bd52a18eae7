/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/diff/diff_merge.h"
#include "src/profile/profile_delta.h"
#include "tests/unit/tree.h"

static void name_is(const char *s, bool is_label, const char *want)
{
	char got[128];
	size_t len = diff_name(got, s, strlen(s), is_label);

	if (len > strlen(s) || len != strlen(want) || memcmp(got, want, len))
		fail_msg("'%s' became '%.*s', not '%s'", s, (int)len, got, want);
}

static void names(void **state)
{
	(void)state;
	name_is("copy.constprop.3", false, "copy.constprop");
	name_is("copy.isra.0", false, "copy.isra");
	name_is("f.llvm.123456789", false, "f.llvm");
	name_is("main.main.func1.2", false, "main.main.func1.2");	/* Go's closures */
	name_is("utf8", false, "utf8");
	name_is(".isra.", false, ".isra.");
	name_is("[libfoo.so.1.2+0x1a40]", false, "[libfoo.so]");
	name_is("[app+0x10]", false, "[app]");
	name_is("[jit]", false, "[jit]");
	name_is("[+]", false, "[+]");
	name_is("java (1234)", true, "java");
	name_is("cc1plus (212 processes)", true, "cc1plus");
	name_is("f (12)", false, "f (12)");
	name_is("(12)", true, "(12)");
	name_is(" (12)", true, " (12)");
	name_is("a ()", true, "a ()");
	name_is("", true, "");
	name_is("", false, "");
}

static const struct node_delta *find(const struct profile *p, const char *name, uint32_t *node)
{
	for (uint32_t i = 0; i < p->nr_nodes; i++) {
		if (strcmp(profile_name(p, p->nodes[i].name), name))
			continue;
		if (node)
			*node = i;
		return &p->deltas->nodes[i];
	}
	fail_msg("there is no %s", name);
	return NULL;
}

static void merge(struct profile *a, struct profile *b, uint64_t num, uint64_t den,
		  struct diff_merged *m)
{
	struct profile *sides[2] = { a, b };
	struct diff_ratio ratio = { num, den };

	assert_int_equal(diff_merge(sides, &ratio, m), 0);
}

static void weights(void **state)
{
	struct profile a, b;
	struct diff_merged m;
	const struct node_delta *d;

	(void)state;
	tree_init(&a);
	tree_init(&b);
	tree_add(&a, "app;main;old 10");
	tree_add(&a, "app;main;work 20");
	tree_add(&b, "app;main 3");
	tree_add(&b, "app;main;work;deep 7");
	merge(&a, &b, 1, 1, &m);
	d = find(m.p, "main", NULL);
	assert_int_equal(d->total.before, 30);
	assert_int_equal(d->total.after, 10);
	assert_int_equal(d->after_self, 3);
	d = find(m.p, "old", NULL);
	assert_int_equal(d->before_self, 10);
	assert_int_equal(d->total.after, 0);
	d = find(m.p, "work", NULL);
	assert_int_equal(d->before_self, 20);
	assert_int_equal(d->after_self, 0);
	assert_int_equal(d->total.after, 7);
	assert_int_equal(m.p->nodes[0].total, 40);	/* both, for pictures */
	diff_merged_release(&m);
	tree_release(&a);
	tree_release(&b);
}

/* A thousand single samples, scaled by 0.97, are 970 and not a thousand or none. */
static void scaled_sums(void **state)
{
	struct profile a, b;
	struct diff_merged m;
	char line[32];

	(void)state;
	tree_init(&a);
	tree_init(&b);
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "app;f%03d 1", i);
		tree_add(&a, line);
	}
	merge(&a, &b, 97, 100, &m);
	assert_int_equal(m.p->deltas->nodes[0].total.before, 970);
	diff_merged_release(&m);
	merge(&a, &b, UINT64_MAX, 1, &m);
	assert_true(m.p->deltas->nodes[0].total.before == UINT64_MAX);
	diff_merged_release(&m);
	tree_release(&a);
	tree_release(&b);
}

/* Other paths, versions and addresses; the same functions. */
static void across_builds(void **state)
{
	struct profile a, b;
	struct diff_merged m;
	uint32_t node;

	(void)state;
	tree_init(&a);
	tree_init(&b);
	tree_add(&a, "app (12)_[s];main @/v1/src/main.c:10;copy.constprop.0;[libx.so.1+0x40] 5");
	tree_add(&b, "app (99)_[s];main @/v2/src/main.c:12;copy.constprop.4_[i];[libx.so.2+0x80] 7");
	a.nodes[2].binary = tree_name(&a, "/opt/v1/app", 11);
	b.nodes[2].binary = tree_name(&b, "/opt/v2/app", 11);
	merge(&a, &b, 1, 1, &m);
	assert_int_equal(m.p->nr_nodes, 5);
	find(m.p, "app", &node);
	assert_int_equal(m.p->nodes[node].parent, 0);
	find(m.p, "main", &node);
	assert_string_equal(profile_name(m.p, m.p->nodes[node].binary), "/opt/v2/app");
	assert_string_equal(profile_name(m.p, m.p->nodes[node].file), "/v2/src/main.c");
	assert_int_equal(m.p->nodes[node].line, 12);
	find(m.p, "copy.constprop.4", &node);
	assert_true(m.p->nodes[node].flags & NODE_INLINED);
	assert_int_equal(find(m.p, "[libx.so]", NULL)->total.before, 5);
	diff_merged_release(&m);
	tree_release(&a);
	tree_release(&b);
}

/* Functions of one name in other files are others; kernel and user code never are one. */
static void namesakes(void **state)
{
	struct profile a, b;
	struct diff_merged m;

	(void)state;
	tree_init(&a);
	tree_init(&b);
	tree_add(&a, "app;init @/src/a.c:1 5");
	tree_add(&b, "app;init @/src/b.c:1 7");
	tree_add(&a, "app;read_[k] 1");
	tree_add(&b, "app;read 1");
	merge(&a, &b, 1, 1, &m);
	assert_int_equal(m.p->nr_nodes, 6);
	diff_merged_release(&m);
	tree_release(&a);
	tree_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),	 cmocka_unit_test(weights),
		cmocka_unit_test(scaled_sums),	 cmocka_unit_test(across_builds),
		cmocka_unit_test(namesakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
