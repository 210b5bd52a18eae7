/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is to blame for stacks that are not whole: on made-up stacks, counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "src/report/report_text.h"
#include "src/report/stack_cause.h"
#include "src/report/stack_health.h"

/*
 * Binaries: 1 /bin/app, 2 /lib/libfoo.so, 3 /bin/app again (another inode).
 *
 *	node	stack, root first
 *	1-3	app+0x100;app+0x201;app+0x300			exact leaf
 *	4-5	app+0x100;libfoo+0x51 (guess);app+0x400		the guess was made from app+0x400
 *	6	... ;app+0x400;libfoo+0x60			the same one deeper
 *	7	libfoo+0x1001
 *	8	libfoo+0x1001;app+0x300
 *	9-10	[unmapped 0xdead];app+0x501
 *	11	app(3)+0x700
 *	12	[jit 0x7000]
 */
static const char *const strings[] = { "", "/bin/app", "/lib/libfoo.so", "comm" };

static const struct rec_frame frames[] = {
	{ 1, FRAME_USER, FRAME_RETURN_ADDRESS, 1, 0x100 }, { 2, FRAME_USER, FRAME_RETURN_ADDRESS, 1, 0x201 },
	{ 3, FRAME_USER, 0, 1, 0x300 }, { 4, FRAME_USER, FRAME_RETURN_ADDRESS | FRAME_GUESSED, 2, 0x51 },
	{ 5, FRAME_USER, FRAME_RETURN_ADDRESS, 1, 0x400 }, { 6, FRAME_USER, 0, 2, 0x60 },
	{ 7, FRAME_USER, FRAME_RETURN_ADDRESS, 2, 0x1001 },
	{ 8, FRAME_USER, FRAME_RETURN_ADDRESS | FRAME_UNMAPPED, 0, 0xdead },
	{ 9, FRAME_USER, FRAME_RETURN_ADDRESS, 1, 0x501 }, { 10, FRAME_USER, 0, 3, 0x700 }, { 11, FRAME_JIT, 0, 0, 0x7000 },
};

static const struct rec_node nodes[] = {
	{ 1, 0, 1 }, { 2, 1, 2 }, { 3, 2, 3 }, { 4, 1, 4 }, { 5, 4, 5 }, { 6, 5, 6 }, { 7, 0, 7 }, { 8, 7, 3 },
	{ 9, 0, 8 }, { 10, 9, 9 }, { 11, 0, 10 }, { 12, 0, 11 },
};

static struct definition_store *tables;
static struct stack_tally tally;
static struct stack_health health;

#define DEFINE(TAG, field, ...) \
	assert_int_equal(definition_store_record(tables, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ }), 0)

static int begin(void **state)
{
	(void)state;
	tables = definition_store_new();
	for (uint32_t i = 1; i < 4; i++)
		DEFINE(STRING, string, { i, strings[i], strlen(strings[i]) });
	for (uint32_t i = 1; i < 4; i++)
		DEFINE(BINARY, binary, { .id = i, .kind = BINARY_ELF, .path = i == 2 ? 2 : 1 });
	for (uint32_t i = 1; i < 3; i++) {
		DEFINE(PROCESS, process, { .id = i, .tgid = 100 * i, .comm = 3 });
		DEFINE(THREAD, thread, { .id = i, .process = i, .tid = 100 * i, .comm = 3 });
	}
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		DEFINE(FRAME, frame, frames[i]);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		DEFINE(NODE, node, nodes[i]);
	return 0;
}

static int end(void **state)
{
	(void)state;
	stack_health_release(&health);
	stack_tally_release(&tally);
	definition_store_free(tables);
	return 0;
}

static void add(unsigned times, uint32_t thread, uint32_t node, uint8_t why, uint32_t flags)
{
	struct rec_sample s = { .thread = thread, .ustack = node, .end = why, .flags = flags };

	while (times--)
		assert_int_equal(stack_tally_add(&tally, 0, tables, &s), 0);
}

static const struct definition_store *tables_of(const void *ctx, uint32_t segment)
{
	(void)ctx;
	return segment ? NULL : tables;
}

static void sum(void)
{
	assert_int_equal(stack_health_init(&health, &tally, tables_of, NULL), 0);
}

