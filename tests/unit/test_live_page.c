/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of a live page, read as a page reads them: whatever way a reader takes, it ends with the same. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "formats/render/escape.h"
#include "formats/render/page/page_functions.h"
#include "src/base/bytes.h"
#include "src/live/live_page.h"
#include "src/profile/fold.h"
#include "src/live/live_profile.h"
#include "src/profile/profile.h"

enum { MAX = 4096, LINES = 4000 };
#define S 1000000000ull
enum { EVENT_CPU = 1, EVENT_WALL };

/* ---- a reader ---- */

struct count {
	uint32_t event, thread, stack, activity;
	uint64_t samples, weight;
};

struct reader {
	uint64_t version;
	bool has_ended;
	char *strings[MAX];
	uint32_t nr_strings, nr_processes, nr_threads, nr_functions, nr_nodes, nr_stacks, nr_counts;
	uint32_t thread_name[MAX], quiet[MAX], function_name[MAX], parent[MAX], function[MAX], flags[MAX], leaf[MAX];
	struct count counts[MAX];
	uint64_t by_second[64];		/* samples by begin of their tick */
	char facts[8192], now[8192], scan[8192];
	char waits[MAX][128];		/* rows; "": gone */
};

static void forget(struct reader *r)
{
	for (uint32_t i = 0; i < r->nr_strings; i++)
		free(r->strings[i]);
	memset(r, 0, sizeof(*r));
}

static struct byte_reader section(struct byte_reader *b)
{
	return br_sub(b, br_uv(b));
}

static void copy_text(struct byte_reader b, char *to, size_t size)
{
	size_t len = br_left(&b);

	assert_true(len < size);
	if (len) {
		memcpy(to, b.p, len);
		to[len] = 0;
	}
}

static void read_strings(struct reader *r, struct byte_reader b)
{
	assert_int_equal(br_uv(&b), r->nr_strings);
	while (br_left(&b)) {
		const uint8_t *end = memchr(b.p, '\n', br_left(&b));

		assert_non_null(end);
		assert_true(r->nr_strings < MAX);
		r->strings[r->nr_strings++] = strndup((const char *)b.p, (size_t)(end - b.p));
		b.p = end + 1;
	}
}

/* Skips columns: those that are not kept. */
static uint32_t rows(struct byte_reader *b, uint32_t *nr)
{
	uint32_t n;

	assert_int_equal(br_uv(b), *nr);	/* only what is new */
	n = (uint32_t)br_uv(b);
	assert_true(*nr + n <= MAX);
	*nr += n;
	return n;
}

static void column(struct byte_reader *b, uint32_t *to, uint32_t end, uint32_t n)
{
	for (uint32_t i = end - n; i < end; i++) {
		uint64_t v = br_uv(b);

		if (to)
			to[i] = (uint32_t)v;
	}
}

static void read_processes(struct reader *r, struct byte_reader b)
{
	uint32_t n = rows(&b, &r->nr_processes);

	column(&b, NULL, 6 * n, 6 * n);
	assert_true(!b.bad && !br_left(&b));
}

static void read_threads(struct reader *r, struct byte_reader b)
{
	uint32_t n = rows(&b, &r->nr_threads);

	column(&b, NULL, n, n);
	column(&b, r->thread_name, r->nr_threads, n);
	column(&b, NULL, 2 * n, 2 * n);
	assert_true(!b.bad && !br_left(&b));
}

static void read_quiet(struct reader *r, struct byte_reader b)
{
	while (br_left(&b)) {
		uint64_t thread = br_uv(&b);

		assert_true(thread < r->nr_threads);
		r->quiet[thread] = (uint32_t)br_uv(&b);
	}
}

static void read_functions(struct reader *r, struct byte_reader b)
{
	uint32_t n = rows(&b, &r->nr_functions);

	column(&b, r->function_name, r->nr_functions, n);
	n *= PAGE_FUNCTION_FIELDS - 1;
	column(&b, NULL, n, n);
	assert_true(!b.bad && !br_left(&b));
}

static void read_nodes(struct reader *r, struct byte_reader b)
{
	uint32_t n;

	assert_int_equal(br_uv(&b), 0);		/* one tree for all events */
	n = rows(&b, &r->nr_nodes);
	column(&b, r->parent, r->nr_nodes, n);
	for (uint32_t i = r->nr_nodes - n; i < r->nr_nodes; i++) {
		assert_true(r->parent[i] <= i && (r->parent[i] || !i));
		r->parent[i] = i - r->parent[i];
	}
	column(&b, r->function, r->nr_nodes, n);
	column(&b, r->flags, r->nr_nodes, n);
	assert_true(!b.bad && !br_left(&b));
}

