/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/pprof_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/proto_writer.h"
#include "src/base/array.h"
#include "src/base/hex.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/frame_style.h"
#include "src/profile/stack_note.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_TIME = 9, PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11, PROFILE_PERIOD = 12, PROFILE_COMMENT = 13, PROFILE_DEFAULT = 14,
	TYPE_NAME = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3,
	MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8, MAPPING_HAS_LINES = 9, MAPPING_HAS_INLINES = 10,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_LINE = 2, LINE_COLUMN = 3,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4,
	FUNCTION_START = 5,
};

static uint64_t string_id(struct pprof_message *p, const char *s, size_t len)
{
	uint32_t id;

	rewind(p->escaped);
	escape_text(p->escaped, s, len);
	len = (size_t)ftello(p->escaped);
	if (fflush(p->escaped))
		p->failed = true;
	id = intern_bytes(p->strings, p->text, len);
	p->failed |= id == IX_NONE;
	return id == IX_NONE ? 0 : id;
}

uint64_t pprof_string(struct pprof_message *p, const char *s)
{
	return string_id(p, s, strlen(s));
}

/* Rows have the same few strings, and escaping them each time takes longer than all else. */
uint64_t pprof_table_string(struct pprof_message *p, uint32_t string)
{
	uint32_t end = definition_store_id_end(p->tables, REC_STRING), *known = NULL;
	size_t len;
	const char *s;
	uint64_t id;

	if (string < end && !array_reserve(&p->known, &p->cap_known, end))
		known = &p->known[string];
	if (known && *known)
		return *known - 1;
	s = definition_store_string(p->tables, string, &len);
	id = string_id(p, s, len);
	if (known && !p->failed)
		*known = (uint32_t)id + 1;
	return id;
}

static void put_message(struct pprof_message *p, uint32_t field, struct byte_buf *message)
{
	uint8_t room[32];
	struct byte_buf head = { .v = room, .cap = sizeof(room) };

	proto_tag(&head, field, PROTO_BYTES);
	bb_uv(&head, message->nr);
	p->failed |= message->bad;
	if (!p->failed) {
		fwrite_unlocked(head.v, 1, head.nr, p->out);
		fwrite_unlocked(message->v, 1, message->nr, p->out);
		p->written += head.nr + message->nr;
	}
	message->nr = 0;
}

static void put_number(struct pprof_message *p, uint32_t field, uint64_t v)
{
	proto_u64(&p->message, field, v);
	p->failed |= p->message.bad;
	if (!p->failed) {
		fwrite(p->message.v, 1, p->message.nr, p->out);
		p->written += p->message.nr;
	}
	p->message.nr = 0;
}

/* end: ids are below. Ids of hostile traces that are not are left out. */
static bool use(struct pprof_message *p, struct pprof_used *u, uint32_t id, uint32_t end)
{
	uint32_t *slot;

	if (id >= end)
		return false;
	if (array_reserve(&u->marks, &u->cap_marks, end)) {
		p->failed = true;
		return false;
	}
	if (u->marks[id])
		return true;
	slot = array_push(&u->ids, &u->nr, &u->cap);
	p->failed |= !slot;
	if (!slot)
		return false;
	*slot = id;
	u->marks[id] = 1;
	return true;
}

static int compare_ids(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return *a == *b ? 0 : *a < *b ? -1 : 1;
}

static void release_used(struct pprof_used *u)
{
	free(u->ids);
	free(u->marks);
	memset(u, 0, sizeof(*u));
}

/* ---- samples ---- */

static void push(struct pprof_message *p, uint64_t location)
{
	uint64_t *slot = array_push(&p->path, &p->nr_path, &p->cap_path);

	p->failed |= !slot;
	if (slot)
		*slot = location;
}

/* A function of its own for a name that no FUNC record has. */
static uint64_t named_function(struct pprof_message *p, uint64_t name)
{
	uint32_t *slot;

	if (array_reserve(&p->is_named, &p->cap_is_named, name + 1)) {
		p->failed = true;
		return PPROF_SYNTHETIC;
	}
	if (p->is_named[name])
		return PPROF_SYNTHETIC + name;
	p->is_named[name] = 1;
	slot = array_push(&p->named, &p->nr_named, &p->cap_named);
	p->failed |= !slot;
	if (slot)
		*slot = (uint32_t)name;
	return PPROF_SYNTHETIC + name;
}

