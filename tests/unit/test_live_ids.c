/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/trace/record_fields.h"
#include "src/model/definition_store.h"
#include "src/live/live_ids.h"
#include "src/live/live_profile.h"
#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_collapse;

enum { TURN = 1000 };		/* ids of a turned segment are TURN minus those of the fixture */

static void put(struct live_profile *l, const struct record *rec)
{
	assert_int_equal(live_profile_record(l, rec), 0);
}

static uint32_t turned(uint32_t id)
{
	return id ? TURN - id : 0;
}

/* The same records with all ids turned: they come in descending order, and mean other things than before. */
static int put_turned(void *live, const struct record *rec)
{
	struct record copy = *rec;
	struct rec_line lines[4];

	if (record_defines(rec))
		*record_id(&copy) = turned(record_defines(rec));
	for (const struct field *f = record_layout(rec->tag)->fields; f->at; f++)
		if (f->to) {
			uint32_t *id = (uint32_t *)((char *)&copy + f->at);

			*id = turned(*id);
		}
	if (rec->tag == REC_SAMPLE) {
		copy.sample.event = turned(rec->sample.event);
		copy.sample.thread = turned(rec->sample.thread);
		copy.sample.kstack = turned(rec->sample.kstack);
		copy.sample.ustack = turned(rec->sample.ustack);
	}
	for (uint32_t i = 0; rec->tag == REC_SYMBOL && i < rec->symbol.nr_lines; i++) {
		lines[i] = rec->symbol.lines[i];
		lines[i].func = turned(lines[i].func);
		copy.symbol.lines = lines;
	}
	put(live, &copy);
	return 0;
}

static char *stacks_of(const struct live_profile *l, uint32_t event)
{
	static const struct render_opts plain;
	struct profile *p;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(live_profile_read(l, event, NULL, &p), 0);
	assert_int_equal(renderer_collapse.render(p, &plain, out), 0);
	assert_int_equal(fclose(out), 0);
	profile_free(p);
	return text;
}

