/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples as the text of `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso`,
 * which many tools read:
 *
 *	python3 22615/22616 [001] 1790000000.277731442:    5025125 cpu-clock:
 *		          1022d1 warm_up+0x7761 (inlined)
 *		          1022d1 eval+0x7761 (/usr/lib/libpython3.11.so)
 *
 * The period is the weight of the sample. Times are dates (seconds since 1970), so that recordings
 * can be compared. Addresses are those of the file, as with perf. A stack that is not whole ends
 * with a frame that says why, and so does a sample without any frame, because some readers drop
 * samples without one. Readers also make these rules:
 *
 *	- The name of a thread is what stands before the first word of digits and '/'. So a space
 *	  before such a word is \x20. The name has two characters or two spaces behind it. What
 *	  begins with # is a comment, so a colon goes before it.
 *	- A function that begins with '(' is left out. So "(anonymous namespace)::f" has :: before
 *	  it.
 *	- A file and an event are one word: their spaces are \x20.
 *	- Code of the kernel is in "[kernel.kallsyms]", or in the name of a module in brackets. So
 *	  memory without a file is "//anon".
 *	- Times ascend, at least in each thread: time_order.h.
 *	- A file that does not begin with a sample begins with "# ========".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "formats/render/text_cache.h"
#include "formats/render/time_order.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/model/definition_store.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/profile/stack_note.h"
#include "src/report/trace_events.h"

#define MAX_TEXT_BYTES (32u << 20)	/* limit of each cache */
#define SECOND ((uint64_t)NSEC_PER_SEC)
#define HEADER "# ========\n"

extern const struct renderer renderer_perf_script;

struct script {
	FILE *out;
	struct frame_style style;
	const struct definition_store *tables;	/* the caches hold ids of this segment */
	struct text_cache frames;	/* by frame id: its lines */
	struct text_cache comms;	/* by thread id */
	char *event;			/* escaped, with its colon and newline */
	size_t event_len;
};

/* Escaped; the caller frees it. NULL: out of memory. */
static char *escaped(const char *s, size_t len, size_t *out_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, out_len);

	if (!f)
		return NULL;
	escape_folded(f, s, len);		/* readers join names by semicolons */
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Writes text with \x20 for those spaces before which it says so. */
static int put_spaceless(FILE *out, const char *s, size_t len, const char *before)
{
	size_t n;
	char *text = escaped(s, len, &n);

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == ' ' && (!before || (text[i + 1] && strchr(before, text[i + 1]))))
			fputs("\\x20", out);
		else
			putc_unlocked(text[i], out);
	}
	free(text);
	return 0;
}

/* "/lib/modules/6.1/net/nf_tables.ko.xz" is "[nf_tables]". */
static int put_module(FILE *out, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len), *dot;
	int err;

	if (*path == '[')
		return put_spaceless(out, path, len, NULL);
	if (slash)
		len -= (size_t)(slash + 1 - path);
	path = slash ? slash + 1 : path;
	dot = memmem(path, len, ".ko", 3);
	putc('[', out);
	err = put_spaceless(out, path, dot ? (size_t)(dot - path) : len, NULL);
	putc(']', out);
	return err;
}

/* "[python 3.11.2]" says who runs the function; the readers take no space for part of it. */
static int put_runtime(FILE *out, const char *path, size_t len)
{
	char name[64];
	size_t n = len < sizeof(name) ? len : sizeof(name);

	for (size_t i = 0; i < n; i++)
		name[i] = path[i] == ' ' ? '-' : path[i];
	return put_spaceless(out, name, n, NULL);
}

static int put_dso(struct script *s, uint32_t frame)
{
	const struct rec_frame *f = definition_store_find_frame(s->tables, frame);
	const struct rec_binary *b =
		f ? definition_store_find_binary(s->tables, f->binary) : NULL;
	bool is_kernel = f && f->kind == FRAME_KERNEL;
	FILE *out = s->frames.out;
	const char *path = "";
	size_t len = 0;

	if ((b && b->kind == BINARY_KERNEL) || (is_kernel && !b))
		return fputs("[kernel.kallsyms]", out) < 0 ? -ENOMEM : 0;
	if (b && b->kind == BINARY_BPF)
		return fputs("[bpf]", out) < 0 ? -ENOMEM : 0;
	if (b)
		path = definition_store_string(s->tables, b->path, &len);
	if (f && f->kind == FRAME_JIT && !(f->flags & FRAME_RUNTIME) && (!*path || *path == '['))
		return fputs("//anon", out) < 0 ? -ENOMEM : 0;
	if (!*path)
		return fputs("[unknown]", out) < 0 ? -ENOMEM : 0;
	if (b->kind == BINARY_MODULE)
		return put_module(out, path, len);
	if (f && f->flags & FRAME_RUNTIME)
		return put_runtime(out, path, len);
	return put_spaceless(out, path, len, NULL);
}