/* Bit 1 says that a location must be made for the name itself. */
static void push_note(struct pprof_message *p, const char *text)
{
	uint64_t name = pprof_string(p, text);

	push(p, named_function(p, name));
	if (!p->failed)
		p->is_named[name] |= 2;
}

static void push_stack(struct pprof_message *p, uint32_t stack)
{
	uint32_t end = definition_store_id_end(p->tables, REC_FRAME);
	const struct table_node *n;

	for (; stack && !definition_store_hidden(p->tables, stack); stack = n->parent) {
		n = definition_store_find_node(p->tables, stack);
		if (!n || !use(p, &p->frames, n->frame, end)) {
			push_note(p, "[missing]");
			return;
		}
		push(p, p->first_frame + n->frame);
	}
}

static void make_locations(struct pprof_message *p, const struct path_key *stack)
{
	char buf[STACK_NOTE_MAX];
	const char *note = stack_note(stack->end, stack->ustack != 0, buf);

	const char *hidden = stack_note_hidden(p->tables, stack->ustack, stack->kstack);

	p->nr_path = 0;
	if (hidden)
		push_note(p, hidden);
	push_stack(p, stack->kstack);
	push_stack(p, stack->ustack);
	if (note)
		push_note(p, note);
	if (!p->nr_path)
		push_note(p, "[no stack]");
	proto_packed(&p->message, SAMPLE_LOCATION, p->path, p->nr_path);
}

/* Begins the message of a sample. */
static void put_locations(struct pprof_message *p, const struct path_key *stack)
{
	if (path_memos_find(&p->memos, stack, &p->message))
		return;
	make_locations(p, stack);
	if (!p->failed)
		path_memos_add(&p->memos, stack, &p->message);
}

static void put_label(struct pprof_message *p, const struct pprof_label *label)
{
	p->part.nr = 0;
	proto_u64(&p->part, LABEL_KEY, label->key);
	if (label->text)
		proto_u64(&p->part, LABEL_TEXT, label->text);
	else
		proto_u64(&p->part, LABEL_NUMBER, label->number);
	p->failed |= p->part.bad;
	if (!p->failed)
		proto_bytes(&p->message, SAMPLE_LABEL, p->part.v, p->part.nr);
}

/* The rest of a sample whose locations are in .message. */
static void put_sample(struct pprof_message *p, const struct pprof_sample *s)
{
	proto_packed(&p->message, SAMPLE_VALUE, s->values, s->nr_values);
	for (size_t i = 0; i < s->nr_labels; i++)
		put_label(p, &s->labels[i]);
	put_message(p, PROFILE_SAMPLE, &p->message);
}

void pprof_sample(struct pprof_message *p, const struct path_key *stack,
		  const struct pprof_sample *s)
{
	put_locations(p, stack);
	put_sample(p, s);
}

void pprof_named_sample(struct pprof_message *p, const char *frame, const struct pprof_sample *s)
{
	p->nr_path = 0;
	push_note(p, frame);
	proto_packed(&p->message, SAMPLE_LOCATION, p->path, p->nr_path);
	put_sample(p, s);
}

/* ---- what samples refer to ---- */

static void put_line(struct pprof_message *p, uint64_t function, uint32_t line)
{
	p->line.nr = 0;
	proto_u64(&p->line, LINE_FUNCTION, function);
	proto_u64(&p->line, LINE_LINE, line);
	proto_bytes(&p->message, LOCATION_LINE, p->line.v, p->line.nr);
}

/* A line in another file than its function (of a macro) cannot be told, so it is left out. */
static void put_function_of(struct pprof_message *p, const struct frame_view *v)
{
	uint32_t end = definition_store_id_end(p->tables, REC_FUNC);
	uint32_t line = v->line_file == v->file ? v->line : 0;

	if (v->func && use(p, &p->funcs, v->func, end))
		put_line(p, p->first_func + v->func, line);
	else
		put_line(p, named_function(p, string_id(p, v->name, v->len)), line);
}

static void put_binary_of(struct pprof_message *p, const struct rec_frame *rec)
{
	uint32_t end = definition_store_id_end(p->tables, REC_BINARY);

	if (rec && rec->binary && definition_store_find_binary(p->tables, rec->binary) &&
	    use(p, &p->binaries, rec->binary, end))
		proto_u64(&p->message, LOCATION_MAPPING, p->first_binary + rec->binary);
}

