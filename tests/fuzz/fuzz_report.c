/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile contents of a sound trace: names of any bytes, any tree of stacks, any order of definitions. The
 * input chooses records, which are written by trace_writer, reported in every format and read again through
 * a query. The total of the folded lines must be that of the event that is shown, whatever names and weights are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/csv/csv_columns.h"
#include "formats/render/diff_renderers.h"
#include "formats/render/renderer.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/bytes.h"
#include "src/base/fail.h"
#include "src/live/live_page.h"
#include "src/diff/diff.h"
#include "src/profile/fold.h"
#include "src/live/live_windows.h"
#include "src/live/live_profile.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/profile/view.h"
#include "src/push/push_encode.h"
#include "src/tui/tui_draw.h"
#include "src/tui/tui_keys.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_views.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { KINDS = 14 };

struct maker {
	struct byte_reader in;
	struct trace_writer *w;
	uint32_t ids[32];		/* by tag: the highest so far */
	uint64_t samples;
	int err;
};

static void put(struct maker *m, struct record *rec)
{
	if (!m->err)
		m->err = trace_writer_record(m->w, rec);
}

/* Any id of this type, also 0. */
static uint32_t any(struct maker *m, enum record_tag tag)
{
	return br_u8(&m->in) % (m->ids[tag] + 1);
}

static uint32_t some(struct maker *m, enum record_tag tag)
{
	return m->ids[tag] ? 1 + br_u8(&m->in) % m->ids[tag] : 0;
}

static void put_string(struct maker *m)
{
	struct byte_reader s = br_sub(&m->in, br_u8(&m->in) % 40);
	struct record rec = { .tag = REC_STRING };

	rec.string = (struct rec_string){ ++m->ids[REC_STRING], s.p ? (const char *)s.p : "", s.p ? br_left(&s) : 0 };
	put(m, &rec);
}

static void put_symbol(struct maker *m)
{
	struct rec_line lines[3] = { { 0 } };
	struct record rec = { .tag = REC_SYMBOL };

	for (int i = 0; i < 3; i++)
		lines[i] = (struct rec_line){ some(m, REC_FUNC), br_u8(&m->in), 0, 0 };
	rec.symbol = (struct rec_symbol){ some(m, REC_FRAME), br_u8(&m->in), br_u16(&m->in), lines,
					  m->ids[REC_FUNC] ? br_u8(&m->in) % 4 : 0 };
	if (rec.symbol.frame)
		put(m, &rec);
	/* Lines without a number may be in another file. */
	for (uint32_t i = 0; rec.symbol.frame && i < rec.symbol.nr_lines; i++)
		if (!lines[i].line)
			put(m, &(struct record){ .tag = REC_PLACE,
						 .place = { rec.symbol.frame, i, any(m, REC_STRING), br_u8(&m->in), 0 } });
}

/* Often none, often one that can be added up only a few times. */
static uint64_t some_weight(struct maker *m)
{
	uint8_t v = br_u8(&m->in);

	return v < 128 ? v / 64 : UINT64_MAX >> (v & 63);
}

static uint32_t put_unit(struct maker *m)
{
	static const char *const units[] = { "ns", "bytes", "count", "cycles", "samples", "" };
	const char *unit = units[br_u8(&m->in) % 6];

	put(m, &(struct record){ .tag = REC_STRING,
				 .string = { ++m->ids[REC_STRING], unit, strlen(unit) } });
	return m->ids[REC_STRING];
}

static void put_event(struct maker *m)
{
	struct record rec = { .tag = REC_EVENT };

	rec.event = (struct rec_event){ .name = any(m, REC_STRING), .kind = br_u8(&m->in) % 12,
					.freq_mhz = br_u16(&m->in), .period = some_weight(m) };
	rec.event.unit = br_u8(&m->in) & 1 ? put_unit(m) : any(m, REC_STRING);
	rec.event.id = ++m->ids[REC_EVENT];
	put(m, &rec);
}

