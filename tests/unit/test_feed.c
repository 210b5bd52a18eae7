/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "formats/trace/trace_reader.h"
#include "src/live/feed.h"
#include "src/live/live_profile.h"
#include "src/report/trace_summary.h"
#include "tests/unit/fixture_report.h"

enum { TAKE_NS = 1000000000 };

struct parts {
	char path[64];
	struct trace_writer *w;
	const char *key, *value;	/* a META that says something else than the fixture's */
	uint8_t reason;			/* of END */
	uint64_t later_ns;		/* added to all times */
};

static int put_part(void *ctx, const struct record *rec)
{
	struct parts *p = ctx;
	struct record copy = *rec;

	if (rec->tag == REC_META && p->key && !strcmp(rec->meta.key, p->key))
		copy.meta = (struct rec_meta){ p->key, p->value, strlen(p->value) };
	if (rec->tag == REC_SAMPLE)
		copy.sample.time_ns += p->later_ns;
	if (rec->tag == REC_CLOCK) {
		copy.clock.mono_ns += p->later_ns;
		copy.clock.real_ns += p->later_ns;
	}
	if (rec->tag == REC_END) {
		copy.end.time_ns += p->later_ns;
		copy.end.reason = p->reason;
	}
	return trace_writer_record(p->w, &copy);
}

static void begin(struct parts *p)
{
	*p = (struct parts){ .path = "/tmp/probee-feed-XXXXXX", .reason = ENDED_CONTINUED };
	close(mkstemp(p->path));
	assert_int_equal(trace_writer_open(p->path, NULL, &p->w), 0);
}

/* nr: the value of recording.part; NULL: it is the first one, or of no recording in parts. */
static void add_part(struct parts *p, const char *nr)
{
	struct trace_writer_stats st;

	trace_writer_stats(p->w, &st);
	if (st.records) {
		p->later_ns += 3600000 * FIX_MS;
		assert_int_equal(trace_writer_begin_segment(p->w), 0);
	}
	if (nr) {
		struct record rec = { .tag = REC_META, .meta = { "recording.part", nr, strlen(nr) } };

		assert_int_equal(trace_writer_record(p->w, &rec), 0);
	}
	assert_int_equal(trace_fixture_emit(put_part, p), 0);
	assert_int_equal(trace_writer_flush(p->w), 0);
}

static struct feed *open_feed(const struct parts *p, const struct feed_how *how)
{
	struct feed *f;

	assert_int_equal(feed_open(open(p->path, O_RDWR | O_CLOEXEC), p->path, how, &f), 0);
	return f;
}

static uint64_t samples(const struct feed *f)
{
	size_t nr;
	const struct live_event *e = live_profile_events(feed_profile(f), &nr);

	assert_int_equal(nr, 3);
	return e[FIX_E_CPU].samples;
}

static void check(struct parts *p, uint32_t recordings, uint32_t shown_parts, bool has_ended)
{
	const struct feed_how how = { .is_live = false };
	struct feed *f = open_feed(p, &how);

	while (feed_take(f, TAKE_NS) > 0)
		;
	assert_int_equal(feed_recordings(f), recordings);
	assert_int_equal(live_profile_parts(feed_profile(f)), shown_parts);
	assert_int_equal(samples(f), shown_parts * FIX_CPU_SAMPLES);
	assert_int_equal(live_profile_info(feed_profile(f))->lost_all, shown_parts * FIX_LOST);
	assert_int_equal(feed_has_ended(f), has_ended);
	feed_close(f);
}

static void end(struct parts *p)
{
	assert_int_equal(trace_writer_close(p->w), 0);
	unlink(p->path);
}

static void parts_go_on(void **state)
{
	struct parts p;
	uint64_t first, last;
	struct feed *f;
	const struct feed_how how = { .is_live = false };

	(void)state;
	begin(&p);
	add_part(&p, NULL);
	check(&p, 1, 1, false);
	add_part(&p, "2");
	add_part(&p, "3");
	check(&p, 1, 3, false);
	add_part(&p, "7");		/* parts between them were lost */
	p.reason = ENDED_SIGNAL;
	add_part(&p, "8");
	check(&p, 1, 5, true);
	f = open_feed(&p, &how);
	assert_int_equal(feed_take(f, TAKE_NS), 1);
	live_profile_times(feed_profile(f), &first, &last);
	assert_int_equal(first, FIX_T0);
	assert_int_equal(last, FIX_T0 + 60 * FIX_MS + 4 * 3600000 * FIX_MS);
	feed_close(f);
	end(&p);
}