static int put_function(struct script *s, uint32_t frame, uint32_t nth, bool is_inlined)
{
	const struct rec_frame *f = definition_store_find_frame(s->tables, frame);
	char buf[FRAME_TEXT_MAX], line[FRAME_LINE_MAX];
	FILE *out = s->frames.out;
	struct frame_view v;
	int err = 0;

	definition_store_frame_view(s->tables, frame, nth, buf, &v);
	fprintf(out, "\t%16" PRIx64 " ", f ? f->addr : 0);
	if (v.len && *v.name == '(')
		fputs("::", out);
	escape_text(out, v.len ? v.name : "[unknown]", v.len ? v.len : 9);
	if (s->style.lines)
		escape_text(out, line, (size_t)definition_store_line_text(s->tables, &v, line));
	if (v.has_offset && v.named)
		fprintf(out, "+0x%" PRIx64, v.offset);
	fputs(" (", out);
	if (is_inlined)
		fputs("inlined", out);
	else
		err = put_dso(s, frame);
	fputs(")\n", out);
	return err;
}

/* The lines of a frame, the innermost function first. NULL: out of memory. */
static const struct cached_text *frame_text(struct script *s, uint32_t frame)
{
	const struct cached_text *t = text_cache_find(&s->frames, frame);
	uint32_t all = definition_store_frame_depth(s->tables, frame);
	uint32_t nr = frame_style_depth(&s->style, all);

	if (t)
		return t;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t nth = frame_style_nth(&s->style, all, i);

		if (put_function(s, frame, nth, nth + 1 < all))
			return NULL;
	}
	return text_cache_keep(&s->frames, frame);
}

static void put_note(struct script *s, const char *note)
{
	fprintf(s->out, "\t%16x %s ([unknown])\n", 0, note);
}

/* Callers that were lost with a damaged chunk are said. */
static int put_stack(struct script *s, uint32_t stack)
{
	const struct table_node *n;
	const struct cached_text *t;

	for (; stack && (n = definition_store_find_node(s->tables, stack)); stack = n->parent) {
		t = frame_text(s, n->frame);
		if (!t)
			return -ENOMEM;
		fwrite_unlocked(t->s, 1, t->len, s->out);
		if (ferror_unlocked(s->out))
			return -errno;
	}
	if (stack && !definition_store_hidden(s->tables, stack))
		put_note(s, "[missing]");
	return 0;
}

static int put_stacks(struct script *s, const struct rec_sample *rec)
{
	char buf[STACK_NOTE_MAX];
	const char *note = stack_note(rec->end, rec->ustack != 0, buf);
	const char *hidden = stack_note_hidden(s->tables, rec->ustack, rec->kstack);
	int err = put_stack(s, rec->kstack);

	if (hidden)
		put_note(s, hidden);
	if (!err && rec->flags & SAMPLE_KERNEL_TRUNCATED)
		put_note(s, "[truncated]");
	if (!err)
		err = put_stack(s, rec->ustack);
	if (!note && !rec->ustack && !rec->kstack) {
		snprintf(buf, sizeof(buf), "[%s]", stack_end_name(rec->end));
		note = buf;
	}
	if (note)
		put_note(s, note);
	return err;
}

static const struct cached_text *comm_text(struct script *s, const struct report_sample *sample)
{
	uint32_t thread = sample->thread ? sample->rec->thread : 0;
	const struct cached_text *t = text_cache_find(&s->comms, thread);
	const char *comm = "[missing]";
	size_t len = strlen(comm);

	if (t)
		return t;
	if (sample->thread)
		comm = definition_store_string(s->tables, sample->thread->comm, &len);
	if (!len || *comm == ' ' || *comm == '#')
		putc(':', s->comms.out);
	if (put_spaceless(s->comms.out, comm, len, "0123456789/"))
		return NULL;
	fputs(len < 2 ? "  " : " ", s->comms.out);
	return text_cache_keep(&s->comms, thread);
}

