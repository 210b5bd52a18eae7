/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Parts of the program that are not in the library. fail() is a macro of cmocka. */
#include "formats/render/output_list.c"
#include "src/recording/flight_options.c"
#undef AT
#include "src/recording/record_options.c"
#include "src/capture/collectors/off_cpu.h"

#include <cmocka.h>

#include "tests/unit/stderr_text.h"

#define MAX_WORDS 16

/* One command line, split at spaces; the words stay until the next call. */
static int parse(enum record_mode_id mode, const char *line, struct record_args *args, int *argc)
{
	static char text[256];
	static char *argv[MAX_WORDS + 1];
	char *word;
	int n = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (word = strtok(text, " "); word && n < MAX_WORDS; word = strtok(NULL, " "))
		argv[n++] = word;
	argv[n] = NULL;
	*argc = n;
	return record_args_parse(&record_modes[mode], n, argv, args);
}

static void test_each_mode_has_its_rate(void **state)
{
	struct record_args a;
	int argc;

	(void)state;
	assert_int_equal(parse(RECORD_SAMPLE, "sample", &a, &argc), 0);
	assert_true(a.capture.freq_hz == 99 && a.capture.sample && !a.capture.scan);
	assert_int_equal(a.command, argc);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_SNAPSHOT, "snapshot -a -F 5 -i 3", &a, &argc), 0);
	assert_true(a.capture.scan_hz == 5 && a.capture.scan_is_all && a.capture.scans == 3);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_BOTH, "record -F 49 --snap-freq 2", &a, &argc), 0);
	assert_true(a.capture.freq_hz == 49 && a.capture.scan_hz == 2 && !a.capture.scan_is_all);
	record_args_release(&a);
}

static void test_a_picture_has_its_trace_beside_it(void **state)
{
	struct record_args a;
	int argc;

	(void)state;
	assert_int_equal(parse(RECORD_SAMPLE, "sample -o dir.d/x.svg --csv=y.csv", &a, &argc), 0);
	assert_string_equal(a.output, "dir.d/x.pbz");
	assert_int_equal(a.outputs.nr, 2);
	assert_string_equal(a.outputs.v[1].renderer->name, "svg");
	assert_string_equal(a.outputs.v[1].file, "dir.d/x.svg");
	record_args_release(&a);
	/* Names that only look like one. */
	assert_int_equal(parse(RECORD_SAMPLE, "sample -o dir.svg/trace", &a, &argc), 0);
	assert_string_equal(a.output, "dir.svg/trace");
	assert_int_equal(a.outputs.nr, 0);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_SAMPLE, "sample -o dir/.svg", &a, &argc), 0);
	assert_string_equal(a.output, "dir/.svg");
	record_args_release(&a);
}

static void test_a_command_may_only_say_how_long(void **state)
{
	struct record_args a;
	int argc;

	(void)state;
	assert_int_equal(parse(RECORD_SAMPLE, "sample -a -- sleep 1", &a, &argc), 0);
	assert_int_equal(a.command, 3);
	assert_true(a.all);
	record_args_release(&a);
}

static void test_segments_by_time(void **state)
{
	struct record_args a;
	int argc;

	(void)state;
	assert_int_equal(parse(RECORD_BOTH, "record --segment-time 15s", &a, &argc), 0);
	assert_true(a.segment_ns == 15 * NSEC_PER_SEC && !a.segment_offset_ns);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_BOTH, "record --segment-time=1m+4.2s", &a, &argc), 0);
	assert_true(a.segment_ns == 60 * NSEC_PER_SEC);
	assert_int_equal(a.segment_offset_ns, 4200 * NSEC_PER_MSEC);
	record_args_release(&a);
}

static const struct {
	enum record_mode_id mode;
	const char *line, *words;
} refused[] = {
	{ RECORD_SNAPSHOT, "snapshot", "snapshot of what?" },
	{ RECORD_SNAPSHOT, "snapshot -a -i 0", "at least 1" },
	{ RECORD_SNAPSHOT, "snapshot -a -p 1", "contradict" },
	{ RECORD_SNAPSHOT, "snapshot -a -e cs", "-e" },
	{ RECORD_SAMPLE, "sample -p 1 -- ls", "contradict" },
	{ RECORD_SAMPLE, "sample no-such-program", "there is no such program" },
	{ RECORD_SAMPLE, "sample -p 1 ls", "contradict" },
	{ RECORD_SAMPLE, "sample -a 1 2", "contradict" },
	{ RECORD_SAMPLE, "sample -a -d 1 2", "contradict" },
	{ RECORD_SNAPSHOT, "snapshot 1,x", "Try: probee snapshot -p PID" },
	{ RECORD_SAMPLE, "sample -o - --svg=x.svg", "leaves no trace" },
	{ RECORD_SAMPLE, "sample -U -K", "leave nothing" },
	{ RECORD_SAMPLE, "sample -C 0-", "not a list of CPUs" },
	{ RECORD_SAMPLE, "sample -C 60000", "not online here. Try: -C 0" },
	{ RECORD_SAMPLE, "sample -e page-falts", "no such event" },
	{ RECORD_SAMPLE, "sample -c 10", NULL },	/* the default event has no period: see below */
	{ RECORD_SAMPLE, "sample -e cpu-clock -c 10", "events that count" },
	{ RECORD_BOTH, "record --faults sometimes", "no such choice" },
	{ RECORD_BOTH, "record --unwind guess", "no such way" },
	{ RECORD_BOTH, "record --segment-time 500ms", "at least 1s" },
	{ RECORD_BOTH, "record --segment-time 15s+x", "not a duration" },
	{ RECORD_BOTH, "record --segment-time +4s", "not a duration" },
};

