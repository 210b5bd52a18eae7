/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples themselves, one per row, in the order of the file:
 * timestamp|tid|tgid|comm|state|ustack|kstack. Times are local, as taken in the kernel. Frames are
 * name+0xOFF, joined by ';', innermost first; inlined functions are name_[i].
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "formats/render/text_cache.h"
#include "formats/render/wait_text.h"
#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/model/syscall_names.h"
#include "src/model/definition_store.h"
#include "src/profile/report.h"
#include "src/profile/stack_note.h"

/*
 * Only a made-up trace has deeper stacks; without a limit its small file would make an endless
 * output.
 */
#define FRAMES_MAX 4096
#define MAX_TEXT_BYTES (32u << 20)	/* limit of each cache */
#define DATE_COLUMNS 27		/* "2026-09-21 14:13:20.010000|" */
#define MAX_CELL_BYTES (1u << 20)	/* of a stack: 4096 frames of 256 octets */

extern const struct renderer renderer_csv;

struct csv {
	FILE *out;
	bool reverse, wait_columns;
	struct syscall_names *calls;
	struct frame_style style;
	struct byte_buf row;
	const struct definition_store *tables;	/* the caches hold ids of this segment */
	struct text_cache frames;	/* by frame id: all functions of the frame */
	struct text_cache comms;	/* by thread id: name of the thread */
	uint32_t *path;			/* frames of a stack, innermost first */
	size_t nr_path, cap_path;
	uint64_t second;		/* for which date was made */
	char date[24];			/* "2026-10-04 12:34:56"; "" at first */
};

