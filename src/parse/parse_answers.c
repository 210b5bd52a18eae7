/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/parse/parse_protocol.h"
#include "src/parse/parsers.h"
#include "src/symbolize/symbol_batch.h"

int parse_take_identity(struct helper_message *answer, struct elf_identity *out)
{
	size_t len;

	if (answer->part[0].len != sizeof(*out))
		return -EPROTO;
	memcpy(out, answer->part[0].v, sizeof(*out));
	out->segments = NULL;
	if (out->build_id_len > sizeof(out->build_id) || out->vaddr_lo > out->vaddr_hi ||
	    answer->part[1].len != out->nr_segments * sizeof(*out->segments))
		return -EPROTO;
	out->segments = helper_take_part(answer, 1, &len);
	return 0;
}

int parse_take_table(struct helper_message *m, struct unwind_table **tp)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	const struct table_head *head = m->part[0].v;
	size_t len;

	if (!t)
		return -ENOMEM;
	*tp = t;
	if (m->part[0].len != sizeof(*head) ||
	    m->part[1].len != head->nr_pages * sizeof(*t->pages) ||
	    m->part[2].len % sizeof(*t->rows) || m->part[3].len % sizeof(*t->rules))
		return -EPROTO;
	t->vaddr_lo = head->vaddr_lo;
	t->nr_pages = head->nr_pages;
	t->pages = helper_take_part(m, 1, &len);
	t->rows = helper_take_part(m, 2, &len);
	t->nr_rows = len / sizeof(*t->rows);
	t->rules = helper_take_part(m, 3, &len);
	t->nr_rules = len / sizeof(*t->rules);
	return unwind_table_is_sound(t) ? 0 : -EPROTO;
}

static bool names_are_sound(const struct symbol_answer *v, size_t nr, size_t text_len)
{
	for (size_t i = 0; i < nr; i++) {
		if (v[i].status >= SYMBOL_STATUSES || v[i].lang >= LANGS || v[i].has_func_addr > 1)
			return false;
		if ((v[i].name != SYMBOL_NO_NAME && v[i].name >= text_len) ||
		    (v[i].sysname != SYMBOL_NO_NAME && v[i].sysname >= text_len))
			return false;
	}
	return true;
}

/* Takes the answers over, but neither the addresses nor whose they are. */
int parse_take_names(struct helper_message *m, struct symbol_file *file, struct symbol_batch *b)
{
	const struct names_answer *head = m->part[0].v;
	const struct symbol_answer *v = m->part[1].v;

	if (m->part[0].len != sizeof(*head) || m->part[1].len != b->nr * sizeof(*v) ||
	    !names_are_sound(v, b->nr, m->part[2].len))
		return -EPROTO;
	for (size_t i = 0; i < b->nr; i++) {
		struct symbol_answer mine = b->v[i];

		b->v[i] = v[i];
		b->v[i].addr = mine.addr;
		b->v[i].cookie = mine.cookie;
	}
	file->flags = head->flags;
	bb_release(&b->text);
	b->text = (struct byte_buf){ 0 };
	b->text.v = helper_take_part(m, 2, &b->text.nr);
	b->text.cap = b->text.nr;
	return 0;
}

static bool queries_are_sound(const struct perf_map_query *got, const struct perf_map_query *v,
			      size_t nr, size_t text_len)
{
	for (size_t i = 0; i < nr; i++)
		if (got[i].addr != v[i].addr ||
		    (got[i].name != PERF_MAP_NO_NAME &&
		     (got[i].name >= text_len || got[i].start > got[i].addr)))
			return false;
	return true;
}

int parse_take_queries(struct helper_message *m, struct perf_map_query *v, size_t nr,
		       struct byte_buf *names)
{
	const struct perf_map_query *got = m->part[0].v;
	size_t len = m->part[1].len, before = names->nr;

	if (m->part[0].len != nr * sizeof(*v) || len >= UINT32_MAX - before)
		return -EPROTO;
	if (!nr || !len)
		return 0;
	if (!queries_are_sound(got, v, nr, len))
		return -EPROTO;
	bb_bytes(names, m->part[1].v, len + 1);		/* with the NUL behind every part */
	if (names->bad)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (v[i].name != PERF_MAP_NO_NAME || got[i].name == PERF_MAP_NO_NAME)
			continue;
		v[i].name = (uint32_t)before + got[i].name;
		v[i].start = got[i].start;
	}
	return 0;
}