static void read_changed_nodes(struct reader *r, struct byte_reader b)
{
	while (br_left(&b)) {
		uint64_t node = br_uv(&b);

		assert_true(node < r->nr_nodes);
		r->function[node] = (uint32_t)br_uv(&b);
		r->flags[node] = (uint32_t)br_uv(&b);
	}
}

static void read_stacks(struct reader *r, struct byte_reader b)
{
	uint32_t n = rows(&b, &r->nr_stacks);

	column(&b, r->leaf, r->nr_stacks, n);
	assert_true(!b.bad && !br_left(&b));
}

static void read_changed_stacks(struct reader *r, struct byte_reader b)
{
	while (br_left(&b)) {
		uint64_t stack = br_uv(&b);

		assert_true(stack < r->nr_stacks);
		r->leaf[stack] = (uint32_t)br_uv(&b);
	}
}

static void read_counts(struct reader *r, struct byte_reader b)
{
	uint32_t n = rows(&b, &r->nr_counts), first = r->nr_counts - n;

	for (uint32_t i = first; i < r->nr_counts; i++)
		r->counts[i].event = (uint32_t)br_uv(&b);
	for (uint32_t i = first; i < r->nr_counts; i++)
		r->counts[i].thread = (uint32_t)br_uv(&b);
	for (uint32_t i = first; i < r->nr_counts; i++)
		r->counts[i].stack = (uint32_t)br_uv(&b);
	for (uint32_t i = first; i < r->nr_counts; i++)
		r->counts[i].activity = (uint32_t)br_uv(&b);
	assert_true(!b.bad && !br_left(&b));
}

/* What a sample weighs if nothing else is said: put_event(). */
static uint64_t usual(const struct reader *r, uint32_t id)
{
	return r->counts[id].event == 0 ? S / 100 : S;
}

static void read_entries(struct reader *r, struct byte_reader b)
{
	while (br_left(&b)) {
		int64_t begin = br_sv(&b);
		uint64_t length = br_uv(&b), runs = br_uv(&b), id = 0;

		assert_true(begin >= 0 && begin < 64 && length >= 1);
		while (runs--) {
			uint64_t end, samples, code;

			id += br_uv(&b);
			end = id + br_uv(&b);
			samples = br_uv(&b);
			code = br_uv(&b);
			assert_true(end <= r->nr_counts && !b.bad);
			for (; id < end; id++) {
				r->counts[id].samples += samples;
				r->counts[id].weight += code ? code - 1 : samples * usual(r, (uint32_t)id);
				r->by_second[begin] += samples;
			}
		}
	}
	assert_false(b.bad);
}

static void read_rows(struct reader *r, struct byte_reader b)
{
	while (br_left(&b)) {
		uint64_t thread = br_uv(&b), state = br_uv(&b), cpu, owner;
		struct byte_reader text;

		assert_true(thread < r->nr_threads);
		r->waits[thread][0] = 0;
		if (!state)
			continue;
		cpu = br_uv(&b);
		if (br_uv(&b))
			br_sv(&b);
		owner = br_uv(&b);
		assert_true(br_uv(&b) <= r->nr_stacks);
		text = section(&b);
		snprintf(r->waits[thread], sizeof(r->waits[thread]), "%d cpu %d owner %d %.*s", (int)state - 1,
			 (int)cpu - 1, (int)owner, (int)br_left(&text), (const char *)text.p);
		section(&b);
		section(&b);
	}
	assert_false(b.bad);
}

static struct byte_buf unpacked(const struct byte_buf *message)
{
	struct byte_buf plain = { 0 };
	uLongf len = 1 << 20;

	assert_true(message->nr > 1);
	if (!message->v[0]) {
		bb_bytes(&plain, message->v + 1, message->nr - 1);
		return plain;
	}
	assert_non_null(bb_room(&plain, len));
	assert_int_equal(uncompress(plain.v, &len, message->v + 1, message->nr - 1), Z_OK);
	plain.nr = len;
	return plain;
}

static void read_state(struct reader *r, struct byte_reader b)
{
	uint64_t flags = br_uv(&b);

	if (flags & 1)
		forget(r);
	r->version = br_uv(&b);
	r->has_ended = flags & 2;
	assert_true(!b.bad && !br_left(&b));
}

