/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/elf/beside_names.h"
#include "src/elf/debug_name.h"
#include "src/elf/elf_image.h"
#include "src/parse/parse_protocol.h"
#include "src/runtimes/runtime.h"
#include "src/parse/parsers.h"
#include "src/symbolize/demangle.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/symbol_batch.h"

#define MAX_ERRNO 4095
#define MAX_READABLE (DEMANGLE_MAX_OUT + 8)	/* a demangled name with "@plt" */
#define MAX_PATH_TEXT 8192
#define MAX_PLACES_TEXT (512u << 20)	/* bytes that the recorder reads of all answers */
#define PAGE_MASK 4095ull
#define BINARY_FLAGS                                                                               \
	(BINARY_HAS_DEBUGINFO | BINARY_HAS_DEBUGLINK | BINARY_STRIPPED | BINARY_HAS_UNWIND_TABLE)

/* Four errors are helper_call()'s own words for what became of a call. */
int parse_take_status(const struct helper_message *answer)
{
	int err = answer->status;

	if (err > 0 || err < -MAX_ERRNO || err == -ETIMEDOUT || err == -ECANCELED ||
	    err == -EPIPE || err == -EOWNERDEAD)
		return -EPROTO;
	return err;
}

/* Whether segments are as elf_image.c leaves them: nothing overflows, all lies between the ends. */
static bool segments_are_sound(const struct elf_identity *id, const struct rec_segment *v)
{
	uint64_t end;

	for (uint32_t i = 0; i < id->nr_segments; i++)
		if (__builtin_add_overflow(v[i].offset, v[i].filesz, &end) ||
		    __builtin_add_overflow(v[i].vaddr, v[i].filesz, &end) ||
		    v[i].vaddr < id->vaddr_lo || end > id->vaddr_hi)
			return false;
	return true;
}

int parse_take_identity(struct helper_message *answer, struct elf_identity *out)
{
	size_t len;

	if (answer->part[0].len != sizeof(*out))
		return -EPROTO;
	memcpy(out, answer->part[0].v, sizeof(*out));
	out->segments = NULL;
	if (out->build_id_len > sizeof(out->build_id) || out->vaddr_lo > out->vaddr_hi ||
	    out->vaddr_lo & PAGE_MASK || out->nr_segments > ELF_MAX_SEGMENTS ||
	    answer->part[1].len != out->nr_segments * sizeof(*out->segments) ||
	    !segments_are_sound(out, answer->part[1].v))
		return -EPROTO;
	out->segments = helper_take_part(answer, 1, &len);
	return 0;
}