static void put_sample(struct maker *m)
{
	struct record rec = { .tag = REC_SAMPLE };

	if (!m->ids[REC_THREAD] || !m->ids[REC_EVENT])
		return;
	rec.sample = (struct rec_sample){
		.time_ns = br_u64(&m->in), .event = some(m, REC_EVENT), .thread = some(m, REC_THREAD),
		.kstack = any(m, REC_NODE), .ustack = any(m, REC_NODE), .weight = some_weight(m), .state = br_u8(&m->in),
		.end = br_u8(&m->in), .flags = br_u8(&m->in), .scan = br_u8(&m->in) % 3, .ran_ns = br_u8(&m->in),
		.syscall = br_u8(&m->in), .owner = br_u8(&m->in), .wait = br_u16(&m->in),
	};
	m->samples++;
	put(m, &rec);
}

/* Another segment, perhaps a part of the same recording. */
static void put_part(struct maker *m)
{
	static const char *const parts[] = { "1", "2", "3", "4", "x", "" };
	const char *part = parts[br_u8(&m->in) % 6];
	struct record rec = { .tag = REC_META, .meta = { "recording.part", part, strlen(part) } };

	if (m->err)
		return;
	m->err = trace_writer_flush(m->w);
	if (!m->err)
		m->err = trace_writer_begin_segment(m->w);
	memset(m->ids, 0, sizeof(m->ids));
	put(m, &rec);
}

#define PUT(TAG, field, ...) \
	do { \
		struct record rec = { .tag = REC_##TAG, .field = __VA_ARGS__ }; \
		put(m, &rec); \
	} while (0)

static void put_one(struct maker *m)
{
	switch (br_u8(&m->in) % KINDS) {
	case 0: put_string(m); break;
	case 1: PUT(BINARY, binary, { .id = ++m->ids[REC_BINARY], .kind = br_u8(&m->in), .path = any(m, REC_STRING) });
		break;
	case 2: PUT(PROCESS, process, { .id = ++m->ids[REC_PROCESS], .tgid = br_u8(&m->in), .comm = any(m, REC_STRING) });
		break;
	case 3:
		if (m->ids[REC_PROCESS])
			PUT(THREAD, thread, { .id = ++m->ids[REC_THREAD], .process = some(m, REC_PROCESS),
					      .tid = br_u8(&m->in), .comm = any(m, REC_STRING) });
		break;
	case 4: PUT(FRAME, frame, { ++m->ids[REC_FRAME], br_u8(&m->in) % FRAME_KINDS, br_u8(&m->in) & 7,
				    any(m, REC_BINARY), br_u64(&m->in) });
		break;
	case 5:
		if (m->ids[REC_FRAME]) {
			uint32_t parent = any(m, REC_NODE);

			PUT(NODE, node, { ++m->ids[REC_NODE], parent, some(m, REC_FRAME) });
		}
		break;
	case 6: PUT(FUNC, func, { .id = ++m->ids[REC_FUNC], .name = any(m, REC_STRING), .file = any(m, REC_STRING),
				  .start_line = br_u8(&m->in) });
		break;
	case 7: put_symbol(m); break;
	case 8: put_event(m); break;
	case 9: PUT(CLOCK, clock, { br_u64(&m->in), br_u64(&m->in), 0, 0 }); break;
	case 10: PUT(LOST, lost, { br_u64(&m->in), 0, br_u8(&m->in), 0, br_u16(&m->in) });
		if (!m->err && br_u8(&m->in) & 1)
			m->err = trace_writer_flush(m->w);
		break;
	case 11: put_part(m); break;
	default: put_sample(m); break;
	}
}

/* By what a COUNT of folded stacks is divided; 0: it is the number of samples. */
static uint64_t folded_divisor(const struct profile_facts *f)
{
	if (strcmp(f->unit, "ns"))
		return 1;
	return f->has_lengths ? 1000 : f->period;
}

/*
 * Weights together stay below 2^64, so their sum is exact. A COUNT that was divided is off by less
 * than one for each node that is in it.
 */
static void check_folded(char *text, const struct profile *p)
{
	uint64_t divisor = folded_divisor(&p->facts), want = divisor ? p->facts.weight : p->facts.samples;
	__int128 sum = 0, off;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strrchr(line, ' '))
			abort();
		sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	}
	off = sum * (divisor ? divisor : 1) - want;
	if (off < 0)
		off = -off;
	if (divisor > 1 ? off >= (__int128)divisor * p->nr_nodes : off != 0)
		abort();
}

