/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples as a profile for pprof: gzip of the message perftools.profiles.Profile
 * (https://github.com/google/pprof/blob/main/proto/profile.proto, whose field numbers these are).
 *
 *	sample		one for each {stack, thread, state}: locations, innermost first; the number
 *			of samples and their weight; labels thread, process, state, pid and tid
 *	location	one for each FRAME record: its address in its file, and a line for each of
 *			its functions, the inlined ones first
 *	function	one for each FUNC record, and one for each name of an address without one
 *	mapping		one for each file, with its build id
 *
 * Samples are counted first and written when their segment ends; what they refer to follows them.
 * Numbers of locations, functions and mappings are those of the records of their segment, behind
 * those of the segments before; synthetic frames are numbered from SYNTHETIC on. Memory grows with
 * distinct stacks, not with samples.
 *
 * pprof takes a function whose system name equals its name for mangled, and cuts what stands in
 * brackets. So the system name is left out where it is not another one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/gzip_stream.h"
#include "formats/render/path_memos.h"
#include "formats/render/proto_writer.h"
#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/profile.h"
#include "src/profile/report.h"
#include "src/profile/sample_counts.h"
#include "src/profile/stack_note.h"
#include "src/profile/state_words.h"
#include "src/profile/trace_events.h"
#include "src/profile/weight_text.h"

#define MAX_ROWS (1u << 18)
#define SYNTHETIC (1ull << 48)
#define STATE_SHIFT 8			/* in sample_count.end: enum activity, plus 1 */

extern const struct renderer renderer_pprof;

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
	LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4,
	FUNCTION_START = 5,
};

enum label { THREAD, TID, PROCESS, PID, STATE, LABELS };

struct pprof {
	FILE *out;
	struct intern *strings;		/* the string table: id 0 is "" */
	struct sample_counts rows;	/* .root is the thread */
	const struct definition_store *tables;
	/* Numbers of the segment begin here: a FRAME may be 0, a location may not. */
	uint64_t first_frame, first_func, first_binary;
	uint64_t heaviest;		/* weight of a row, whose program is the main binary */
	uint32_t main_binary;		/* of this segment; 0: unknown */
	uint8_t *frames, *binaries;	/* of the segment: 1 if some sample or location has it */
	size_t cap_frames, cap_binaries;
	uint32_t *known;		/* by STRING of the segment: its id plus 1; 0: none yet */
	size_t cap_known;
	uint64_t keys[LABELS];		/* ids of the keys of labels; 0: not used yet */
	uint32_t *named;		/* names that are functions of their own, in order */
	size_t nr_named, cap_named;
	uint8_t *is_named;		/* by string id */
	size_t cap_is_named;
	uint64_t *path;
	size_t nr_path, cap_path;
	/* Threads share stacks: what was written of them, of this segment. */
	struct path_memos memos;
	struct byte_buf message, part, line;
	char *text;			/* of escaped */
	size_t text_len;
	FILE *escaped;
	bool shows_states;
	bool failed;
};

static uint64_t string_id(struct pprof *p, const char *s, size_t len)
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

static uint64_t constant_id(struct pprof *p, const char *s)
{
	return string_id(p, s, strlen(s));
}

/* Rows have the same few strings, and escaping them each time takes longer than all else. */
static uint64_t table_string_id(struct pprof *p, uint32_t string)
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

static void put_message(struct pprof *p, uint32_t field, struct byte_buf *message)
{
	uint8_t room[32];
	struct byte_buf head = { .v = room, .cap = sizeof(room) };

	proto_tag(&head, field, PROTO_BYTES);
	bb_uv(&head, message->nr);
	p->failed |= message->bad;
	if (!p->failed) {
		fwrite_unlocked(head.v, 1, head.nr, p->out);
		fwrite_unlocked(message->v, 1, message->nr, p->out);
	}
	message->nr = 0;
}

static void put_number(struct pprof *p, uint32_t field, uint64_t v)
{
	proto_u64(&p->message, field, v);
	p->failed |= p->message.bad;
	if (!p->failed)
		fwrite(p->message.v, 1, p->message.nr, p->out);
	p->message.nr = 0;
}

/* ---- samples ---- */

static void push(struct pprof *p, uint64_t location)
{
	uint64_t *slot = array_push(&p->path, &p->nr_path, &p->cap_path);

	p->failed |= !slot;
	if (slot)
		*slot = location;
}

/* A function of its own for a name that no FUNC record has. */
static uint64_t named_function(struct pprof *p, uint64_t name)
{
	uint32_t *slot;

	if (array_reserve(&p->is_named, &p->cap_is_named, name + 1)) {
		p->failed = true;
		return SYNTHETIC;
	}
	if (p->is_named[name])
		return SYNTHETIC + name;
	p->is_named[name] = 1;
	slot = array_push(&p->named, &p->nr_named, &p->cap_named);
	p->failed |= !slot;
	if (slot)
		*slot = (uint32_t)name;
	return SYNTHETIC + name;
}