static void read_facts(struct reader *r, struct byte_reader b)
{
	copy_text(b, r->facts, sizeof(r->facts));
}

static void read_now(struct reader *r, struct byte_reader b)
{
	copy_text(b, r->now, sizeof(r->now));
}

static void read_waits(struct reader *r, struct byte_reader b)
{
	copy_text(b, r->scan, sizeof(r->scan));
}

static const struct section_reader {
	const char *name;
	void (*read)(struct reader *r, struct byte_reader b);
} section_readers[] = {
	{ "state", read_state }, { "facts", read_facts }, { "now", read_now },
	{ "strings", read_strings }, { "processes", read_processes }, { "threads", read_threads },
	{ "functions", read_functions }, { "quiet", read_quiet }, { "nodes", read_nodes },
	{ "changed-nodes", read_changed_nodes }, { "stacks", read_stacks },
	{ "changed-stacks", read_changed_stacks }, { "counts", read_counts }, { "entries", read_entries },
	{ "rows", read_rows }, { "waits", read_waits },
};

#define SECTIONS (sizeof(section_readers) / sizeof(section_readers[0]))

/* Sections come in their order, each at most once, and none is empty. */
static void take_message(struct reader *r, const struct byte_buf *message)
{
	struct byte_buf plain = unpacked(message);
	struct byte_reader in = br_make(plain.v, plain.nr);
	size_t at = 0;

	while (br_left(&in)) {
		struct byte_reader name = section(&in), b = section(&in);

		while (at < SECTIONS && (strlen(section_readers[at].name) != br_left(&name) ||
					 memcmp(section_readers[at].name, name.p, br_left(&name)) != 0))
			at++;
		assert_true(at < SECTIONS && br_left(&b));
		section_readers[at++].read(r, b);
	}
	assert_false(in.bad);
	bb_release(&plain);
}

static int follow(struct reader *r, struct live_page *p)
{
	struct byte_buf message = { 0 };
	int err = live_page_message(p, r->version, &message);

	if (!err) {
		take_message(r, &message);
		assert_int_equal(r->version, live_page_version(p));
	}
	bb_release(&message);
	return err;
}

/* "all;main;read" */
static void path_of(const struct reader *r, uint32_t node, char *out, size_t size)
{
	char up[2048] = "";
	const char *name = r->strings[r->function_name[r->function[node]]];

	if (node)
		path_of(r, r->parent[node], up, sizeof(up));
	snprintf(out, size, "%s%s%s", up, node ? ";" : "", name);
}

struct line {
	char *key;
	uint64_t samples, weight;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->key, ((const struct line *)b)->key);
}

/* "KEY SAMPLES WEIGHT\n" in the order of keys, each once. Frees the keys. The caller frees the text. */
static char *text_of_lines(struct line *v, size_t nr)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	qsort(v, nr, sizeof(*v), by_key);
	for (size_t i = 0; i < nr; i++) {
		bool is_last = i + 1 == nr || strcmp(v[i].key, v[i + 1].key);

		if (is_last)
			fprintf(out, "%s %llu %llu\n", v[i].key, (unsigned long long)v[i].samples, (unsigned long long)v[i].weight);
		else {
			v[i + 1].samples += v[i].samples;
			v[i + 1].weight += v[i].weight;
		}
		free(v[i].key);
	}
	fclose(out);
	return text;
}

/* All samples of a reader as lines, sorted; the caller frees it. with_threads: by thread and activity, too. */
static char *text_of(const struct reader *r, uint32_t event, bool with_threads)
{
	struct line lines[LINES];
	size_t nr = 0;

	for (uint32_t i = 0; i < r->nr_counts; i++) {
		const struct count *c = &r->counts[i];
		char path[2048], who[300] = "";

		if (c->event != event || !c->samples)
			continue;
		path_of(r, r->leaf[c->stack], path, sizeof(path));
		if (with_threads)
			snprintf(who, sizeof(who), "%s %u ", r->strings[r->thread_name[c->thread]], c->activity);
		assert_true(nr < LINES);
		lines[nr] = (struct line){ NULL, c->samples, c->weight };
		assert_true(asprintf(&lines[nr++].key, "%s%s", who, path) > 0);
	}
	return text_of_lines(lines, nr);
}