static void other_recordings_do_not(void **state)
{
	static const char *const lies[] = { "1", "0", "2x", "-5", "", "99999999999999999999999", " 3" };
	struct parts p;

	(void)state;
	begin(&p);
	add_part(&p, NULL);
	p.reason = ENDED_DURATION;
	add_part(&p, NULL);
	check(&p, 2, 1, true);
	add_part(&p, "2");
	check(&p, 2, 2, true);
	add_part(&p, "2");		/* twice the same: the end of another one */
	check(&p, 3, 1, true);
	p.key = "host";
	p.value = "another";
	add_part(&p, "3");
	check(&p, 4, 1, true);
	p.key = NULL;
	for (uint32_t i = 0; i < 5; i++) {
		add_part(&p, lies[i]);
		check(&p, 5 + i, 1, true);
	}
	end(&p);
}

/* A later part alone is a recording, too: that of a download. */
static void a_part_may_be_the_first(void **state)
{
	struct parts p;

	(void)state;
	begin(&p);
	add_part(&p, "41");
	check(&p, 1, 1, false);
	add_part(&p, "42");
	check(&p, 1, 2, false);
	end(&p);
}

/* The kept part of the file, copied, is a trace. */
static uint64_t samples_kept(const struct parts *p, uint64_t begin, uint64_t end)
{
	char *data = malloc(end - begin);
	int fd = open(p->path, O_RDONLY | O_CLOEXEC);
	struct trace_reader *r;
	struct record rec;
	uint64_t nr = 0;

	assert_int_equal(pread(fd, data, end - begin, (off_t)begin), (ssize_t)(end - begin));
	close(fd);
	assert_int_equal(trace_reader_open_memory(data, end - begin, NULL, &r), 0);
	while (trace_reader_next(r, &rec) > 0)
		nr += rec.tag == REC_SAMPLE;
	assert_int_equal(trace_reader_status(r)->skipped_bytes, 0);
	assert_int_equal(trace_reader_status(r)->bad_chunks, 0);
	trace_reader_close(r);
	free(data);
	return nr;
}

static void whole_segments_are_kept(void **state)
{
	struct feed_how how = { .is_live = true, .frees = true, .kept_bytes = 1 };
	uint64_t begin_at, end_at, size;
	struct parts p;
	struct feed *f;
	struct stat st;

	(void)state;
	begin(&p);
	add_part(&p, NULL);
	stat(p.path, &st);
	size = (uint64_t)st.st_size;
	how.kept_bytes = size * 5 / 2;		/* two parts and a half */
	f = open_feed(&p, &how);
	feed_kept(f, &begin_at, &end_at);
	assert_int_equal(end_at, 0);
	for (unsigned i = 1; i <= 12; i++) {
		char nr[8];
		unsigned kept = i < 2 ? i : 2;

		while (feed_take(f, TAKE_NS) > 0)
			;
		feed_kept(f, &begin_at, &end_at);
		stat(p.path, &st);
		assert_int_equal(end_at, st.st_size);
		assert_int_equal(samples_kept(&p, begin_at, end_at), kept * FIX_SAMPLES);
		assert_int_equal(samples(f), i * FIX_CPU_SAMPLES);
		snprintf(nr, sizeof(nr), "%u", i + 1);
		add_part(&p, nr);
	}
	stat(p.path, &st);
	assert_true((uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size);	/* the rest was given back */
	feed_close(f);
	how.kept_bytes = 1;			/* less than a segment: the last one in any case */
	f = open_feed(&p, &how);
	assert_int_equal(feed_take(f, TAKE_NS), 1);
	feed_close(f);
	end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_go_on),
		cmocka_unit_test(other_recordings_do_not),
		cmocka_unit_test(a_part_may_be_the_first),
		cmocka_unit_test(whole_segments_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