/* Bit 1 says that a location must be made for the name itself. */
static void push_note(struct pprof *p, const char *text)
{
	uint64_t name = constant_id(p, text);

	push(p, named_function(p, name));
	if (!p->failed)
		p->is_named[name] |= 2;
}

static void push_stack(struct pprof *p, uint32_t stack)
{
	uint32_t end = definition_store_id_end(p->tables, REC_FRAME);
	const struct table_node *n;

	for (; stack; stack = n->parent) {
		n = definition_store_find_node(p->tables, stack);
		if (!n || n->frame >= end || array_reserve(&p->frames, &p->cap_frames, end)) {
			push_note(p, "[missing]");
			return;
		}
		p->frames[n->frame] = 1;
		push(p, p->first_frame + n->frame);
	}
}

static void put_label(struct pprof *p, enum label label, uint32_t field, uint64_t value)
{
	static const char *const keys[LABELS] = { "thread", "tid", "process", "pid", "state" };

	if (!p->keys[label])
		p->keys[label] = constant_id(p, keys[label]);
	p->part.nr = 0;
	proto_u64(&p->part, LABEL_KEY, p->keys[label]);
	proto_u64(&p->part, field, value);
	proto_bytes(&p->message, SAMPLE_LABEL, p->part.v, p->part.nr);
}

static void put_labels(struct pprof *p, const struct sample_count *row)
{
	const struct rec_thread *t = definition_store_find_thread(p->tables, row->root);
	const struct rec_process *of =
		t ? definition_store_find_process(p->tables, t->process) : NULL;
	unsigned state = row->end >> STATE_SHIFT;

	if (of && row->weight > p->heaviest) {
		p->heaviest = row->weight;
		p->main_binary = of->exe;
	}
	if (t) {
		put_label(p, THREAD, LABEL_TEXT, table_string_id(p, t->comm));
		put_label(p, TID, LABEL_NUMBER, t->tid);
	}
	if (of) {
		put_label(p, PROCESS, LABEL_TEXT, table_string_id(p, of->comm));
		put_label(p, PID, LABEL_NUMBER, of->tgid);
	}
	if (state)
		put_label(p, STATE, LABEL_TEXT, constant_id(p, activity_name(state - 1)));
}

static void make_locations(struct pprof *p, const struct sample_count *row)
{
	char buf[STACK_NOTE_MAX];
	const char *note = stack_note((uint8_t)row->end, row->ustack != 0, buf);

	p->nr_path = 0;
	push_stack(p, row->kstack);
	push_stack(p, row->ustack);
	if (note)
		push_note(p, note);
	if (!p->nr_path)
		push_note(p, "[no stack]");
	proto_packed(&p->message, SAMPLE_LOCATION, p->path, p->nr_path);
}

/* Begins the message of a row. */
static void put_locations(struct pprof *p, const struct sample_count *row)
{
	const struct path_key key = { row->kstack, row->ustack, (uint8_t)row->end };

	if (path_memos_find(&p->memos, &key, &p->message))
		return;
	make_locations(p, row);
	if (!p->failed)
		path_memos_add(&p->memos, &key, &p->message);
}

static void put_row(struct pprof *p, const struct sample_count *row)
{
	const uint64_t values[] = { row->count, row->weight };

	put_locations(p, row);
	proto_packed(&p->message, SAMPLE_VALUE, values, 2);
	put_labels(p, row);
	put_message(p, PROFILE_SAMPLE, &p->message);
}

static void put_rows(struct pprof *p)
{
	p->failed |= sample_counts_settle(&p->rows) != 0;
	for (size_t i = 0; i < p->rows.nr && !p->failed; i++)
		put_row(p, &p->rows.v[i]);
	sample_counts_release(&p->rows);
}

/* ---- what samples refer to ---- */

static void put_line(struct pprof *p, uint64_t function, uint32_t line)
{
	p->line.nr = 0;
	proto_u64(&p->line, LINE_FUNCTION, function);
	proto_u64(&p->line, LINE_LINE, line);
	proto_bytes(&p->message, LOCATION_LINE, p->line.v, p->line.nr);
}

static void put_function_of(struct pprof *p, const struct frame_view *v)
{
	put_line(p, v->func ? p->first_func + v->func
			    : named_function(p, string_id(p, v->name, v->len)), v->line);
}