static void assert_alike(const struct reader *a, const struct reader *b)
{
	for (uint32_t event = 0; event < 2; event++) {
		char *x = text_of(a, event, true), *y = text_of(b, event, true);

		assert_string_equal(x, y);
		free(x);
		free(y);
	}
	assert_int_equal(a->nr_counts, b->nr_counts);
	assert_int_equal(a->nr_nodes, b->nr_nodes);
	assert_memory_equal(a->by_second, b->by_second, sizeof(a->by_second));
	assert_memory_equal(a->flags, b->flags, sizeof(a->flags));
	assert_memory_equal(a->quiet, b->quiet, sizeof(a->quiet));
	assert_string_equal(a->facts, b->facts);
	assert_string_equal(a->scan, b->scan);
	for (uint32_t i = 0; i < a->nr_threads; i++)
		assert_string_equal(a->waits[i], b->waits[i]);
}

/* ---- a recording ---- */

struct world {
	struct live_profile *l;
	struct live_page *p;
	uint32_t strings;
};

static void put(struct world *w, const struct record *rec)
{
	assert_int_equal(live_profile_record(w->l, rec), 0);
}

#define PUT(w, TAG, field, ...) put(w, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ })

static uint32_t put_string(struct world *w, const char *s)
{
	PUT(w, STRING, string, { ++w->strings, s, strlen(s) });
	return w->strings;
}

static void put_symbol(struct world *w, uint32_t frame, const char *name)
{
	struct rec_line line = { .func = frame, .line = 7 };

	PUT(w, FUNC, func, { .id = frame, .name = put_string(w, name), .start_line = frame });
	PUT(w, SYMBOL, symbol, { .frame = frame, .status = SYMBOL_OK, .lines = &line, .nr_lines = 1 });
}

static void put_event(struct world *w, uint32_t id, const char *name, uint8_t kind, uint64_t period)
{
	PUT(w, EVENT, event, { .id = id, .name = put_string(w, name), .kind = kind, .freq_mhz = S / (period / 1000),
			       .period = period, .unit = put_string(w, "ns") });
}

static void put_thread(struct world *w, uint32_t id, uint32_t tid, const char *name)
{
	PUT(w, THREAD, thread, { .id = id, .process = 1, .tid = tid, .comm = put_string(w, name), .start_boottime_ns = tid });
}

/* Frames 1 .. 9 of code without names, and as many nodes, each called by the one before. */
static void begin(struct world *w)
{
	*w = (struct world){ 0 };
	assert_int_equal(live_profile_new(&w->l), 0);
	assert_int_equal(live_page_new(w->l, &w->p), 0);
	PUT(w, META, meta, { "arch", "x86_64", 6 });
	PUT(w, CLOCK, clock, { .mono_ns = S, .real_ns = 1790000000ull * S });
	PUT(w, BINARY, binary, { .id = 1, .kind = BINARY_ELF, .path = put_string(w, "/usr/bin/shop") });
	PUT(w, PROCESS, process, { .id = 1, .tgid = 100, .comm = put_string(w, "shop") });
	put_thread(w, 1, 100, "shop");
	put_thread(w, 2, 101, "till");
	for (uint32_t i = 1; i < 10; i++) {
		PUT(w, FRAME, frame, { .id = i, .kind = i < 8 ? FRAME_USER : FRAME_KERNEL, .binary = 1, .addr = 0x1000 + 16 * i });
		PUT(w, NODE, node, { .id = i, .parent = i - 1, .frame = i });
	}
	put_event(w, EVENT_CPU, "cpu-clock", EVENT_CPU_CLOCK, S / 100);
	put_event(w, EVENT_WALL, "snapshot", EVENT_SNAPSHOT, S);
}

static void end(struct world *w)
{
	live_page_free(w->p);
	live_profile_free(w->l);
}

static void put_sample(struct world *w, uint64_t time_ns, uint32_t thread, uint32_t stack)
{
	PUT(w, SAMPLE, sample, { .time_ns = time_ns, .event = EVENT_CPU, .thread = thread, .ustack = stack,
				 .state = TASK_RUNNING, .end = END_ROOT });
}

static void put_row(struct world *w, uint64_t time_ns, uint32_t scan, uint32_t thread, uint8_t state)
{
	PUT(w, SAMPLE, sample, { .time_ns = time_ns, .event = EVENT_WALL, .thread = thread, .ustack = 2, .kstack = 9, .cpu = UINT32_MAX,
				 .scan = scan, .state = state, .end = END_ROOT, .ran_ns = time_ns - S / 2, .syscall = 202, .wait = 0x70,
				 .owner = 100 });
}