/* The same of the periods in text of perf script: "comm pid/tid time: period event: ". */
static void check_periods(char *text, uint64_t want)
{
	uint64_t sum = 0, period;

	for (char *line = strtok(text, "\n"), *end; line; line = strtok(NULL, "\n")) {
		if (*line == '\t' || *line == '#')
			continue;
		end = line + strlen(line);
		if (end - line < 20 || strcmp(end - 2, ": "))
			abort();
		for (end -= 3; *end != ' '; end--)
			;
		while (end[-1] != ' ')
			end--;
		period = strtoull(end, NULL, 10);
		if (__builtin_add_overflow(sum, period, &sum))
			return;
	}
	if (sum != want)
		abort();
}

static void render_all(struct report *rep, const struct profile *p)
{
	struct render_opts opts = { .style = { .offsets = true, .lines = true }, .wait_columns = true,
				    .wait_stacks = true, .columns = 80 };

	for (const struct csv_column *c = csv_columns; c->name; c++)
		csv_columns_add(&opts.columns_shown, c->name);
	for (size_t i = 0; renderers[i]; i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		if (renderers[i]->render ? renderers[i]->render(p, &opts, out) : renderers[i]->stream(rep, &opts, out))
			abort();
		fclose(out);
		if (!strcmp(renderers[i]->name, "collapse"))
			check_folded(text, p);
		if (!strcmp(renderers[i]->name, "perf-script"))
			check_periods(text, p->facts.weight);
		free(text);
	}
}

/* The same samples where recursion is folded: nothing is lost, and the picture can be drawn. */
static void report_folded(struct report *rep, uint64_t weight)
{
	struct fold_options fold = { .style = { .fold_recursion = true } };
	struct render_opts opts = { .style = fold.style };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct profile *p = NULL;

	if (fold_report(rep, &fold, &p) || p->nodes[0].total != weight)
		abort();
	if (renderer_find("svg")->render(p, &opts, out))
		abort();
	fclose(out);
	free(text);
	profile_free(p);
}

static uint64_t report(const char *path, const struct query *q)
{
	struct report *rep = NULL;
	struct profile *p = NULL;
	uint64_t samples;

	if (report_open(path, q, &rep) || fold_report(rep, NULL, &p))
		abort();
	render_all(rep, p);
	if (p->facts.weight != p->nodes[0].total || p->facts.samples != p->nodes[0].total_samples)
		abort();
	samples = p->facts.samples_total;
	report_folded(rep, p->facts.weight);
	profile_free(p);
	report_close(rep);
	return samples;
}

struct sent {
	uint64_t samples, lost, profiles;
};

static int add_body(void *ctx, const struct push_body *b)
{
	struct sent *s = ctx;

	if (!b->len || !b->profiles || b->from_ns > b->to_ns || !*b->what || *b->path != '/')
		abort();
	s->samples += b->samples;
	s->lost += b->lost;
	s->profiles += b->profiles;
	return 0;
}