static void put_frame(struct pprof *p, uint32_t frame, const struct frame_style *style)
{
	const struct rec_frame *rec = definition_store_find_frame(p->tables, frame);
	uint32_t all = definition_store_frame_depth(p->tables, frame);
	uint32_t nr = frame_style_depth(style, all);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	proto_u64(&p->message, LOCATION_ID, p->first_frame + frame);
	if (rec && rec->binary && definition_store_find_binary(p->tables, rec->binary) &&
	    !array_reserve(&p->binaries, &p->cap_binaries, (size_t)rec->binary + 1)) {
		p->binaries[rec->binary] = 1;
		proto_u64(&p->message, LOCATION_MAPPING, p->first_binary + rec->binary);
	}
	proto_u64(&p->message, LOCATION_ADDRESS, rec ? rec->addr : 0);
	for (uint32_t i = 0; i < nr; i++) {
		definition_store_frame_view(p->tables, frame, frame_style_nth(style, all, i), buf,
					    &v);
		put_function_of(p, &v);
	}
	put_message(p, PROFILE_LOCATION, &p->message);
}

static void put_func(struct pprof *p, uint32_t id)
{
	const struct rec_func *f = definition_store_find_func(p->tables, id);
	uint64_t name, sysname;

	if (!f)
		return;
	name = table_string_id(p, f->name);
	sysname = table_string_id(p, f->sysname);
	proto_u64(&p->message, FUNCTION_ID, p->first_func + id);
	proto_u64(&p->message, FUNCTION_NAME, name);
	proto_u64(&p->message, FUNCTION_SYSTEM_NAME, sysname == name ? 0 : sysname);
	proto_u64(&p->message, FUNCTION_FILE, table_string_id(p, f->file));
	proto_u64(&p->message, FUNCTION_START, f->start_line);
	put_message(p, PROFILE_FUNCTION, &p->message);
}

static void put_mapping(struct pprof *p, uint32_t id)
{
	const struct rec_binary *b = definition_store_find_binary(p->tables, id);
	char build_id[2 * sizeof(b->build_id) + 1] = "";
	static const uint32_t has[] = { MAPPING_HAS_FUNCTIONS, MAPPING_HAS_FILES, MAPPING_HAS_LINES,
					MAPPING_HAS_INLINES };

	for (unsigned i = 0; i < b->build_id_len && i < sizeof(b->build_id); i++)
		snprintf(build_id + 2 * (size_t)i, 3, "%02x", b->build_id[i]);
	proto_u64(&p->message, MAPPING_ID, p->first_binary + id);
	proto_u64(&p->message, MAPPING_FILE, table_string_id(p, b->path));
	proto_u64(&p->message, MAPPING_BUILD_ID, constant_id(p, build_id));
	/* Otherwise pprof looks for names in whatever file has this path where it runs. */
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
		proto_u64(&p->message, has[i], 1);
	put_message(p, PROFILE_MAPPING, &p->message);
}

/* pprof calls a profile by its first mapping, so the program that took most comes first. */
static void put_mappings(struct pprof *p)
{
	uint32_t first = p->main_binary;

	if (first && first < p->cap_binaries && p->binaries[first])
		put_mapping(p, first);
	for (uint32_t id = 1; id < p->cap_binaries && !p->failed; id++)
		if (p->binaries[id] && id != first)
			put_mapping(p, id);
}

static void end_segment(struct pprof *p, const struct frame_style *style)
{
	uint32_t frames, funcs, binaries;

	if (!p->tables)
		return;
	put_rows(p);
	frames = definition_store_id_end(p->tables, REC_FRAME);
	funcs = definition_store_id_end(p->tables, REC_FUNC);
	binaries = definition_store_id_end(p->tables, REC_BINARY);
	for (uint32_t id = 0; id < frames && id < p->cap_frames && !p->failed; id++)
		if (p->frames[id])
			put_frame(p, id, style);
	for (uint32_t id = 1; id < funcs && !p->failed; id++)
		put_func(p, id);
	put_mappings(p);
	free(p->frames);
	free(p->binaries);
	free(p->known);
	p->frames = p->binaries = NULL;
	p->known = NULL;
	p->cap_frames = p->cap_binaries = p->cap_known = 0;
	path_memos_release(&p->memos);
	p->main_binary = 0;
	p->first_frame += frames + 1;
	p->first_func += funcs;
	p->first_binary += binaries;
}