/* A pair of readers: one that gets all differences, and one that sleeps now and then. */
static void test_differences_are_the_whole(void **state)
{
	struct reader each = { 0 }, lazy = { 0 }, late = { 0 };
	struct world w;

	(void)state;
	begin(&w);
	for (uint32_t i = 0; i < 395; i++) {
		put_sample(&w, S + i * (S / 20), 1 + i % 2, 1 + (i * i + i / 50) % 9);
		if (i % 20 == 0)
			put_row(&w, S + i * (S / 20), 1 + i / 20, 2, i % 40 ? TASK_SLEEPING : TASK_RUNNABLE);
		if (i == 133)
			put_thread(&w, 3, 102, "lock");
		if (i % 37 == 0)
			put_symbol(&w, 1 + i / 37 % 9, i % 74 ? "parse" : "draw");
		if (i % 50 == 49)	/* one that comes late */
			put_sample(&w, S + (i - 45) * (S / 20), 1, 3);
		if (i % 7 == 0) {
			assert_int_equal(live_page_update(w.p), 1);
			assert_int_equal(follow(&each, w.p), 0);
		}
		if (i % 91 == 0)
			assert_int_equal(follow(&lazy, w.p), 0);
	}
	assert_int_equal(live_page_update(w.p), 1);
	assert_int_equal(live_page_update(w.p), 0);
	assert_int_equal(follow(&each, w.p), 0);
	assert_int_equal(follow(&lazy, w.p), 0);
	assert_int_equal(follow(&late, w.p), 0);
	assert_alike(&each, &late);
	assert_alike(&lazy, &late);
	assert_non_null(strstr(each.now, "\"samples\":402"));
	assert_false(each.has_ended);
	/* till (101) waits for a lock that shop (100) holds, of which there is no row. */
	assert_non_null(strstr(each.scan, "\"tid\":101"));
	assert_non_null(strstr(each.scan, "\"waits_for\":100"));
	PUT(&w, END, end, { .time_ns = 30ull * S, .reason = ENDED_SIGNAL });
	live_page_update(w.p);
	assert_int_equal(follow(&each, w.p), 0);
	assert_true(each.has_ended);
	forget(&each);
	forget(&lazy);
	forget(&late);
	end(&w);
}

/* Below up: a line for each node of a profile that has samples of its own. */
static void add_tree(const struct profile *p, uint32_t node, const char *up, struct line *lines, size_t *nr)
{
	const struct node *n = &p->nodes[node];
	char *path = NULL;
	size_t len;
	FILE *out = open_memstream(&path, &len);

	fprintf(out, "%s%s", up, node ? ";" : "");
	escape_text(out, profile_name(p, n->name), strlen(profile_name(p, n->name)));
	fclose(out);
	assert_true(*nr < LINES);
	if (n->self_samples)
		lines[(*nr)++] = (struct line){ strdup(path), n->self_samples, n->self };
	for (uint32_t c = n->first_child; c != NODE_NONE; c = p->nodes[c].next_sibling)
		add_tree(p, c, path, lines, nr);
	free(path);
}

/* The tree of the page is that of the profile, which is made anew of all that is known. */
static void assert_tree(const struct world *w, const struct reader *r)
{
	const struct fold_options opts = { .by = { .v = { FOLD_BY_NONE }, .nr = 1 } };
	char *seen = text_of(r, 0, false), *want;
	struct line lines[LINES];
	struct profile *p;
	size_t nr = 0;

	assert_int_equal(live_profile_read(w->l, EVENT_CPU, &opts, &p), 0);
	add_tree(p, 0, "", lines, &nr);
	want = text_of_lines(lines, nr);
	assert_string_equal(seen, want);
	free(seen);
	free(want);
	profile_free(p);
}