static int take_table(struct helper_message *m, const struct table_head *head,
		      struct unwind_table **tp)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	size_t len;

	if (!t)
		return -ENOMEM;
	*tp = t;
	if (m->part[1].len != head->nr_pages * sizeof(*t->pages) ||
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

/* kind 0: there is none. */
static int take_runtime(const struct helper_message *m, struct runtime_image *out)
{
	*out = (struct runtime_image){ 0 };
	if (!m->part[4].len)
		return 0;
	if (m->part[4].len != sizeof(*out))
		return -EPROTO;
	memcpy(out, m->part[4].v, sizeof(*out));
	return runtime_image_is_sound(out) ? 0 : -EPROTO;
}

int parse_take_table(struct helper_message *m, struct unwind_table **tp,
		     struct runtime_image *runtime)
{
	const struct table_head *head = m->part[0].v;
	int err = m->part[0].len == sizeof(*head) ? take_table(m, head, tp) : -EPROTO;

	return !err && runtime ? take_runtime(m, runtime) : err;
}

/* Rules of generated code are believed only if code_window.h can make them. */
static bool is_rule_of_code(const struct unwind_rule *r)
{
	return r->cfa == CFA_NONE ||
	       (r->ra == RULE_GUESSED && r->aux >= 0 && r->aux <= CODE_SEARCH_WORDS &&
		(r->cfa == CFA_UNSUPPORTED || r->cfa == CFA_SP || r->cfa == CFA_FP) &&
		r->fp <= FP_UNDEFINED);
}

int parse_take_code(struct helper_message *m, const struct code_window *in,
		    struct unwind_table **tp, struct code_wants *wants)
{
	const struct code_answer *a = m->part[0].v;
	int err = m->part[0].len == sizeof(*a) && a->wants.nr <= CODE_MAX_WANTS &&
				  a->head.vaddr_lo == code_window_base(in) && a->head.nr_pages <= 1
			  ? take_table(m, &a->head, tp)
			  : -EPROTO;

	for (size_t i = 0; !err && i < (*tp)->nr_rules; i++)
		if (!is_rule_of_code(&(*tp)->rules[i]))
			err = -EPROTO;
	if (!err)
		*wants = a->wants;
	return err;
}

/*
 * Whether a name begins at or behind *from, and is no longer than a parser makes one. *from becomes
 * its end. So all names together are no longer than the text, and none lies inside another one.
 */
static bool take_name(const char *text, size_t text_len, uint32_t at, size_t max, size_t *from)
{
	size_t len;

	if (at < *from || at >= text_len)
		return false;
	len = strnlen(text + at, max);
	*from = at + len + 1;
	return len < max;
}

/* An answer has both names, which may be one, or none. */
static bool name_is_sound(const struct symbol_answer *a, const char *text, size_t text_len,
			  size_t *from)
{
	if (a->name == SYMBOL_NO_NAME && a->sysname == SYMBOL_NO_NAME)
		return true;
	return take_name(text, text_len, a->sysname, ELF_SYMBOL_NAME_MAX, from) &&
	       (a->name == a->sysname || take_name(text, text_len, a->name, MAX_READABLE, from));
}

static bool names_are_sound(const struct symbol_answer *v, size_t nr,
			    const struct message_part *text)
{
	size_t from = 0;

	for (size_t i = 0; i < nr; i++)
		if (v[i].status >= SYMBOL_STATUSES || v[i].lang >= LANGS ||
		    v[i].has_func_addr > 1 || v[i].func_flags & ~(FUNC_PLT | FUNC_THUNK) ||
		    !name_is_sound(&v[i], text->v, text->len, &from))
			return false;
	return true;
}

/* A text of a place, which begins where another one ends. Adds its length to *total. */
static bool text_is_sound(const struct message_part *text, uint32_t at, size_t max, size_t *total)
{
	const char *s = text->v;
	size_t len;

	if (at == SYMBOL_NO_NAME)
		return true;
	if (at >= text->len || (at && s[at - 1]))
		return false;
	len = strnlen(s + at, text->len - at);
	*total += len;
	return len < max;
}

static bool place_is_sound(const struct symbol_place *p, const struct message_part *text,
			   size_t *total)
{
	return p->lang < LANGS && p->name != SYMBOL_NO_NAME && p->sysname != SYMBOL_NO_NAME &&
	       text_is_sound(text, p->name, MAX_READABLE, total) &&
	       text_is_sound(text, p->sysname, ELF_SYMBOL_NAME_MAX + 4, total) &&
	       text_is_sound(text, p->file, MAX_PATH_TEXT, total) &&
	       text_is_sound(text, p->decl_file, MAX_PATH_TEXT, total);
}

/* Places may share their texts, so it is limited how much all answers have together. */
static bool places_are_sound(const struct symbol_answer *v, size_t nr,
			     const struct message_part *places, const struct message_part *text)
{
	const struct symbol_place *p = places->v;
	size_t have = places->len / sizeof(*p), total = 0;

	if (places->len % sizeof(*p))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (v[i].nr_lines > SYMBOL_MAX_DEPTH || v[i].nr_lines > have ||
		    v[i].first_line > have - v[i].nr_lines || v[i].is_late > 1)
			return false;
		for (size_t k = 0; k < v[i].nr_lines; k++)
			if (!place_is_sound(&p[v[i].first_line + k], text, &total) ||
			    total > MAX_PLACES_TEXT)
				return false;
	}
	return true;
}

static void take_answers(struct symbol_batch *b, const struct symbol_answer *v)
{
	for (size_t i = 0; i < b->nr; i++) {
		struct symbol_answer mine = b->v[i];

		b->v[i] = v[i];
		b->v[i].addr = mine.addr;
		b->v[i].cookie = mine.cookie;
		b->v[i].is_return = mine.is_return;
		b->v[i].is_variable = mine.is_variable;
	}
}

/* Takes the answers over, but neither the addresses nor whose they are. */
int parse_take_names(struct helper_message *m, struct symbol_file *file, struct symbol_batch *b,
		     uint32_t *nr_late)
{
	const struct names_answer *head = m->part[0].v;
	const struct symbol_answer *v = m->part[1].v;
	size_t len;

	if (m->part[0].len != sizeof(*head) || m->part[1].len != b->nr * sizeof(*v) ||
	    head->flags & ~(uint32_t)BINARY_FLAGS || !names_are_sound(v, b->nr, &m->part[2]) ||
	    !places_are_sound(v, b->nr, &m->part[3], &m->part[2]))
		return -EPROTO;
	take_answers(b, v);
	file->notes->flags = head->flags;
	*nr_late = head->nr_late;
	symbol_batch_release(b);
	b->text.v = helper_take_part(m, 2, &b->text.nr);
	b->text.cap = b->text.nr;
	b->lines = helper_take_part(m, 3, &len);
	b->nr_lines = b->cap_lines = len / sizeof(*b->lines);
	return 0;
}