/* Functions and, for notes, locations that are only names. */
static void put_named(struct pprof *p)
{
	for (size_t i = 0; i < p->nr_named && !p->failed; i++) {
		uint64_t id = SYNTHETIC + p->named[i];

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

/* ---- the profile ---- */

static void put_type(struct pprof *p, uint32_t field, const char *name, const char *unit)
{
	proto_u64(&p->message, TYPE_NAME, constant_id(p, name));
	proto_u64(&p->message, TYPE_UNIT, constant_id(p, unit));
	put_message(p, field, &p->message);
}

static void put_types(struct pprof *p, const struct trace_event *e)
{
	const char *unit = !e || !strcmp(e->unit, "samples") ? "count"
			   : !strcmp(e->unit, "ns")	     ? "nanoseconds"
							     : e->unit;
	const char *name = !e				 ? "samples"
			   : event_is_cpu_time(e->kind)	 ? "cpu"
			   : event_is_wall_time(e->kind) ? "wall"
							 : e->name;

	put_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
	put_type(p, PROFILE_SAMPLE_TYPE, name, unit);
	put_type(p, PROFILE_PERIOD_TYPE, name, unit);
	put_number(p, PROFILE_PERIOD, e ? e->period : 0);
	put_number(p, PROFILE_DEFAULT, constant_id(p, name));
}

static void put_comment(struct pprof *p, const char *text)
{
	if (*text)
		put_number(p, PROFILE_COMMENT, constant_id(p, text));
}

static void put_facts(struct pprof *p, const struct report *rep)
{
	struct profile_facts f;

	report_facts(rep, &f);
	put_number(p, PROFILE_TIME, f.begin_real_ns);
	put_number(p, PROFILE_DURATION, f.duration_ns);
	put_comment(p, f.tool);
	put_comment(p, f.argv);
	put_comment(p, f.host);
	put_comment(p, f.shown);
	put_comment(p, f.scans);
	put_comment(p, f.warning);
}

static void put_strings(struct pprof *p)
{
	uint32_t nr = intern_count(p->strings);

	for (uint32_t id = 0; id < nr && !p->failed; id++) {
		size_t len;
		const char *s = intern_get(p->strings, id, &len);

		bb_bytes(&p->message, s, len);
		put_message(p, PROFILE_STRING, &p->message);
	}
}

struct counting {
	struct pprof *p;
	const struct frame_style *style;
};

static int count(void *ctx, const struct report_sample *s, uint64_t nr)
{
	struct counting *c = ctx;
	struct pprof *p = c->p;
	unsigned state = p->shows_states ? sample_activity(s->rec, s->futex) + 1u : 0;
	struct sample_count row = { .root = s->rec->thread, .kstack = s->rec->kstack,
				    .ustack = s->rec->ustack, .segment = (uint16_t)s->segment,
				    .end = (uint16_t)(s->rec->end | state << STATE_SHIFT),
				    .count = nr, .weight = s->weight };
	int is_full;

	if (p->tables != s->tables)
		end_segment(p, c->style);
	p->tables = s->tables;
	is_full = sample_counts_reaches(&p->rows, MAX_ROWS);
	if (is_full > 0)
		put_rows(p);
	if (p->failed || is_full < 0 || sample_counts_put(&p->rows, &row))
		return -ENOMEM;
	return ferror_unlocked(p->out) ? -EIO : 0;
}

static int write_profile(struct pprof *p, struct report *rep, const struct render_opts *opts)
{
	static const struct report_counting counting = { .samples = count };
	const struct trace_event *e = report_event(rep);
	struct counting c = { p, &opts->style };
	int err;

	p->shows_states = e && event_is_wall_time(e->kind);
	constant_id(p, "");
	put_types(p, e);
	put_facts(p, rep);
	err = report_counted(rep, &counting, &c);
	if (err)
		return err;
	end_segment(p, &opts->style);
	put_named(p);
	put_strings(p);
	return p->failed ? -ENOMEM : ferror(p->out) ? -EIO : 0;
}

static void release(struct pprof *p)
{
	if (p->escaped)
		fclose(p->escaped);
	free(p->text);
	intern_free(p->strings);
	sample_counts_release(&p->rows);
	free(p->frames);
	free(p->binaries);
	free(p->known);
	free(p->named);
	free(p->is_named);
	free(p->path);
	path_memos_release(&p->memos);
	bb_release(&p->message);
	bb_release(&p->part);
	bb_release(&p->line);
}

static int pprof_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	struct pprof p = { .strings = intern_new(), .first_frame = 1 };
	struct gzip_stream gzip;
	int err = gzip_stream_open(&gzip, out), closed;

	if (err)
		goto out;
	p.out = gzip.stream;
	p.escaped = open_memstream(&p.text, &p.text_len);
	err = p.strings && p.escaped ? write_profile(&p, rep, opts) : -ENOMEM;
	closed = gzip_stream_close(&gzip);
	err = err ? err : closed;
out:
	release(&p);
	return err;
}

/* It is compressed, so its head is no text: gzip_stream_made() knows it. */
static bool made(const char *head)
{
	(void)head;
	return false;
}

const struct renderer renderer_pprof = {
	.name = "pprof",
	.suffixes = ".pb.gz .pprof",
	.is_packed = true,
	.help = "a profile for go tool pprof and the tools that read its format",
	.made = made,
	.stream = pprof_stream,
};