static void test_names_that_come_late(void **state)
{
	struct reader r = { 0 };
	struct world w;
	char *text;

	(void)state;
	begin(&w);
	put_sample(&w, S, 1, 1);
	put_sample(&w, S, 1, 2);
	live_page_update(w.p);
	assert_int_equal(follow(&r, w.p), 0);
	text = text_of(&r, 0, false);
	assert_string_equal(text, "all;[shop+0x1010] 1 10000000\nall;[shop+0x1010];[shop+0x1020] 1 10000000\n");
	free(text);
	assert_tree(&w, &r);
	put_symbol(&w, 1, "main");
	assert_int_equal(live_page_update(w.p), 1);
	assert_int_equal(follow(&r, w.p), 0);
	text = text_of(&r, 0, false);
	assert_string_equal(text, "all;main 1 10000000\nall;main;[shop+0x1020] 1 10000000\n");
	free(text);
	assert_tree(&w, &r);
	put_symbol(&w, 2, "read");
	put_sample(&w, S, 2, 2);
	put_sample(&w, S, 2, 9);
	live_page_update(w.p);
	assert_int_equal(follow(&r, w.p), 0);
	assert_tree(&w, &r);
	forget(&r);
	end(&w);
}

static void assert_paths(struct world *w, struct reader *r, uint32_t event, const char *want)
{
	char *text;

	assert_true(live_page_update(w->p) >= 0);
	assert_int_equal(follow(r, w->p), 0);
	text = text_of(r, event, false);
	assert_string_equal(text, want);
	free(text);
}

/* The stacks of put_row(): two frames of the program, and nine of the kernel's. */
#define WAITS(innermost) \
	"[shop+0x1010];[shop+0x1020];[shop+0x1010];[shop+0x1020];[shop+0x1030];[shop+0x1040];[shop+0x1050];[shop+0x1060];" \
	"[shop+0x1070];[shop+0x1080];" innermost

/* That a thread has no work is known when the names are. One that runs in that function is not idle. */
static void test_idle_waits(void **state)
{
	struct reader r = { 0 };
	struct world w;

	(void)state;
	for (int shows_idle = 0; shows_idle < 2; shows_idle++) {
		begin(&w);
		if (shows_idle)
			live_page_show_idle(w.p);
		put_row(&w, S, 1, 1, TASK_SLEEPING);
		assert_paths(&w, &r, 0, "all;" WAITS("[shop+0x1090]") " 1 10000000\n");
		put_symbol(&w, 9, "ep_poll");
		assert_paths(&w, &r, 0, shows_idle ? "all;" WAITS("ep_poll") " 1 10000000\n"
						   : "all;[idle: events] 1 10000000\n");
		put_row(&w, 2 * S, 2, 2, TASK_RUNNING);
		assert_paths(&w, &r, 0, shows_idle ? "all;" WAITS("ep_poll") " 2 20000000\n"
						   : "all;[idle: events] 1 10000000\nall;" WAITS("ep_poll") " 1 10000000\n");
		forget(&r);
		end(&w);
	}
}

static void test_reader_that_is_too_late(void **state)
{
	struct reader r = { 0 };
	struct byte_buf message = { 0 };
	struct world w;

	(void)state;
	begin(&w);
	for (uint32_t i = 0; i < LIVE_VERSIONS + 2; i++) {
		put_sample(&w, S + i * 1000, 1, 1);
		assert_int_equal(live_page_update(w.p), 1);
		if (!i)
			assert_int_equal(follow(&r, w.p), 0);
	}
	assert_int_equal(r.version, 1);
	assert_int_equal(follow(&r, w.p), -ESTALE);
	assert_int_equal(live_page_message(w.p, 1000000, &message), -ESTALE);
	assert_int_equal(message.nr, 0);
	assert_int_equal(live_page_message(w.p, live_page_version(w.p) + 1 - LIVE_VERSIONS, &message), 0);
	bb_release(&message);
	r.version = 0;
	assert_int_equal(follow(&r, w.p), 0);
	assert_int_equal(r.counts[0].samples, LIVE_VERSIONS + 2);
	forget(&r);
	end(&w);
}

static void test_hostile_names(void **state)
{
	struct reader r = { 0 };
	struct world w;

	(void)state;
	begin(&w);
	put_symbol(&w, 1, "a\nb\x1b[31m\xff\xe2\x80\xae</script>");
	put_thread(&w, 4, 104, "\n\n");
	put_sample(&w, S, 4, 1);
	put_sample(&w, S, 77, 99);		/* of what was never defined */
	put_row(&w, S, 1, 4, TASK_SLEEPING);
	live_page_update(w.p);
	assert_int_equal(follow(&r, w.p), 0);
	for (uint32_t i = 0; i < r.nr_strings; i++)
		for (const char *s = r.strings[i]; *s; s++)
			assert_true((unsigned char)*s >= ' ' && (unsigned char)*s != 0xff);
	assert_string_equal(r.strings[0], "");
	assert_tree(&w, &r);
	forget(&r);
	end(&w);
}