static void put_decimal(struct byte_buf *b, uint64_t v)
{
	char buf[20];
	size_t n = sizeof(buf);

	do {
		buf[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	bb_bytes(b, buf + n, sizeof(buf) - n);
}

static void put_time(struct csv *c, uint64_t real_ns)
{
	uint64_t second = real_ns / NSEC_PER_SEC, us = real_ns % NSEC_PER_SEC / 1000;
	time_t t = (time_t)second;
	char fraction[7];
	struct tm tm;

	if (second != c->second || !c->date[0]) {
		memset(&tm, 0, sizeof(tm));
		localtime_r(&t, &tm);
		strftime(c->date, sizeof(c->date), "%Y-%m-%d %H:%M:%S", &tm);
		c->second = second;
	}
	fraction[0] = '.';
	for (int i = 6; i > 0; i--, us /= 10)
		fraction[i] = (char)('0' + us % 10);
	bb_bytes(&c->row, c->date, strlen(c->date));
	bb_bytes(&c->row, fraction, sizeof(fraction));
}

static void put_function(struct csv *c, const struct frame_view *v)
{
	char line[FRAME_LINE_MAX];

	escape_csv(c->frames.out, v->name, v->len);
	if (c->style.lines)
		escape_csv(c->frames.out, line,
			   (size_t)definition_store_line_text(c->tables, v, line));
	if (v->inlined)
		fputs(INLINED_SUFFIX, c->frames.out);
	if (v->has_offset)
		fprintf(c->frames.out, "+0x%llx", (unsigned long long)v->offset);
}

/* All functions of a frame, joined in the order of the row. */
static const struct cached_text *frame_text(struct csv *c, uint32_t frame)
{
	const struct cached_text *t = text_cache_find(&c->frames, frame);
	uint32_t all = definition_store_frame_depth(c->tables, frame);
	uint32_t nr = frame_style_depth(&c->style, all);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (t)
		return t;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t nth = frame_style_nth(&c->style, all, c->reverse ? nr - 1 - i : i);

		definition_store_frame_view(c->tables, frame, nth, buf, &v);
		if (i)
			putc(';', c->frames.out);
		put_function(c, &v);
	}
	return text_cache_keep(&c->frames, frame);
}

static int collect_path(struct csv *c, uint32_t stack, bool *missing)
{
	const struct table_node *n;
	uint32_t *frame;

	c->nr_path = 0;
	for (;
	     stack && c->nr_path < FRAMES_MAX && (n = definition_store_find_node(c->tables, stack));
	     stack = n->parent) {
		frame = array_push(&c->path, &c->nr_path, &c->cap_path);
		if (!frame)
			return -ENOMEM;
		*frame = n->frame;
	}
	*missing = stack != 0;
	return 0;
}

/*
 * Adds a frame to the cell that began at begin. No cell may look like a formula to a spreadsheet.
 */
static void put_frame(struct csv *c, size_t begin, const char *s, size_t len)
{
	if (c->row.nr > begin)
		bb_u8(&c->row, ';');
	else if (len && memchr("=+-@", *s, 4))
		bb_u8(&c->row, '\'');
	bb_bytes(&c->row, s, len);
}

/* Adds the frames of a stack; note goes to the side of its outermost frame. */
static int put_stack(struct csv *c, uint32_t stack, const char *note)
{
	size_t begin = c->row.nr;
	bool missing;
	int err = collect_path(c, stack, &missing);

	if (missing)
		note = "[missing]";
	if (!err && note && c->reverse)
		put_frame(c, begin, note, strlen(note));
	for (size_t i = 0; !err && i < c->nr_path; i++) {
		uint32_t frame = c->path[c->reverse ? c->nr_path - 1 - i : i];
		const struct cached_text *t = frame_text(c, frame);

		if (!t)
			return -ENOMEM;
		if (c->row.nr - begin > MAX_CELL_BYTES) {
			put_frame(c, begin, "[too long]", 10);
			break;
		}
		put_frame(c, begin, t->s, t->len);
	}
	if (!err && note && !c->reverse)
		put_frame(c, begin, note, strlen(note));
	return err;
}

static int put_user_stack(struct csv *c, const struct rec_sample *rec)
{
	char buf[STACK_NOTE_MAX];
	const char *note = stack_note(rec->end, rec->ustack != 0, buf);

	if (!note && !rec->ustack) {	/* no error, but the row says why it has no frames */
		snprintf(buf, sizeof(buf), "[%s]", stack_end_name(rec->end));
		note = buf;
	}
	return put_stack(c, rec->ustack, note);
}

static int put_comm(struct csv *c, const struct report_sample *s)
{
	const struct cached_text *t = text_cache_find(&c->comms, s->rec->thread);
	size_t len;
	const char *comm;

	if (!s->thread) {
		bb_bytes(&c->row, "[missing]", 9);
		return 0;
	}
	if (!t) {
		comm = definition_store_string(c->tables, s->thread->comm, &len);
		escape_csv_cell(c->comms.out, comm, len);
		t = text_cache_keep(&c->comms, s->rec->thread);
	}
	if (!t)
		return -ENOMEM;
	bb_bytes(&c->row, t->s, t->len);
	return 0;
}

static void put_ids(struct csv *c, const struct report_sample *s)
{
	uint32_t tgid;

	bb_u8(&c->row, '|');
	if (s->thread)
		put_decimal(&c->row, s->thread->tid);
	bb_u8(&c->row, '|');
	if (report_sample_tgid(s, &tgid))
		put_decimal(&c->row, tgid);
	bb_u8(&c->row, '|');
}

/*
 * Adds |seconds since it ran|system call|"futex 0x7f00", "fd 1" or "pid 12"|tid of the owner. A
 * cell is empty if its value is not known.
 */
static void put_waits(struct csv *c, const struct rec_sample *rec)
{
	const char *name = rec->syscall ? syscall_name(c->calls, rec->syscall - 1) : NULL;
	uint64_t ago_us = rec->ran_ns < rec->time_ns ? (rec->time_ns - rec->ran_ns) / 1000 : 0;
	char cell[WAIT_TEXT_MAX];
	const char *what;

	bb_u8(&c->row, '|');
	if (rec->ran_ns)
		bb_bytes(&c->row, cell,
			 (size_t)snprintf(cell, sizeof(cell), "%llu.%06u",
					  (unsigned long long)(ago_us / 1000000),
					  (unsigned)(ago_us % 1000000)));
	bb_u8(&c->row, '|');
	if (name)
		bb_bytes(&c->row, name, strlen(name));
	else if (rec->syscall)
		put_decimal(&c->row, rec->syscall - 1);
	bb_u8(&c->row, '|');
	what = wait_word(c->calls, rec, cell);
	bb_bytes(&c->row, what, strlen(what));
	bb_u8(&c->row, '|');
	if (rec->owner)
		put_decimal(&c->row, rec->owner);
}

/*
 * Drops texts whose ids have another meaning in the next segment, and those that took too much
 * memory: a recording that does not end meets ever more threads.
 */
static void forget_texts(struct csv *c, const struct definition_store *tables)
{
	if (c->tables != tables || c->frames.bytes > MAX_TEXT_BYTES)
		text_cache_clear(&c->frames);
	if (c->tables != tables || c->comms.bytes > MAX_TEXT_BYTES)
		text_cache_clear(&c->comms);
	c->tables = tables;
}

static int put_row(void *ctx, const struct report_sample *s)
{
	struct csv *c = ctx;
	const char *state = task_state_name(s->rec->state);
	int err;

	forget_texts(c, s->tables);
	c->row.nr = 0;
	put_time(c, s->real_ns);
	put_ids(c, s);
	err = put_comm(c, s);
	bb_u8(&c->row, '|');
	bb_bytes(&c->row, state, strlen(state));
	bb_u8(&c->row, '|');
	if (!err)
		err = put_user_stack(c, s->rec);
	bb_u8(&c->row, '|');
	if (!err)
		err = put_stack(c, s->rec->kstack,
				s->rec->flags & SAMPLE_KERNEL_TRUNCATED ? "[truncated]" : NULL);
	if (c->wait_columns)
		put_waits(c, s->rec);
	bb_u8(&c->row, '\n');
	if (err || c->row.bad)
		return -ENOMEM;
	fwrite_unlocked(c->row.v, 1, c->row.nr, c->out);
	return ferror_unlocked(c->out) ? -errno : 0;
}

static void csv_end(void *state)
{
	struct csv *c = state;

	text_cache_close(&c->frames);
	text_cache_close(&c->comms);
	syscall_names_free(c->calls);
	free(c->path);
	bb_release(&c->row);
	free(c);
}

static int csv_begin(const struct render_opts *opts, const char *arch, FILE *out, void **state)
{
	struct csv *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	*c = (struct csv){ .out = out,
			   .reverse = opts->reverse_stack,
			   .wait_columns = opts->wait_columns,
			   .style = opts->style,
			   .calls = syscall_names_new(arch) };
	err = c->calls ? text_cache_open(&c->frames) : -ENOMEM;
	if (!err)
		err = text_cache_open(&c->comms);
	if (err) {
		csv_end(c);
		return err;
	}
	if (!opts->quiet)
		fprintf(out, "timestamp|tid|tgid|comm|state|ustack|kstack%s\n",
			c->wait_columns ? "|waited_s|syscall|waits_on|owner" : "");
	*state = c;
	return 0;
}

static int csv_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *arch = report_meta(rep, "arch", NULL);
	void *state;
	int err = csv_begin(opts, arch ? arch : "", out, &state);

	if (err)
		return err;
	err = report_samples(rep, put_row, state);
	csv_end(state);
	return err;
}

static const struct row_renderer csv_rows = { .begin = csv_begin, .row = put_row, .end = csv_end };

/* With a header or, after -q, without. */
static bool made(const char *head)
{
	unsigned n[6];
	int end = 0;

	if (!strncmp(head, "timestamp|tid|tgid|", 19))
		return true;
	return sscanf(head, "%4u-%2u-%2u %2u:%2u:%2u.%*6u|%n", &n[0], &n[1], &n[2], &n[3], &n[4],
		      &n[5], &end) == 6 && end == DATE_COLUMNS;
}

const struct renderer renderer_csv = {
	.name = "csv", .suffixes = ".csv", .stream = csv_stream, .rows = &csv_rows,
	.made = made,
	.help = "a row for each sample: timestamp|tid|tgid|comm|state|ustack|kstack",
};
