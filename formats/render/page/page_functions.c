/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/profile/display_name.h"
#include "src/profile/short_name.h"
#include "src/profile/stack_note.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

#define SHORTENED_MAX 16384		/* longer names are not shortened */

/* A string of the page; IX_NONE: out of memory. */
static uint32_t string_of(struct page_functions *f, uint32_t name)
{
	char note[STACK_NOTE_MAX];
	size_t len, n;
	const char *s;
	uint32_t id;

	if (array_reserve(&f->string_of, &f->cap_string_of, (size_t)name + 1))
		return IX_NONE;
	if (f->string_of[name])
		return f->string_of[name] - 1;
	s = intern_get(f->names, name, &len);
	n = f->full_names ? 0 : stack_note_shown(s, len, note);
	id = intern_bytes(f->strings, n ? note : s, n ? n : len);
	if (id != IX_NONE)
		f->string_of[name] = id + 1;
	return id;
}

/* A string of the page for a form of a name; 0: it is the name itself. */
static uint32_t form_of(struct page_functions *f, const char *form, size_t n, size_t whole)
{
	return n && n < whole ? intern_bytes(f->strings, form, n) : 0;
}

/*
 * Sets the forms of a name for where there is less and less room: as it is shown to people; the
 * shortest that still tells the function; the method alone.
 */
static int set_forms(struct page_functions *all, struct page_function *f, uint32_t name)
{
	size_t len, n;
	const char *s = intern_get(all->names, name, &len);
	char note[STACK_NOTE_MAX], *shown, *form;

	if (!len || len > SHORTENED_MAX || memchr(s, 0, len) || stack_note_shown(s, len, note))
		return 0;
	shown = malloc(2 * len);
	if (!shown)
		return -ENOMEM;
	form = shown + len;
	memcpy(shown, s, len);
	n = all->full_names ? len : display_name(shown, s, len);
	f->shown = form_of(all, shown, n, len);
	f->brief = form_of(all, form, short_name(form, shown, n, SHORT_FORMS - 1), len);
	f->method = form_of(all, form, short_name(form, shown, n, SHORT_FORMS_ALL - 1), len);
	free(shown);
	return f->shown == IX_NONE || f->brief == IX_NONE || f->method == IX_NONE ? -ENOMEM : 0;
}

struct function_match {
	const struct page_functions *all;
	const struct page_function *wanted;
};

static bool is_same(const void *ctx, uint32_t id)
{
	const struct function_match *m = ctx;
	const struct page_function *f = &m->all->v[id], *w = m->wanted;

	return f->name == w->name && f->binary == w->binary && f->kind == w->kind;
}

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct function_match *m = ctx;
	const struct page_function *f = &m->all->v[id], *w = m->wanted;

	return is_same(ctx, id) && f->file == w->file && f->line == w->line;
}

static int add_function(struct page_functions *all, const struct page_function *f, uint64_t hash,
			uint64_t same, uint32_t name)
{
	struct function_match m = { all, f };
	uint32_t id = (uint32_t)all->nr, first = ix_find(&all->same, same, is_same, &m);
	struct page_function *made = array_push(&all->v, &all->nr, &all->cap);

	if (!made || ix_add(&all->index, hash, id))
		return -ENOMEM;
	*made = *f;
	made->same = first == IX_NONE ? id : first;
	if (f->kind != FRAME_SYNTHETIC && set_forms(all, made, name))
		return -ENOMEM;
	return first == IX_NONE ? ix_add(&all->same, same, id) : 0;
}

void page_functions_begin_tree(struct page_functions *f, const struct intern *names)
{
	f->names = names;
	if (f->cap_string_of)
		memset(f->string_of, 0, f->cap_string_of * sizeof(*f->string_of));
}

uint32_t page_function_of(struct page_functions *all, const struct node *n)
{
	struct page_function f = {
		.name = string_of(all, n->name),
		.binary = n->binary ? string_of(all, n->binary) : 0,
		.file = n->file ? string_of(all, n->file) : 0,
		.line = n->line,
		.kind = n->flags & NODE_SYNTHETIC ? FRAME_SYNTHETIC : n->kind,
	};
	uint64_t same = hash_u64(hash_u64(f.kind, f.name), f.binary);
	uint64_t hash = hash_u64(hash_u64(same, f.file), f.line);
	struct function_match m = { all, &f };
	uint32_t id;

	if (f.name == IX_NONE || f.binary == IX_NONE || f.file == IX_NONE)
		return IX_NONE;
	id = ix_find(&all->index, hash, is_equal, &m);
	if (id != IX_NONE)
		return id;
	return add_function(all, &f, hash, same, n->name) ? IX_NONE : (uint32_t)all->nr - 1;
}

void page_functions_release(struct page_functions *f)
{
	free(f->string_of);
	free(f->v);
	ix_release(&f->index);
	ix_release(&f->same);
	memset(f, 0, sizeof(*f));
}