/* Samples that weigh nearly all that there can be are not counted twice, whatever becomes of their sum. */
static void test_huge_weights(void **state)
{
	struct reader each = { 0 }, late = { 0 };
	struct world w;

	(void)state;
	begin(&w);
	for (int i = 0; i < 6; i++) {
		PUT(&w, SAMPLE, sample, { .time_ns = S + (uint64_t)i * S / 2, .event = EVENT_CPU, .thread = 1, .ustack = 1,
					  .weight = UINT64_MAX / 4, .end = END_ROOT });
		live_page_update(w.p);
		assert_int_equal(follow(&each, w.p), 0);
	}
	assert_int_equal(follow(&late, w.p), 0);
	assert_int_equal(each.counts[0].samples, 6);
	assert_int_equal(each.counts[0].weight, UINT64_MAX);
	forget(&each);
	forget(&late);
	end(&w);
}

/* Threads that sleep as before cost next to nothing. */
static void test_sleeping_threads_are_short(void **state)
{
	enum { THREADS = 300 };
	struct reader r = { 0 };
	struct byte_buf message = { 0 };
	struct world w;

	(void)state;
	begin(&w);
	for (uint32_t i = 0; i < THREADS; i++)
		put_thread(&w, 10 + i, 1000 + i, "sleeper");
	for (uint32_t scan = 1; scan <= 5; scan++) {
		for (uint32_t i = 0; i < THREADS; i++)
			PUT(&w, SAMPLE, sample, { .time_ns = scan * (uint64_t)S, .event = EVENT_WALL, .thread = 10 + i, .ustack = 2,
						  .kstack = 9, .cpu = UINT32_MAX, .scan = scan, .state = TASK_SLEEPING, .end = END_ROOT,
						  .ran_ns = 5, .syscall = 7 });
		PUT(&w, SCAN, scan, { .scan = scan, .time_ns = scan * (uint64_t)S, .tasks_seen = THREADS, .rows = THREADS });
		live_page_update(w.p);
		if (scan == 4)
			assert_int_equal(follow(&r, w.p), 0);
	}
	assert_int_equal(live_page_message(w.p, r.version, &message), 0);
	assert_true(message.nr < 700);
	take_message(&r, &message);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(r.counts[i].samples, 5);
	bb_release(&message);
	assert_true(r.quiet[5]);		/* it last ran before the recording */
	PUT(&w, SAMPLE, sample, { .time_ns = 6ull * S, .event = EVENT_WALL, .thread = 15, .ustack = 2, .cpu = 0, .scan = 6,
				  .state = TASK_RUNNING, .end = END_ROOT, .ran_ns = 6ull * S });
	live_page_update(w.p);
	assert_int_equal(follow(&r, w.p), 0);
	assert_false(r.quiet[5]);
	assert_true(r.quiet[6]);
	assert_true(r.waits[5][0] && r.waits[6][0]);
	/* Those that are in neither of two snapshots are gone. */
	PUT(&w, SAMPLE, sample, { .time_ns = 7ull * S, .event = EVENT_WALL, .thread = 15, .ustack = 2, .cpu = 0, .scan = 7,
				  .state = TASK_RUNNING, .end = END_ROOT, .ran_ns = 7ull * S });
	live_page_update(w.p);
	assert_int_equal(follow(&r, w.p), 0);
	assert_true(r.waits[5][0] && !r.waits[6][0]);
	forget(&r);
	end(&w);
}

static void test_page(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(live_page_html("<&", out), 0);
	fclose(out);
	assert_non_null(strstr(text, "<title>&lt;&amp;</title>"));
	assert_non_null(strstr(text, "connect-src 'self'\">"));
	assert_non_null(strstr(text, "data-events=\"events\""));
	assert_null(strstr(text, "id=\"data\""));
	free(text);
	out = open_memstream(&text, &len);
	assert_int_equal(live_page_policy(out), 0);
	fclose(out);
	assert_non_null(strstr(text, "default-src 'none'"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences_are_the_whole),
		cmocka_unit_test(test_names_that_come_late),
		cmocka_unit_test(test_idle_waits),
		cmocka_unit_test(test_reader_that_is_too_late),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_huge_weights),
		cmocka_unit_test(test_sleeping_threads_are_short),
		cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