static void put_frame(struct pprof_message *p, uint32_t frame, const struct frame_style *style)
{
	const struct rec_frame *rec = definition_store_find_frame(p->tables, frame);
	uint32_t all = definition_store_frame_depth(p->tables, frame);
	uint32_t nr = frame_style_depth(style, all);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	proto_u64(&p->message, LOCATION_ID, p->first_frame + frame);
	put_binary_of(p, rec);
	proto_u64(&p->message, LOCATION_ADDRESS, rec ? rec->addr : 0);
	for (uint32_t i = 0; i < nr; i++) {
		definition_store_frame_view(p->tables, frame, frame_style_nth(style, all, i), buf,
					    &v);
		put_function_of(p, &v);
	}
	put_message(p, PROFILE_LOCATION, &p->message);
}

static void put_func(struct pprof_message *p, uint32_t id)
{
	const struct rec_func *f = definition_store_find_func(p->tables, id);
	uint64_t name, sysname;

	if (!f)
		return;
	name = pprof_table_string(p, f->name);
	sysname = pprof_table_string(p, f->sysname);
	proto_u64(&p->message, FUNCTION_ID, p->first_func + id);
	proto_u64(&p->message, FUNCTION_NAME, name);
	proto_u64(&p->message, FUNCTION_SYSTEM_NAME, sysname == name ? 0 : sysname);
	proto_u64(&p->message, FUNCTION_FILE, pprof_table_string(p, f->file));
	proto_u64(&p->message, FUNCTION_START, f->start_line);
	put_message(p, PROFILE_FUNCTION, &p->message);
}

/* Mappings are written at the end, when it is known which program is the first one. */
static void keep_mapping(struct pprof_message *p, uint32_t id)
{
	const struct rec_binary *b = definition_store_find_binary(p->tables, id);
	struct pprof_mapping *m = array_push(&p->mappings, &p->nr_mappings, &p->cap_mappings);
	char build_id[2 * sizeof(b->build_id) + 1] = "";

	p->failed |= !m;
	if (!m)
		return;
	if (b->build_id_len <= sizeof(b->build_id))
		hex_put(build_id, b->build_id, b->build_id_len);
	*m = (struct pprof_mapping){ p->first_binary + id, pprof_table_string(p, b->path),
				     pprof_string(p, build_id) };
}

static void put_mapping(struct pprof_message *p, const struct pprof_mapping *m)
{
	static const uint32_t has[] = { MAPPING_HAS_FUNCTIONS, MAPPING_HAS_FILES, MAPPING_HAS_LINES,
					MAPPING_HAS_INLINES };

	proto_u64(&p->message, MAPPING_ID, m->id);
	proto_u64(&p->message, MAPPING_FILE, m->file);
	proto_u64(&p->message, MAPPING_BUILD_ID, m->build_id);
	/* Otherwise pprof looks for names in whatever file has this path where it runs. */
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
		proto_u64(&p->message, has[i], 1);
	put_message(p, PROFILE_MAPPING, &p->message);
}

static uint64_t weight_of(const struct pprof_message *p, const struct pprof_mapping *m)
{
	return m->file < p->cap_weights ? p->weights[m->file] : 0;
}

/* pprof calls a profile by its first mapping, so the program that took most comes first. */
static void put_mappings(struct pprof_message *p)
{
	size_t first = 0;

	for (size_t i = 1; i < p->nr_mappings; i++)
		if (weight_of(p, &p->mappings[i]) > weight_of(p, &p->mappings[first]))
			first = i;
	if (p->nr_mappings && !p->failed)
		put_mapping(p, &p->mappings[first]);
	for (size_t i = 0; i < p->nr_mappings && !p->failed; i++)
		if (i != first)
			put_mapping(p, &p->mappings[i]);
}

void pprof_program(struct pprof_message *p, uint32_t binary, uint64_t weight)
{
	const struct rec_binary *b = definition_store_find_binary(p->tables, binary);
	uint64_t path;

	if (!b || !use(p, &p->binaries, binary, definition_store_id_end(p->tables, REC_BINARY)))
		return;
	path = pprof_table_string(p, b->path);
	if (array_reserve(&p->weights, &p->cap_weights, path + 1))
		p->failed = true;
	else
		p->weights[path] += weight;
}

static void put_each(struct pprof_message *p, struct pprof_used *u,
		     void (*put)(struct pprof_message *p, uint32_t id))
{
	for (size_t i = 0; i < u->nr && !p->failed; i++)
		put(p, u->ids[i]);
}

static void sort_used(struct pprof_used *u)
{
	if (u->nr)
		qsort(u->ids, u->nr, sizeof(*u->ids), compare_ids);
}