/* All samples are in some body, however small windows and profiles are. */
static void push_all(const char *path, size_t seed)
{
	struct push_encode_opts opts = { .window_ns = seed & 1 ? 1000000 : 0, .bundle_windows = seed % 5,
					 .max_samples = seed & 2 ? 1 + seed % 7 : 0, .max_rows = seed & 4 ? 3 : 0,
					 .max_profile_bytes = seed & 8 ? 2048 : 0, .threads = seed & 16 ? PUSH_THREADS_NONE : seed & 32 ? PUSH_THREADS_NAME : PUSH_THREADS_ID };
	struct report *rep = NULL;

	if (report_open(path, NULL, &rep))
		abort();
	for (opts.protocol = 0; opts.protocol < PUSH_PROTOCOLS; opts.protocol++) {
		struct sent sent = { 0 };
		struct push_counts c;

		if (push_encode(rep, &opts, add_body, &sent, &c) || sent.samples != c.samples ||
		    sent.lost != c.lost || sent.profiles != c.profiles)
			abort();
	}
	report_close(rep);
}

struct inside {
	struct time_window in;
	uint64_t nr;
};

static int count_inside(void *ctx, const struct report_sample *s)
{
	struct inside *count = ctx;

	count->nr += s->real_ns >= count->in.from_ns && s->real_ns < count->in.to_ns;
	return 0;
}

/* A report of a part of the time does not read all, and must show the same as one that does. */
static void check_window(const char *path)
{
	const struct query q = { .from = { TIME_RELATIVE, 5 }, .to = { TIME_BEFORE_END, 1 << 20 } };
	struct inside want = { .in = { 0, UINT64_MAX } }, got = want;
	struct report *all = NULL, *part = NULL;
	const struct report_info *info;

	if (report_open(path, NULL, &all) || report_open(path, &q, &part))
		abort();
	info = report_info(all);
	query_window(&q, info->first_real_ns, info->last_real_ns, &want.in);
	if (report_samples(all, count_inside, &want) || report_samples(part, count_inside, &got) ||
	    got.nr != want.nr || report_info(part)->samples != info->samples)
		abort();
	report_close(all);
	report_close(part);
}

static void render_deltas(const struct profile *p)
{
	struct render_opts opts = { .all = true };

	for (size_t i = 0; diff_renderers[i]; i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		if (diff_renderers[i]->render(p, &opts, out))
			abort();
		fclose(out);
		free(text);
	}
}

/* The trace beside itself, or beside the part of it that passes the query, in any scale. */
static void compare(const char *path, const struct query *q, enum delta_scale scale, bool inverted)
{
	static const struct fold_options fold;
	struct view view = { .inverted = inverted };
	struct diff_options opts = { .fold = &fold, .view = &view, .scale = scale };
	struct report *before = NULL, *after = NULL;
	struct profile *p = NULL;
	const struct delta *all;

	if (report_open(path, q, &before) || report_open(path, NULL, &after))
		abort();
	if (!diff_check(before, after)) {
		if (diff_reports(before, after, &opts, &p))
			abort();
		all = &p->deltas->nodes[0].total;
		if (!q && (all->before != all->after || p->deltas->differing || p->deltas->functions_differing))
			abort();
		render_deltas(p);
	}
	profile_free(p);
	report_close(before);
	report_close(after);
}

static uint64_t weights(const struct live_profile *l, uint64_t *of_windows)
{
	const struct live_windows *w = live_profile_windows(l);
	const struct live_event *e;
	uint64_t sum = 0;
	size_t nr;

	e = live_profile_events(l, &nr);
	for (size_t i = 0; i < nr; i++)
		sum += e[i].samples;
	*of_windows = 0;
	for (size_t i = 0; i < w->nr; i++)
		for (size_t k = 0; k < w->v[i].nr; k++)
			*of_windows += w->v[i].v[k].samples;
	return sum;
}

/* No sample is lost by compaction, and all that is left refers to something. */
static void compact(const struct tui *t)
{
	/* Nothing else may change it; here it is only asked to do what it does by itself. */
	struct live_profile *l = (struct live_profile *)(uintptr_t)tui_live(t);
	uint64_t before, after, windows_before, windows_after;

	if (!l)
		return;
	before = weights(l, &windows_before);
	if (live_profile_compact(l))
		abort();
	after = weights(l, &windows_after);
	if (before != after || windows_before != windows_after || before != windows_before)
		abort();
}