static void check_row(const struct health_row *r, const char *path, uint8_t why, uint64_t samples, uint64_t addr)
{
	assert_string_equal(stack_health_path(&health, r, NULL), path);
	assert_int_equal(r->end, why);
	assert_int_equal(r->samples, samples);
	assert_int_equal(r->addr, addr);
}

static void counts_whole_ones(void **state)
{
	(void)state;
	add(10, 1, 3, END_ROOT, 0);
	add(4, 1, 6, END_ROOT, SAMPLE_HAS_GUESS);
	add(2, 2, 5, END_ROOT_GUESS, SAMPLE_HAS_GUESS);
	add(1, 2, 3, END_ROOT_GUESS, 0);
	add(3, 2, 0, END_KTHREAD, 0);		/* has no user stack */
	sum();
	assert_int_equal(health.all.stacks, 17);
	assert_int_equal(health.all.whole, 17);
	assert_int_equal(health.all.whole_guessed, 7);
	assert_int_equal(health.guessed, 6);
	assert_int_equal(health.nr_broken, 0);
	assert_int_equal(health.nr_processes, 0);
}

static void blames_the_outermost_code(void **state)
{
	(void)state;
	add(5, 1, 8, END_BAD_RULE, 0);
	add(2, 1, 7, END_BAD_RULE, 0);
	add(3, 1, 3, END_READ_RA, 0);
	add(1, 1, 11, END_READ_RA, 0);		/* the same path */
	add(2, 1, 12, END_JIT, 0);
	add(1, 1, 0, END_NO_TABLE, 0);
	sum();
	assert_int_equal(health.nr_broken, 4);
	check_row(&health.broken[0], "/lib/libfoo.so", END_BAD_RULE, 7, 0x1000);	/* at the call */
	check_row(&health.broken[1], "/bin/app", END_READ_RA, 4, 0xff);		/* where most of them are */
	check_row(&health.broken[2], "(generated code)", END_JIT, 2, 0x7000);
	check_row(&health.broken[3], "(no frames)", END_NO_TABLE, 1, 0);
	assert_false(health.broken[3].has_addr);
}

static void blames_who_led_nowhere(void **state)
{
	(void)state;
	add(3, 1, 10, END_NO_MAPPING, 0);
	add(1, 1, 9, END_NO_MAPPING, 0);
	sum();
	assert_int_equal(health.nr_broken, 2);
	check_row(&health.broken[0], "/bin/app", END_NO_MAPPING, 3, 0x500);
	check_row(&health.broken[1], "(no mapping)", END_NO_MAPPING, 1, 0xdeac);
}

static void blames_no_code_for_the_scheduler(void **state)
{
	(void)state;
	add(1, 1, 0, END_RUNNING, 0);
	add(1, 1, 8, END_RUNNING, 0);
	add(1, 1, 8, END_TRUNCATED, 0);
	sum();
	assert_int_equal(health.nr_broken, 2);
	check_row(&health.broken[0], "", END_RUNNING, 2, 0);
	check_row(&health.broken[1], "", END_TRUNCATED, 1, 0);
}

static void guesses_are_the_callees(void **state)
{
	(void)state;
	add(4, 1, 6, END_ROOT, SAMPLE_HAS_GUESS);
	add(2, 1, 5, END_NO_FDE, SAMPLE_HAS_GUESS);
	add(1, 1, 4, END_ROOT, SAMPLE_HAS_GUESS);	/* the guess is the leaf: nobody called it */
	sum();
	assert_int_equal(health.nr_guesses, 2);
	check_row(&health.guesses[0], "/bin/app", 0, 6, 0x3ff);
	assert_int_equal(health.guesses[0].frames, 6);
	check_row(&health.guesses[1], "/lib/libfoo.so", 0, 1, 0x50);
	assert_int_equal(health.guesses[1].frames, 1);
	assert_int_equal(health.frames.exact, 4);
	assert_int_equal(health.frames.return_address, 6 + 7);
	assert_int_equal(health.frames.guessed, 7);
}

