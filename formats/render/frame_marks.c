/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/frame_marks.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/profile/frame_style.h"
#include "src/profile/profile.h"

#define USUAL (MARK_BIT(MARK_KERNEL) | MARK_BIT(MARK_INLINED))

static bool is_kernel(const struct node *n)
{
	return n->kind == FRAME_KERNEL || n->kind == FRAME_BPF;
}

static bool is_inlined(const struct node *n)
{
	return n->flags & NODE_INLINED;
}

static bool is_jit(const struct node *n)
{
	return n->kind == FRAME_JIT && !node_is_interpreted(n);
}

/* The first mark that fits counts. */
static const struct {
	const char *name, *text;
	bool (*fits)(const struct node *n);
} table[FRAME_MARKS] = {
	[MARK_NONE] = { "none", "", NULL },
	[MARK_KERNEL] = { "kernel", "_[k]", is_kernel },
	[MARK_INLINED] = { "inline", INLINED_SUFFIX, is_inlined },
	[MARK_INTERPRETED] = { "interpreted", "_[0]", node_is_interpreted },
	[MARK_JIT] = { "jit", "_[j]", is_jit },
};

static int parse_one(const char *name, size_t len, uint8_t *marks)
{
	static const char all[] = "all";

	for (unsigned m = 0; m < FRAME_MARKS; m++) {
		bool has_name = strlen(table[m].name) == len && !memcmp(name, table[m].name, len);

		if (has_name)
			*marks |= (uint8_t)MARK_BIT(m);
		if (has_name)
			return 0;
	}
	if (len != strlen(all) || memcmp(name, all, len))
		return -EINVAL;
	*marks = MARKS_CHOSEN | (MARK_BIT(FRAME_MARKS) - 1);
	return 0;
}

int frame_marks_parse(const struct opt *o, const char *value, void *dst)
{
	uint8_t marks = MARKS_CHOSEN;
	size_t len;

	for (const char *p = value;; p += len + 1) {
		len = strcspn(p, ",");
		if (parse_one(p, len, &marks))
			return fail_why(-EINVAL, "--%s %s: no mark is called '%.*s'. Try: some of "
					"kernel,inline,jit,interpreted; or all or none",
					o->name, value, (int)len, p);
		if (!p[len])
			break;
	}
	*(uint8_t *)dst = marks;
	return 0;
}

enum frame_mark frame_mark(const struct node *n, uint8_t marks)
{
	if (!(marks & MARKS_CHOSEN))
		marks = USUAL;
	for (unsigned m = MARK_NONE + 1; m < FRAME_MARKS; m++)
		if (marks & MARK_BIT(m) && table[m].fits(n))
			return m;
	return MARK_NONE;
}

const char *frame_mark_text(enum frame_mark mark)
{
	return table[mark].text;
}