/* The views of the terminal, with the input as keys. */
static void look(const char *path, const uint8_t *data, size_t len)
{
	/* As small as this, it is compacted all the time. */
	const struct live_limits limits = { .counts = 1 + len % 8, .growths = 1 + len % 16, .bytes = 1,
					    .recent_ns = 1 + len % 4 * 1000000000 };
	const struct tui_source source = { .name = path, .fd = open(path, O_RDONLY | O_CLOEXEC),
					   .limits = len & 2 ? &limits : NULL };
	const struct tui_options opts = { .no_colour = len & 1 };
	struct tui t;

	if (source.fd < 0 || tui_state_open(&t, &source, &opts, tui_views[0]) ||
	    canvas_resize(&t.canvas, 1 + (int)(len % 40), 1 + (int)(len % 150)))
		abort();
	for (int i = 0; i < 3; i++)
		if (tui_state_update(&t) < 0)
			abort();
	compact(&t);
	for (size_t i = 0; i < len && i < 12; i++) {
		const struct mouse m = { data[i] % 5, data[i] % 41, data[i] % 151 };

		if (data[i] < 128)
			tui_key(&t, data[i]);
		else if (data[i] < 200)
			tui_key(&t, TUI_UP + data[i] % 12);
		else
			tui_mouse(&t, &m);
		t.view = tui_views[i % TUI_VIEWS];
		tui_draw(&t);
	}
	tui_state_close(&t);
}

/* A reader of a live page gets what it lacks, or all if it is too far behind. */
static void follow(struct live_page *p, uint64_t *version)
{
	struct byte_buf message = { 0 };
	int err = live_page_message(p, *version, &message);

	if (err == -ESTALE)
		err = live_page_message(p, 0, &message);
	if (err || message.nr < 2)
		abort();
	*version = live_page_version(p);
	bb_release(&message);
}

/* The trace as it grows, as a page that is fed with it. */
static void feed(const char *path, size_t step)
{
	struct trace_reader *r = NULL;
	struct live_profile *l = NULL;
	struct live_page *p = NULL;
	uint64_t each = 0, lazy = 0;
	struct record rec;
	size_t nr = 0;

	if (trace_reader_open(path, NULL, &r) || live_profile_new(&l) || live_page_new(l, &p))
		abort();
	while (trace_reader_next(r, &rec) > 0) {
		if (live_profile_record(l, &rec))
			abort();
		if (++nr % step)
			continue;
		if (live_page_update(p) < 0)
			abort();
		follow(p, &each);
		if (nr % (5 * step) == 0)
			follow(p, &lazy);
	}
	follow(p, &each);
	follow(p, &lazy);
	if (live_page_update(p) < 0)
		abort();
	live_page_free(p);
	live_profile_free(l);
	trace_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct maker m = { .in = br_make(data, len) };
	struct query q = { .states = 0x55555, .from = { TIME_RELATIVE, 5 } };
	uint64_t shown;
	char path[64];

	fail_set_verbosity(-1);
	snprintf(path, sizeof(path), "/tmp/fuzz_report.%d.pbz", (int)getpid());
	if (trace_writer_open(path, &(struct trace_writer_options){ .level = 1 }, &m.w))
		abort();
	while (br_left(&m.in))
		put_one(&m);
	if (trace_writer_close(m.w) || m.err)
		abort();
	shown = report(path, NULL);
	if (shown > m.samples || !shown != !m.samples)
		abort();
	report(path, &q);
	check_window(path);
	push_all(path, len);
	compare(path, NULL, len % DELTA_SCALES, len & 1);
	compare(path, &q, len % DELTA_SCALES, len & 1);
	look(path, data, len);
	feed(path, 1 + len % 7);
	unlink(path);
	return 0;
}
