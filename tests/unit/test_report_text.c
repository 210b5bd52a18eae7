/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/report/report_text.h"
#include "src/report/trace_events.h"
#include "src/report/trace_summary.h"

static const struct trace_event
	cpu = { .name = "cpu-clock", .unit = "ns", .kind = EVENT_CPU_CLOCK, .freq_mhz = 99000, .samples = 1 },
	cycles = { .name = "cycles", .unit = "cycles", .kind = EVENT_CYCLES, .freq_mhz = 99500, .varies = true },
	faults = { .name = "page-faults", .unit = "count", .kind = EVENT_SOFTWARE, .period = 100, .samples = 1 },
	roughly = { .name = "page-faults", .unit = "count", .kind = EVENT_SOFTWARE, .freq_mhz = 99000 },
	every = { .name = "page-faults", .unit = "count", .kind = EVENT_SOFTWARE, .period = 1 },
	alloc = { .name = "alloc", .unit = "bytes", .kind = EVENT_UPROBE, .period = 512000 },
	wall = { .name = "snapshot", .unit = "ns", .kind = EVENT_SNAPSHOT, .period = 1000000000, .samples = 1 },
	unknown = { .name = "[unknown event]", .unit = "samples", .kind = EVENT_KINDS, .is_counted = true };

static const char *amount_of(const struct trace_event *e, uint64_t samples, uint64_t weight)
{
	static char text[256];

	report_amount_text(&(struct report_amount){ e, samples, weight, 11 }, text, sizeof(text));
	return text;
}

static const char *title_of(const char *subject, const struct trace_event *e, uint64_t samples, uint64_t weight)
{
	static char text[256];

	report_title_text(subject, &(struct report_amount){ e, samples, weight, 1 }, text, sizeof(text));
	return text;
}

static void amounts_have_units(void **state)
{
	(void)state;
	assert_string_equal(amount_of(&cpu, 306, 306 * 10101010ull), "3.1 s of CPU time in 306 samples");
	assert_string_equal(amount_of(&cpu, 1, 10101010), "10.1 ms of CPU time in 1 sample");
	assert_string_equal(amount_of(&cycles, 306, 1200000000), "1.2 G cycles in 306 samples");
	assert_string_equal(amount_of(&faults, 121, 12041), "12,041 page-faults in 121 samples");
	assert_string_equal(amount_of(&roughly, 121, 12041), "about 12,041 page-faults in 121 samples");
	assert_string_equal(amount_of(&faults, 1, 1), "1 page-fault in 1 sample");
	assert_string_equal(amount_of(&alloc, 12, 4000000), "4.0 MB in 12 samples");
	assert_string_equal(amount_of(&wall, 1177, 1177000000000), "11 snapshots, 1,177 thread states");
	assert_string_equal(amount_of(&unknown, 5, 5), "5 samples");
	assert_string_equal(amount_of(&cpu, 0, 0), "no samples");
	assert_string_equal(amount_of(NULL, 0, 0), "no samples");
}

static void titles_say_what_is_shown(void **state)
{
	(void)state;
	assert_string_equal(title_of("appcpp", &cpu, 306, 306 * 10101010ull), "appcpp, CPU time, 3.1 s, 306 samples");
	assert_string_equal(title_of("", &cpu, 306, 306 * 10101010ull), "CPU time, 3.1 s, 306 samples");
	assert_string_equal(title_of("appcpp", &cycles, 3, 1200000000), "appcpp, CPU time, 1.2 G cycles, 3 samples");
	assert_string_equal(title_of("appcpp", &faults, 121, 12041), "appcpp, 12,041 page-faults, 121 samples");
	assert_string_equal(title_of("appcpp", &roughly, 9, 12041), "appcpp, about 12,041 page-faults, 9 samples");
	assert_string_equal(title_of("appcpp", &alloc, 12, 4000000), "appcpp, alloc, 4.0 MB, 12 samples");
	assert_string_equal(title_of("appcpp", &wall, 1, 1000000000), "appcpp, wall time, 1 snapshot, 1 thread state");
	assert_string_equal(title_of("appcpp", &unknown, 5, 5), "appcpp, [unknown event], 5 samples");
	assert_string_equal(title_of("appcpp", NULL, 0, 0), "appcpp, no samples");
}

static const char *rate_of(const struct trace_event *e)
{
	static char text[128];

	report_rate_text(e, text, sizeof(text));
	return text;
}