static void processes_with_most_broken_stacks_come_first(void **state)
{
	(void)state;
	add(100, 1, 3, END_ROOT, 0);
	add(1, 1, 3, END_RA_ZERO, 0);
	add(2, 2, 3, END_RA_ZERO, 0);
	add(3, 99, 3, END_RA_ZERO, 0);		/* a thread that nobody defined */
	sum();
	assert_int_equal(health.nr_processes, 3);
	assert_int_equal(health.processes[0].process, 0);
	assert_int_equal(health.processes[1].process, 2);
	assert_int_equal(health.processes[1].n.whole, 0);
	assert_int_equal(health.processes[2].process, 1);
	assert_int_equal(health.processes[2].n.stacks, 101);
	assert_int_equal(health.processes[2].n.whole, 100);
}

/* What a trace may say but no recorder writes. */
static void ids_that_are_not_there(void **state)
{
	(void)state;
	add(1, UINT32_MAX, UINT32_MAX, END_NO_FDE, SAMPLE_HAS_GUESS);
	add(1, 0, 13, 200, 0);
	DEFINE(NODE, node, { 20, 19, 99 });	/* without its parent and its frame */
	DEFINE(NODE, node, { 21, 20, 3 });
	add(2, 1, 21, END_NO_FDE, SAMPLE_HAS_GUESS);
	sum();
	assert_int_equal(health.all.stacks, 4);
	assert_int_equal(health.nr_broken, 2);
	check_row(&health.broken[0], "(no frames)", END_NO_FDE, 3, 0);
	check_row(&health.broken[1], "(no frames)", 200, 1, 0);
	assert_string_equal(stack_cause_text(200), "cause unknown to this version");
	assert_true(tally.segments[0].cap_stacks < 100);	/* nothing grew with a foreign id */
}

static void sentences(void **state)
{
	char text[512];

	(void)state;
	add(982, 1, 3, END_ROOT, 0);
	add(11, 1, 6, END_ROOT, SAMPLE_HAS_GUESS);
	add(3, 1, 8, END_BAD_RULE, 0);
	add(2, 1, 0, END_RUNNING, 0);
	add(1, 1, 12, END_JIT, 0);
	add(1, 1, 0, END_TORN, 0);
	sum();
	report_stacks_text(&health, text, sizeof(text));
	assert_string_equal(text, "99.3 % of 1,000 user stacks are whole (1.1 % with guessed frames)");
	report_broken_text(&health, text, sizeof(text));
	assert_string_equal(text, "0.3 % libfoo.so: rule not supported at 0x1000; 0.2 % on a CPU during the snapshot; "
			    "0.1 % ran while it was read; 0.1 % for other reasons (probee info)");
}

static void sentences_about_little(void **state)
{
	char text[512];

	(void)state;
	sum();
	report_stacks_text(&health, text, sizeof(text));
	assert_string_equal(text, "no user stacks");
	report_broken_text(&health, text, sizeof(text));
	assert_string_equal(text, "");
	stack_health_release(&health);
	add(1, 1, 3, END_ROOT, 0);
	sum();
	report_stacks_text(&health, text, sizeof(text));
	assert_string_equal(text, "the one user stack is whole");
	report_stacks_text(&health, text, 8);
	assert_string_equal(text, "the one");
}

static void shares_do_not_flatter(void **state)
{
	char buf[SHARE_MAX];

	(void)state;
	assert_string_equal(report_share_text(99999, 100000, buf), "99.9 %");
	assert_string_equal(report_share_text(1, 100000, buf), "<0.1 %");
	assert_string_equal(report_share_text(0, 7, buf), "0.0 %");
	assert_string_equal(report_share_text(7, 7, buf), "100.0 %");
	assert_string_equal(report_share_text(UINT64_MAX - 1, UINT64_MAX, buf), "99.9 %");
	assert_string_equal(report_share_text(0, 0, buf), "0.0 %");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_whole_ones), TEST(blames_the_outermost_code), TEST(blames_who_led_nowhere),
		TEST(blames_no_code_for_the_scheduler), TEST(guesses_are_the_callees),
		TEST(processes_with_most_broken_stacks_come_first), TEST(ids_that_are_not_there), TEST(sentences),
		TEST(sentences_about_little), TEST(shares_do_not_flatter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