static void forget_segment(struct pprof_message *p)
{
	release_used(&p->frames);
	release_used(&p->funcs);
	release_used(&p->binaries);
	free(p->known);
	p->known = NULL;
	p->cap_known = 0;
	path_memos_release(&p->memos);
	p->tables = NULL;
}

void pprof_segment(struct pprof_message *p, const struct definition_store *tables)
{
	p->tables = tables;
}

void pprof_end_segment(struct pprof_message *p, const struct frame_style *style)
{
	if (!p->tables)
		return;
	sort_used(&p->frames);
	for (size_t i = 0; i < p->frames.nr && !p->failed; i++)
		put_frame(p, p->frames.ids[i], style);
	sort_used(&p->funcs);
	put_each(p, &p->funcs, put_func);
	sort_used(&p->binaries);
	put_each(p, &p->binaries, keep_mapping);
	p->first_frame += definition_store_id_end(p->tables, REC_FRAME) + 1;
	p->first_func += definition_store_id_end(p->tables, REC_FUNC);
	p->first_binary += definition_store_id_end(p->tables, REC_BINARY);
	forget_segment(p);
}

/* Functions and, for notes, locations that are only names. */
static void put_named(struct pprof_message *p)
{
	for (size_t i = 0; i < p->nr_named && !p->failed; i++) {
		uint64_t id = PPROF_SYNTHETIC + p->named[i];

		proto_u64(&p->message, FUNCTION_ID, id);
		proto_u64(&p->message, FUNCTION_NAME, p->named[i]);
		put_message(p, PROFILE_FUNCTION, &p->message);
		if (!(p->is_named[p->named[i]] & 2))
			continue;
		proto_u64(&p->message, LOCATION_ID, id);
		put_line(p, id, 0);
		put_message(p, PROFILE_LOCATION, &p->message);
	}
}

static void put_strings(struct pprof_message *p)
{
	uint32_t nr = intern_count(p->strings);

	for (uint32_t id = 0; id < nr && !p->failed; id++) {
		size_t len;
		const char *s = intern_get(p->strings, id, &len);

		bb_bytes(&p->message, s, len);
		put_message(p, PROFILE_STRING, &p->message);
	}
}

/* ---- the profile ---- */

static void put_type(struct pprof_message *p, uint32_t field, const char *name, const char *unit)
{
	proto_u64(&p->message, TYPE_NAME, pprof_string(p, name));
	proto_u64(&p->message, TYPE_UNIT, pprof_string(p, unit));
	put_message(p, field, &p->message);
}

void pprof_sample_type(struct pprof_message *p, const char *name, const char *unit)
{
	put_type(p, PROFILE_SAMPLE_TYPE, name, unit);
}

void pprof_default_type(struct pprof_message *p, const char *name)
{
	put_number(p, PROFILE_DEFAULT, pprof_string(p, name));
}

void pprof_period(struct pprof_message *p, const char *name, const char *unit, uint64_t period)
{
	put_type(p, PROFILE_PERIOD_TYPE, name, unit);
	put_number(p, PROFILE_PERIOD, period);
}

void pprof_time(struct pprof_message *p, uint64_t real_ns, uint64_t duration_ns)
{
	put_number(p, PROFILE_TIME, real_ns);
	put_number(p, PROFILE_DURATION, duration_ns);
}

void pprof_comment(struct pprof_message *p, const char *text)
{
	if (*text)
		put_number(p, PROFILE_COMMENT, pprof_string(p, text));
}

int pprof_init(struct pprof_message *p, FILE *out)
{
	memset(p, 0, sizeof(*p));
	p->out = out;
	p->first_frame = 1;
	p->strings = intern_new();
	p->escaped = open_memstream(&p->text, &p->text_len);
	return p->strings && p->escaped ? 0 : -ENOMEM;
}

int pprof_finish(struct pprof_message *p)
{
	put_mappings(p);
	put_named(p);
	put_strings(p);
	return p->failed ? -ENOMEM : 0;
}

void pprof_release(struct pprof_message *p)
{
	forget_segment(p);
	if (p->escaped)
		fclose(p->escaped);
	free(p->text);
	intern_free(p->strings);
	free(p->named);
	free(p->is_named);
	free(p->mappings);
	free(p->weights);
	free(p->path);
	bb_release(&p->message);
	bb_release(&p->part);
	bb_release(&p->line);
	memset(p, 0, sizeof(*p));
}