static void test_what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct record_args a;
		const char *said;
		int argc;

		stderr_begin();
		assert_int_equal(parse(refused[i].mode, refused[i].line, &a, &argc), -EINVAL);
		said = stderr_end();
		if (refused[i].words && !strstr(said, refused[i].words))
			print_error("%s: without '%s': %s", refused[i].line, refused[i].words, said);
		assert_true(!refused[i].words || strstr(said, refused[i].words));
		record_args_release(&a);
	}
}

/* The options of --flight are completed; the probe of a trigger is an event, and samples go on. */
static void test_flight(void **state)
{
	struct record_args a;
	int argc;

	(void)state;
	assert_int_equal(parse(RECORD_BOTH, "record --flight 90s", &a, &argc), 0);
	assert_true(a.flight.keep_ns == 90 * NSEC_PER_SEC && a.flight.every_ns == 90 * NSEC_PER_SEC);
	assert_true(a.flight.after_ns == 5 * NSEC_PER_SEC && a.flight.memory_bytes == 64000000);
	assert_true(a.segment_ns == 10 * NSEC_PER_SEC && a.segment_bytes == 16000000);
	assert_true(a.capture.scan && !a.capture.scan_when_asked);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_SAMPLE, "sample --flight 3s --flight-after 0 --segment-time 2s "
			       "--trigger probe:u:app:f --trigger runq>3 -e ur:app:f", &a, &argc), 0);
	assert_true(a.flight.after_ns == 1 && a.segment_ns == 2 * NSEC_PER_SEC);
	assert_true(a.capture.scan && a.capture.scan_when_asked);
	assert_int_equal(a.capture.events.probes.nr, 2);
	assert_string_equal(a.flight.triggers.v[0].what, "uprobe:app:f");
	assert_string_equal(a.capture.events.probes.v[1]->spec.name, "uprobe:app:f");
	record_args_release(&a);
	/* One that -e names, too, is one. */
	assert_int_equal(parse(RECORD_SAMPLE, "sample --flight 3s --trigger probe:u:app:f -e u:app:f",
			       &a, &argc), 0);
	assert_int_equal(a.capture.events.probes.nr, 1);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_SAMPLE, "sample --flight 3s --trigger probe:u:app:f", &a,
			       &argc), 0);
	assert_true(a.capture.sample);
	record_args_release(&a);
}

/* A kind's rows fill what is its own, and its mistakes are found there. */
static void test_options_of_kinds(void **state)
{
	const struct off_cpu_options *off;
	struct record_args a;
	int argc;

	(void)state;
	assert_int_equal(parse(RECORD_SAMPLE, "sample --off-cpu --max-block-time 2s", &a, &argc), 0);
	off = off_cpu_options_of(&a.capture);
	assert_true(off->wanted && off->max_ns == 2 * NSEC_PER_SEC && off->min_ns == 1000);
	assert_false(a.capture.sample);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_SAMPLE, "sample --off-cpu -e cpu-clock", &a, &argc), 0);
	assert_true(a.capture.sample && off_cpu_options_of(&a.capture)->wanted);
	record_args_release(&a);
	assert_int_equal(parse(RECORD_BOTH, "record -e irq", &a, &argc), 0);
	assert_true(a.capture.sample && a.capture.events.named == 1u << COLLECTOR_INTERRUPTS);
	record_args_release(&a);
	stderr_begin();
	assert_int_equal(parse(RECORD_SAMPLE, "sample --wakers", &a, &argc), -EINVAL);
	assert_non_null(strstr(stderr_end(), "Try: with --off-cpu"));
	record_args_release(&a);
}

static void test_every_mode_fits_its_lists(void **state)
{
	(void)state;
	for (int i = RECORD_SAMPLE; i <= RECORD_BOTH; i++) {
		struct opt rows[OUTPUT_OPTS_MAX];
		struct opt_list lists[RECORD_LISTS + 1] = { 0 };
		size_t n = record_opt_lists(&record_modes[i], NULL, rows, lists);

		assert_true(n <= RECORD_LISTS);
		assert_null(lists[RECORD_LISTS].v);
		for (size_t k = 0; k < n; k++)
			assert_true(lists[k].nr > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_mode_has_its_rate),
		cmocka_unit_test(test_a_picture_has_its_trace_beside_it),
		cmocka_unit_test(test_a_command_may_only_say_how_long),
		cmocka_unit_test(test_segments_by_time),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_flight),
		cmocka_unit_test(test_options_of_kinds),
		cmocka_unit_test(test_every_mode_fits_its_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