static void rates(void **state)
{
	(void)state;
	assert_string_equal(rate_of(&cpu), "99 Hz");
	assert_string_equal(rate_of(&cycles), "99.5 Hz and others");
	assert_string_equal(rate_of(&faults), "one per 100");
	assert_string_equal(rate_of(&every), "");
	assert_string_equal(rate_of(&alloc), "one per 512 kB");
	assert_string_equal(rate_of(&wall), "every 1.0 s");
	assert_string_equal(rate_of(&unknown), "");
}

static const char *slowed(const char *words)
{
	static char text[256];

	report_user_rates_text(words, text, sizeof(text));
	return text;
}

static void users_who_cost_too_much_are_told(void **state)
{
	(void)state;
	assert_string_equal(slowed(NULL), "");
	assert_string_equal(slowed(""), "");
	assert_string_equal(slowed("x=3"), "");
	assert_string_equal(slowed("1000=8"), "one stack in 8 of user 1000 was taken, to keep within the budget, "
					      "and weighs as much more");
	assert_string_equal(slowed("1000="), "");
	assert_string_equal(slowed("=8"), "");
	assert_string_equal(slowed("1=2 2=4 3=8 4=16 5=32"),
			    "one stack in 2 of user 1, one stack in 4 of user 2, one stack in 8 of user 3, and fewer of "
			    "2 other users were taken, to keep within the budget, and weigh as much more");
}

static const char *lowered(const char *words)
{
	static char text[256];

	report_rate_lowered_text(words, text, sizeof(text));
	return text;
}

static void a_lower_rate_is_told(void **state)
{
	(void)state;
	assert_string_equal(lowered(NULL), "");
	assert_string_equal(lowered("lowest=x asked=3 passed=3 cause=cpu"), "");
	assert_string_equal(lowered("lowest=12500 asked=100000 passed=3 cause=ring"),
			    "the rate was lowered, to 12500 of 100000 Hz at times, because the recorder could not "
			    "follow; samples weigh as much more");
	assert_string_equal(lowered("lowest=2.5 asked=5 passed=3 cause=other"),
			    "the rate was lowered, to 2.5 of 5 Hz at times; samples weigh as much more");
}

static void what_is_shown_and_what_else_there_is(void **state)
{
	struct trace_event v[] = { wall, cpu, faults, every };
	struct trace_events events = { .v = v, .nr = 4 };
	char text[256], small[20];

	(void)state;
	report_shown_text(&events, 1, text, sizeof(text));
	assert_string_equal(text, "CPU time (cpu-clock, 99 Hz). Also recorded: snapshot, page-faults; see --event");
	report_shown_text(&events, 2, text, sizeof(text));
	assert_string_equal(text, "page-faults (one per 100). Also recorded: snapshot, cpu-clock; see --event");
	events.nr = 1;
	report_shown_text(&events, 0, text, sizeof(text));
	assert_string_equal(text, "wall time (snapshot, every 1.0 s)");
	report_shown_text(&events, 0, small, sizeof(small));
	assert_string_equal(small, "wall time (snapshot");
	report_shown_text(&events, NO_EVENT, text, sizeof(text));
	assert_string_equal(text, "");
}

/* Codes stand behind the words that they are short for. */
static void what_snapshots_lack_is_said_in_words(void **state)
{
	struct report_scans w = { .count = 61, .rows = 241, .tasks_seen = 241 };
	char text[512];

	(void)state;
	report_scans_text(&w, text, sizeof(text));
	assert_string_equal(text, "61 snapshots, 241 thread states");
	w.ends[END_ROOT] = 100;
	w.ends[END_NO_FDE] = 236;
	w.ends[END_RA_ZERO] = 1;
	report_scans_text(&w, text, sizeof(text));
	assert_string_equal(text, "61 snapshots, 241 thread states; 236 user stacks: no unwind information, frame pointer "
			    "chain broke (no-fde); 1 user stack: return address 0 (ra-zero)");
	memset(w.ends, 0, sizeof(w.ends));
	w.kernel_failed = 2, w.hung = 1, w.torn = 3, w.tasks_seen = 242;
	report_scans_text(&w, text, sizeof(text));
	assert_string_equal(text, "61 snapshots, 241 thread states; 1 thread has no row; 3 threads ran while they were read; "
			    "2 kernel stacks are missing; 1 reader hung");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts_have_units),
		cmocka_unit_test(titles_say_what_is_shown),
		cmocka_unit_test(rates),
		cmocka_unit_test(a_lower_rate_is_told), cmocka_unit_test(users_who_cost_too_much_are_told),
		cmocka_unit_test(what_is_shown_and_what_else_there_is),
		cmocka_unit_test(what_snapshots_lack_is_said_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