static void forget_texts(struct script *s, const struct definition_store *tables)
{
	if (s->tables != tables || s->frames.bytes > MAX_TEXT_BYTES)
		text_cache_clear(&s->frames);
	if (s->tables != tables || s->comms.bytes > MAX_TEXT_BYTES)
		text_cache_clear(&s->comms);
	s->tables = tables;
}

static int put_sample(void *script, const struct report_sample *sample)
{
	struct script *s = script;
	const struct cached_text *comm;
	uint32_t tgid = 0;
	int err;

	forget_texts(s, sample->tables);
	comm = comm_text(s, sample);
	if (!comm)
		return -ENOMEM;
	report_sample_tgid(sample, &tgid);
	fwrite_unlocked(comm->s, 1, comm->len, s->out);
	fprintf(s->out, "%5u/%-5u ", tgid, sample->thread ? sample->thread->tid : 0);
	if (sample->rec->cpu != UINT32_MAX)
		fprintf(s->out, "[%03u] ", sample->rec->cpu);
	fprintf(s->out, "%" PRIu64 ".%09u: %10" PRIu64 " ", sample->real_ns / SECOND,
		(unsigned)(sample->real_ns % SECOND), sample->weight);
	fwrite_unlocked(s->event, 1, s->event_len, s->out);
	err = put_stacks(s, sample->rec);
	putc_unlocked('\n', s->out);
	return err ? err : ferror_unlocked(s->out) ? -errno : 0;
}

static void put_fact(FILE *out, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(out, "# %s : ", key);
	escape_text(out, value, strlen(value));
	putc('\n', out);
}

/* Writes the header of `perf script --header`, with what is missing. */
static void put_header(const struct report *rep, FILE *out)
{
	struct profile_facts facts = { 0 };
	time_t begin;
	char date[32] = "";
	struct tm tm;

	report_facts(rep, &facts);
	begin = (time_t)(facts.begin_real_ns / SECOND);
	if (gmtime_r(&begin, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fputs(HEADER, out);
	put_fact(out, "written by", "probee " PROBEE_VERSION);
	put_fact(out, "captured on   ", date);
	put_fact(out, "hostname", facts.host);
	put_fact(out, "os release", facts.kernel);
	put_fact(out, "arch", report_meta(rep, "arch", NULL));
	put_fact(out, "cmdline", facts.argv);
	put_fact(out, "shown", facts.shown);
	put_fact(out, "warning", facts.warning);
	fputs(HEADER "#\n", out);
}

/* "cpu-clock:\n", as one word. */
static int name_event(struct script *s, const struct report *rep)
{
	const struct trace_event *e = report_event(rep);
	char label[EVENT_LABEL_MAX];
	const char *name = e ? trace_event_label(e, label) : "samples";
	FILE *f = open_memstream(&s->event, &s->event_len);
	int err;

	if (!f)
		return -ENOMEM;
	err = put_spaceless(f, *name ? name : "samples", strlen(*name ? name : "samples"), NULL);
	fputs(": \n", f);
	return fclose(f) ? -ENOMEM : err;
}

static int perf_script_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	struct script s = { .out = out, .style = opts->style };
	int err = name_event(&s, rep);

	if (!err)
		err = text_cache_open(&s.frames);
	if (!err)
		err = text_cache_open(&s.comms);
	if (!err) {
		put_header(rep, out);
		err = time_order_samples(rep, put_sample, &s);
	}
	text_cache_close(&s.frames);
	text_cache_close(&s.comms);
	free(s.event);
	return err;
}

static bool made(const char *head)
{
	return !strncmp(head, HEADER "# written by : probee", strlen(HEADER) + 21);
}

const struct renderer renderer_perf_script = {
	.name = "perf-script", .suffixes = ".perf .perf.txt", .stream = perf_script_stream,
	.made = made,
	.help = "the samples as text of perf script, for stackcollapse-perf.pl and others",
};