bool parse_take_beside(const struct helper_message *answer, struct beside_names *out)
{
	if (answer->part[5].len != sizeof(*out))
		return false;
	memcpy(out, answer->part[5].v, sizeof(*out));
	return beside_names_are_sound(out) && out->nr;
}

/* Many queries may have one name; but none begins inside another one, or goes on in a next line. */
static bool is_name_of_map(const char *text, size_t text_len, uint32_t at)
{
	size_t len;

	if (at >= text_len || (at && text[at - 1]))
		return false;
	len = strnlen(text + at, PERF_MAP_NAME_MAX + 1);
	return len && len <= PERF_MAP_NAME_MAX && !memchr(text + at, '\n', len);
}

static bool query_is_sound(const struct perf_map_query *q, const struct message_part *text)
{
	return q->start <= q->addr && q->lang < LANGS && q->tier < TIERS &&
	       is_name_of_map(text->v, text->len, q->name) &&
	       is_name_of_map(text->v, text->len, q->sysname) &&
	       (q->file == PERF_MAP_NO_NAME || is_name_of_map(text->v, text->len, q->file)) &&
	       (q->at_file == PERF_MAP_NO_NAME || is_name_of_map(text->v, text->len, q->at_file));
}

static bool queries_are_sound(const struct perf_map_query *got, const struct perf_map_query *v,
			      size_t nr, const struct message_part *text)
{
	for (size_t i = 0; i < nr; i++)
		if (got[i].addr != v[i].addr ||
		    (got[i].name != PERF_MAP_NO_NAME && !query_is_sound(&got[i], text)))
			return false;
	return true;
}

static uint32_t text_behind(uint32_t at, size_t before)
{
	return at == PERF_MAP_NO_NAME ? at : (uint32_t)before + at;
}

/* Takes over what was found, and how far the file was read. */
static void take_queries(const struct helper_message *m, struct perf_map_query *v, size_t nr,
			 size_t names_before)
{
	const struct perf_map_query *got = m->part[0].v;

	for (size_t i = 0; i < nr; i++) {
		if (v[i].name != PERF_MAP_NO_NAME || got[i].name == PERF_MAP_NO_NAME)
			continue;
		v[i].start = got[i].start;
		v[i].since_ns = got[i].since_ns;
		v[i].name = text_behind(got[i].name, names_before);
		v[i].sysname = text_behind(got[i].sysname, names_before);
		v[i].file = text_behind(got[i].file, names_before);
		v[i].at_file = text_behind(got[i].at_file, names_before);
		v[i].line = got[i].line;
		v[i].at_line = got[i].at_line;
		v[i].at_column = got[i].at_column;
		v[i].lang = got[i].lang;
		v[i].tier = got[i].tier;
	}
}

int parse_take_queries(struct helper_message *m, struct perf_map_query *v, size_t nr, uint64_t size,
		       struct perf_map_mark *mark, struct byte_buf *names)
{
	const struct perf_map_mark *to = m->part[2].v;
	size_t len = m->part[1].len, before = names->nr;

	if (m->part[0].len != nr * sizeof(*v) || len > PERF_MAP_MAX_NAMES ||
	    len >= UINT32_MAX - before || m->part[2].len != sizeof(*to) || to->bytes > size)
		return -EPROTO;
	if (nr && len) {
		if (!queries_are_sound(m->part[0].v, v, nr, &m->part[1]))
			return -EPROTO;
		bb_bytes(names, m->part[1].v, len + 1);	/* with the NUL behind every part */
		if (names->bad)
			return -ENOMEM;
		take_queries(m, v, nr, before);
	}
	*mark = *to;
	return 0;
}

int parse_take_debug_name(const struct helper_message *m, struct debug_name *out)
{
	if (m->part[0].len != sizeof(*out))
		return -EPROTO;
	memcpy(out, m->part[0].v, sizeof(*out));
	if (out->build_id_len > sizeof(out->build_id) ||
	    !memchr(out->link, 0, sizeof(out->link)) || !debug_name_is_plain(out->link))
		return -EPROTO;
	return 0;
}