static void same_stacks(const struct live_profile *a, const struct live_profile *b, uint32_t event)
{
	char *x = stacks_of(a, event), *y = stacks_of(b, event);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static struct live_profile *begun(void)
{
	struct live_profile *l;

	assert_int_equal(live_profile_new(&l), 0);
	return l;
}

static void check_definitions(const struct live_profile *l)
{
	static const struct { enum record_tag tag; uint64_t nr; } want[] = {
		{ REC_STRING, FIX_STRINGS - 1 }, { REC_BINARY, 2 }, { REC_PROCESS, 2 }, { REC_THREAD, 3 },
		{ REC_EVENT, 2 }, { REC_FRAME, 10 }, { REC_NODE, 11 }, { REC_FUNC, 9 }, { REC_SYMBOL, 9 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(tables_count(live_profile_tables(l), want[i].tag), want[i].nr);
}

/* Three segments whose ids mean different things are as one with three times the samples. */
static void parts_are_one_recording(void **state)
{
	struct live_profile *parts = begun(), *one = begun();
	size_t nr;
	const struct live_event *e;
	size_t bytes;

	(void)state;
	assert_int_equal(trace_fixture_emit(live_profile_record, parts), 0);
	assert_int_equal(live_profile_begin_part(parts), 0);
	bytes = definition_store_bytes(live_profile_tables(parts));
	assert_int_equal(trace_fixture_emit(put_turned, parts), 0);
	assert_int_equal(live_profile_begin_part(parts), 0);
	assert_int_equal(trace_fixture_emit(live_profile_record, parts), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal((i ? fixture_emit_samples : trace_fixture_emit)(live_profile_record, one), 0);
	same_stacks(parts, one, FIX_E_CPU);
	same_stacks(parts, one, FIX_E_SCAN);
	check_definitions(parts);
	assert_int_equal(definition_store_bytes(live_profile_tables(parts)), bytes);
	e = live_profile_events(parts, &nr);
	assert_int_equal(nr, 3);
	assert_int_equal(e[FIX_E_CPU].samples, 3 * FIX_CPU_SAMPLES);
	assert_int_equal(e[FIX_E_SCAN].samples, 3 * FIX_SCAN_ROWS);
	assert_int_equal(live_profile_info(parts)->lost_all, 3 * FIX_LOST);
	assert_int_equal(live_profile_info(parts)->scans.count, 3);
	assert_int_equal(live_profile_parts(parts), 3);
	assert_string_equal(live_profile_meta(parts, "host"), "fixture");
	live_profile_free(parts);
	live_profile_free(one);
}

/* What a META key says in a later part takes the place of what it said before. */
static void meta_does_not_pile_up(void **state)
{
	struct live_profile *l = begun();
	char text[16];

	(void)state;
	for (int i = 1; i <= 2000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		put(l, &(struct record){ .tag = REC_META, .meta = { "recording.part", text, strlen(text) } });
		put(l, &(struct record){ .tag = REC_META, .meta = { "host", "fixture", 7 } });
		assert_int_equal(live_profile_begin_part(l), 0);
	}
	put(l, &(struct record){ .tag = REC_META, .meta = { "recording.part", "last", 4 } });
	assert_string_equal(live_profile_meta(l, "recording.part"), "last");
	assert_string_equal(live_profile_meta(l, "host"), "fixture");
	live_profile_free(l);
}

static void put_row(struct live_profile *l, uint32_t thread, uint32_t scan)
{
	put(l, &(struct record){ .tag = REC_SAMPLE, .sample = { .time_ns = FIX_T0, .event = FIX_E_SCAN, .thread = thread,
								 .scan = scan, .weight = 1, .end = END_ROOT } });
}

static void put_repeat(struct live_profile *l, uint32_t first, uint32_t nr, uint32_t scan)
{
	struct rec_run run = { first, nr };

	put(l, &(struct record){ .tag = REC_REPEAT, .repeat = { FIX_T0, scan, &run, 1 } });
}

static uint64_t scan_rows(const struct live_profile *l)
{
	size_t nr;
	const struct live_event *e = live_profile_events(l, &nr);

	return nr > FIX_E_SCAN ? e[FIX_E_SCAN].samples : 0;
}

/* Numbers of threads are those of the part, and rows of the part before are not repeated. */
static void repeats_stay_in_their_part(void **state)
{
	struct live_profile *l = begun();

	(void)state;
	assert_int_equal(fixture_emit_facts(live_profile_record, l), 0);
	assert_int_equal(fixture_emit_tasks(live_profile_record, l), 0);
	for (uint32_t t = 1; t <= 3; t++)
		put_row(l, t, 7);
	put_repeat(l, 1, 3, 8);
	assert_int_equal(scan_rows(l), 6);
	assert_int_equal(live_profile_scan(l), 8);
	assert_int_equal(live_profile_begin_part(l), 0);
	put_repeat(l, 1, 3, 1);				/* nothing is defined yet */
	assert_int_equal(scan_rows(l), 6);
	assert_int_equal(fixture_emit_facts(put_turned, l), 0);
	assert_int_equal(fixture_emit_tasks(put_turned, l), 0);
	put_repeat(l, turned(3), 3, 1);			/* rows of the part before */
	assert_int_equal(scan_rows(l), 6);
	put(l, &(struct record){ .tag = REC_SAMPLE, .sample = { .time_ns = FIX_T0, .event = turned(FIX_E_SCAN), .scan = 1,
								 .thread = turned(FIX_T_WORKER), .weight = 1 } });
	put_repeat(l, turned(3), 3, 2);
	put_repeat(l, 1, UINT32_MAX, 3);		/* as far as there are threads */
	assert_int_equal(scan_rows(l), 9);
	assert_true(live_profile_scan(l) > 8);		/* numbers go on though they have begun anew */
	assert_int_equal(live_profile_row(l, FIX_T_WORKER)->scan, live_profile_scan(l));
	assert_int_equal(live_profile_row(l, FIX_T_SERVER)->scan, 8);
	live_profile_free(l);
}

/* A trace with damage refers to what it does not define. */
static void what_is_missing_stays_missing(void **state)
{
	struct live_profile *l = begun();
	char *text;

	(void)state;
	assert_int_equal(fixture_emit_facts(live_profile_record, l), 0);
	assert_int_equal(fixture_emit_tasks(live_profile_record, l), 0);
	put(l, &(struct record){ .tag = REC_FRAME, .frame = fixture_frames[1] });
	put(l, &(struct record){ .tag = REC_NODE, .node = { 5, 4, 2 } });	/* its caller is missing */
	put(l, &(struct record){ .tag = REC_SYMBOL, .symbol = { .frame = 77, .status = SYMBOL_OK } });
	put(l, &(struct record){ .tag = REC_PLACE, .place = { .frame = 77 } });
	put(l, &(struct record){ .tag = REC_THREADNAME, .threadname = { .thread = 77, .name = 1 } });
	put(l, &(struct record){ .tag = REC_SAMPLE, .sample = { .event = FIX_E_CPU, .thread = FIX_T_WORKER, .ustack = 5, .end = END_ROOT } });
	put(l, &(struct record){ .tag = REC_SAMPLE, .sample = { .event = FIX_E_CPU, .thread = 55, .ustack = UINT32_MAX, .end = END_ROOT } });
	text = stacks_of(l, FIX_E_CPU);
	assert_string_equal(text, "[missing];[missing] 1\nworker;[missing];[server+0x1234] 1\n");
	free(text);
	put_row(l, 60, 1);	/* two threads that nothing defines are two */
	put_row(l, 61, 1);
	put_repeat(l, 60, 2, 2);
	assert_int_equal(scan_rows(l), 4);
	live_profile_free(l);
}

static void impossible_ids_are_refused(void **state)
{
	struct live_ids ids;
	uint32_t end;

	(void)state;
	assert_int_equal(live_ids_init(&ids), 0);
	assert_int_equal(live_ids_take(&ids, &(struct record){ .tag = REC_STRING, .string = { UINT32_MAX, "a", 1 } }), 0);
	assert_int_equal(live_ids_take(&ids, &(struct record){ .tag = REC_STRING, .string = { 0, "b", 1 } }), 0);
	assert_int_equal(live_ids_take(&ids, &(struct record){ .tag = REC_STRING, .string = { 1u << 30, "c", 1 } }), 0);
	assert_int_equal(ids.refused, 3);
	assert_int_equal(tables_count(ids.store, REC_STRING), 0);
	assert_int_equal(live_ids_take(&ids, &(struct record){ .tag = REC_STRING, .string = { 9, "d", 1 } }), 0);
	assert_int_equal(live_ids_take(&ids, &(struct record){ .tag = REC_STRING, .string = { 9, "e", 1 } }), 0);	/* the first counts */
	assert_int_equal(live_ids_take(&ids, &(struct record){ .tag = REC_STRING, .string = { 4, "d", 1 } }), 0);
	assert_int_equal(live_ids_own(&ids, REC_STRING, 9), 1);
	assert_int_equal(live_ids_own(&ids, REC_STRING, 4), 1);
	assert_int_equal(live_ids_own(&ids, REC_STRING, 5), 0);
	end = definition_store_id_end(ids.store, REC_STRING);
	assert_int_equal(end, 2);
	assert_true(live_ids_bytes(&ids) > 0);
	live_ids_release(&ids);
}

/* Code made at run time is in memory that looks alike in all processes. */
static void memory_of_processes_stays_apart(void **state)
{
	struct live_ids ids;
	const struct record anon = { .tag = REC_BINARY, .binary = { .id = 1, .kind = BINARY_ANON } };
	struct record second = anon, file = anon, again = anon;

	(void)state;
	second.binary.id = 2;
	file.binary = (struct rec_binary){ .id = 3, .kind = BINARY_ELF, .ino = 5 };
	again.binary = (struct rec_binary){ .id = 4, .kind = BINARY_ELF, .ino = 5, .flags = BINARY_STRIPPED };
	assert_int_equal(live_ids_init(&ids), 0);
	assert_int_equal(live_ids_take(&ids, &anon), 0);
	assert_int_equal(live_ids_take(&ids, &second), 0);
	assert_int_equal(live_ids_take(&ids, &file), 0);
	assert_int_equal(live_ids_take(&ids, &again), 0);
	assert_int_not_equal(live_ids_own(&ids, REC_BINARY, 1), live_ids_own(&ids, REC_BINARY, 2));
	assert_int_equal(live_ids_own(&ids, REC_BINARY, 3), live_ids_own(&ids, REC_BINARY, 4));
	live_ids_release(&ids);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_one_recording),
		cmocka_unit_test(meta_does_not_pile_up),
		cmocka_unit_test(repeats_stay_in_their_part),
		cmocka_unit_test(what_is_missing_stays_missing),
		cmocka_unit_test(impossible_ids_are_refused),
		cmocka_unit_test(memory_of_processes_stays_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
