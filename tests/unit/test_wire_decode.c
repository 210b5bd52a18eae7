/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"
#include "unwind/unwind_limits.h"

/* A record with its addresses counting upwards. The caller frees it. */
static struct wire_sample *record(uint16_t nr_user, uint16_t nr_kernel, size_t *len)
{
	struct wire_sample *h = calloc(1, sizeof(*h) + ((size_t)nr_user + nr_kernel) * 8);
	uint64_t *v = (uint64_t *)(h + 1);

	assert_non_null(h);
	h->nr_user = nr_user;
	h->nr_kernel = nr_kernel;
	h->end = UNWIND_ROOT;
	for (size_t i = 0; i < (size_t)nr_user + nr_kernel; i++)
		v[i] = 1000 + i;
	*len = sizeof(*h) + ((size_t)nr_user + nr_kernel) * 8;
	return h;
}

static void test_parts(void **state)
{
	struct wire_stack s;
	size_t len;
	struct wire_sample *h = record(3, 2, &len);

	(void)state;
	assert_int_equal(wire_decode(h, len, &s), len);
	assert_ptr_equal(s.head, h);
	assert_int_equal(s.user[0], 1000);
	assert_int_equal(s.user[2], 1002);
	assert_int_equal(s.kernel[0], 1003);
	assert_int_equal(s.kernel[1], 1004);
	assert_int_equal(s.end, END_ROOT);
	assert_int_equal(s.state, TASK_RUNNABLE);
	/* What comes behind is the next record's. */
	h->nr_kernel = 1;
	assert_int_equal(wire_decode(h, len, &s), len - 8);
	free(h);
}

/* A frame of a runtime has two words, of which the second may be anything. */
static void test_runtime_frames(void **state)
{
	struct wire_stack s;
	size_t len;
	struct wire_sample *h = record(4, 0, &len);
	uint64_t *v = (uint64_t *)(h + 1);

	(void)state;
	v[1] |= UNWIND_RUNTIME;
	v[2] = UINT64_MAX;
	assert_int_equal(wire_decode(h, len, &s), len);
	v[3] |= UNWIND_RUNTIME;
	assert_int_equal(wire_decode(h, len, &s), -EBADMSG);
	free(h);
}

/* And behind that what its descriptor is. */
static void test_object(void **state)
{
	size_t len;
	struct wire_sample *h = record(1, 2 + WIRE_WAIT_WORDS + WIRE_OBJECT_WORDS, &len);
	struct wire_stack s;

	(void)state;
	h->nr_kernel = 2;
	h->flags = WIRE_WAIT | WIRE_OBJECT;
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(wire_decode(h, cut, &s), 0);
	assert_int_equal(wire_decode(h, len, &s), len);
	assert_ptr_equal(s.object, s.wait + 1);
	assert_int_equal(s.object->inode, 1003 + WIRE_WAIT_WORDS);
	h->flags = WIRE_OBJECT;
	assert_int_equal(wire_decode(h, len, &s), -EBADMSG);
	free(h);
}

/* What a thread waits for comes behind the frames, with memory and without. */
static void test_wait(void **state)
{
	size_t len, raw_len = sizeof(struct wire_dump) + UNWIND_MEMORY_PAGE;
	struct wire_sample *h = record(3, 2 + WIRE_WAIT_WORDS, &len);
	struct wire_dump *dump = calloc(1, raw_len);
	struct wire_stack s;

	(void)state;
	assert_non_null(dump);
	h->nr_kernel = 2;
	assert_int_equal(wire_decode(h, len, &s), len - WIRE_WAIT_WORDS * 8);
	assert_null(s.wait);
	h->flags = WIRE_WAIT;
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(wire_decode(h, cut, &s), 0);
	assert_int_equal(wire_decode(h, len, &s), len);
	assert_int_equal(s.wait->ran_ns, 1005);
	assert_int_equal(s.wait->what, 1006);
	dump->head = (struct wire_sample){ .flags = WIRE_DUMP | WIRE_WAIT, .nr_user = UNWIND_MAX_FRAMES,
					  .nr_kernel = WIRE_MAX_KERNEL };
	dump->frames[UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL] = 77;
	dump->bytes = UNWIND_MEMORY_PAGE;
	assert_int_equal(wire_decode(dump, raw_len, &s), raw_len);
	assert_int_equal(s.wait->ran_ns, 77);
	assert_true((const uint8_t *)(s.wait + 1) <= (const uint8_t *)dump->regs);
	free(dump);
	free(h);
}

/* Cut anywhere it asks for more; each cut is a block of its own, so a read behind it is seen. */
static void test_every_truncation(void **state)
{
	struct wire_stack s;
	size_t len;
	struct wire_sample *h = record(5, 4, &len);

	(void)state;
	for (size_t cut = 0; cut < len; cut++) {
		void *part = malloc(cut ? cut : 1);

		memcpy(part, h, cut);
		assert_int_equal(wire_decode(part, cut, &s), 0);
		free(part);
	}
	assert_int_equal(wire_decode(h, len, &s), len);
	free(h);
}

/* With changed blocks, which stand in front of the frames. */
static void test_delta(void **state)
{
	size_t len = sizeof(struct wire_delta) + 3 * WIRE_BLOCK + 2 * 8;
	struct wire_delta *d = calloc(1, len);
	uint64_t *frames = (uint64_t *)((uint8_t *)d + len) - 2;
	struct wire_stack s;

	(void)state;
	assert_non_null(d);
	d->head = (struct wire_sample){ .flags = WIRE_DELTA, .nr_user = 1, .nr_kernel = 1 };
	d->start = 0x7000;
	d->outer = 0x80000000;
	d->part_pages = WIRE_PART_PAGES;
	d->bytes = 64 * UNWIND_MEMORY_PAGE;
	d->changed[0] = 1 | 1ull << 63;
	d->changed[7] = 1ull << 63;
	frames[0] = 5;
	frames[1] = 6;
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(wire_decode(d, cut, &s), 0);
	assert_int_equal(wire_decode(d, len, &s), len);
	assert_ptr_equal(s.delta, d);
	assert_ptr_equal(s.regs, d->regs);
	assert_null(s.dump);
	assert_null(s.memory);
	assert_int_equal(s.bytes, d->bytes);
	assert_int_equal(s.user[0], 5);
	assert_int_equal(s.kernel[0], 6);
	d->head.flags |= WIRE_WAIT;
	assert_int_equal(wire_decode(d, len, &s), -EBADMSG);
	d->head.flags = WIRE_DELTA;
	/* Only with an outer part there are so many pages. */
	d->outer = 0;
	d->bytes = (WIRE_PART_PAGES + 1) * UNWIND_MEMORY_PAGE;
	assert_int_equal(wire_decode(d, len, &s), -EBADMSG);
	d->outer = 0x700000;
	assert_int_equal(wire_decode(d, len, &s), len);
	d->outer++;
	assert_int_equal(wire_decode(d, len, &s), -EBADMSG);
	d->outer = 0x700000;
	d->bytes = (WIRE_DELTA_PAGES + 1) * UNWIND_MEMORY_PAGE;
	assert_int_equal(wire_decode(d, len, &s), -EBADMSG);
	d->bytes = 8;
	assert_int_equal(wire_decode(d, len, &s), -EBADMSG);
	d->bytes = 0;
	d->start++;
	assert_int_equal(wire_decode(d, len, &s), -EBADMSG);
	d->start--;
	for (d->part_pages = 0; d->part_pages < 70; d->part_pages++) {
		bool fits = d->part_pages <= WIRE_PART_PAGES && __builtin_popcount(d->part_pages) == 1;

		assert_int_equal(wire_decode(d, len, &s), fits ? (long)len : -EBADMSG);
	}
	free(d);
}

/* With registers and memory: lengths that cannot be are refused, everything is inside of the record. */
static void test_raw(void **state)
{
	size_t len = sizeof(struct wire_dump) + 2 * UNWIND_MEMORY_PAGE;
	struct wire_dump *dump = calloc(1, len);
	struct wire_stack s;

	(void)state;
	assert_non_null(dump);
	dump->head.flags = WIRE_DUMP;
	dump->head.end = UNWIND_NO_TABLE;
	dump->head.nr_user = 2;
	dump->head.nr_kernel = 1;
	dump->frames[2] = 7;
	dump->start = 0x7000;
	dump->bytes = 2 * UNWIND_MEMORY_PAGE;
	assert_int_equal(wire_decode(dump, len, &s), len);
	assert_ptr_equal(s.dump, dump);
	assert_ptr_equal(s.memory, dump + 1);
	assert_int_equal(s.kernel[0], 7);
	assert_int_equal(wire_decode(dump, len - 1, &s), 0);
	assert_int_equal(wire_decode(dump, sizeof(*dump) - 1, &s), 0);
	dump->bytes = 100;
	assert_int_equal(wire_decode(dump, len, &s), -EBADMSG);
	dump->bytes = (WIRE_DUMP_PAGES + 1) * UNWIND_MEMORY_PAGE;
	assert_int_equal(wire_decode(dump, len, &s), -EBADMSG);
	dump->bytes = 0;
	dump->start = 0x7008;
	assert_int_equal(wire_decode(dump, len, &s), -EBADMSG);
	free(dump);
}

static void test_largest(void **state)
{
	struct wire_stack s;
	size_t len;
	struct wire_sample *h = record(UNWIND_MAX_FRAMES, WIRE_MAX_KERNEL, &len);

	(void)state;
	assert_int_equal(wire_decode(h, len, &s), len);
	assert_int_equal(s.kernel[WIRE_MAX_KERNEL - 1],
			 1000 + UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL - 1);
	free(h);
}

/* Refused at once: not "more bytes are needed", which would wait for ever. */
static void test_counts_too_large(void **state)
{
	static const struct { uint16_t user, kernel; uint8_t end;
	} bad[] = {
		{ UNWIND_MAX_FRAMES + 1, 0, UNWIND_ROOT },
		{ 0xffff, 0, UNWIND_ROOT },
		{ 0, WIRE_MAX_KERNEL + 1, UNWIND_ROOT },
		{ 0, 0xffff, UNWIND_ROOT },
		{ 0xffff, 0xffff, UNWIND_ROOT },
		{ 0, 0, UNWIND_ENDS },
		{ 0, 0, 0xff },
	};
	struct wire_stack s;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		size_t len;
		struct wire_sample *h = record(0, 0, &len);

		h->nr_user = bad[i].user;
		h->nr_kernel = bad[i].kernel;
		h->end = bad[i].end;
		assert_int_equal(wire_decode(h, len, &s), -EBADMSG);
		free(h);
	}
}

static void test_every_end(void **state)
{
	struct wire_stack s;
	size_t len;
	struct wire_sample *h = record(0, 0, &len);

	(void)state;
	for (h->end = 0; h->end < UNWIND_ENDS; h->end++) {
		assert_int_equal(wire_decode(h, len, &s), sizeof(*h));
		assert_int_equal(s.end, h->end);
		assert_string_not_equal(stack_end_name(s.end), "?");
	}
	free(h);
}

/* Bits as in include/linux/sched.h of Linux 6; exit_state is in the upper half. */
static void test_states(void **state)
{
	static const struct { uint32_t bits; uint8_t flags, want;
	} states[] = {
		{ 0x0000, 0, TASK_RUNNABLE }, /* TASK_RUNNING, waiting for a CPU */
		{ 0x0000, WIRE_ON_CPU, TASK_RUNNING },
		{ 0x0001, WIRE_ON_CPU, TASK_RUNNING }, /* about to sleep */
		{ 0x0001, 0, TASK_SLEEPING },	       /* TASK_INTERRUPTIBLE */
		{ 0x2001, 0, TASK_SLEEPING },	       /* and TASK_FREEZABLE */
		{ 0x6001, 0, TASK_SLEEPING },	       /* and __TASK_FREEZABLE_UNSAFE */
		{ 0x0002, 0, TASK_DISK },	       /* TASK_UNINTERRUPTIBLE */
		{ 0x2002, 0, TASK_DISK },
		{ 0x0102, 0, TASK_KILLABLE }, /* TASK_KILLABLE */
		{ 0x2102, 0, TASK_KILLABLE },
		{ 0x0402, 0, TASK_IDLE }, /* TASK_IDLE */
		{ 0x2402, 0, TASK_IDLE },
		{ 0x0104, 0, TASK_STOPPED }, /* TASK_STOPPED */
		{ 0x0004, 0, TASK_STOPPED },
		{ 0x0108, 0, TASK_TRACED }, /* TASK_TRACED before 5.19 */
		{ 0x0008, 0, TASK_TRACED },
		{ 0x0040, 0, TASK_PARKED },
		{ 0x0080, 0, TASK_DEAD },
		{ 0x0080, WIRE_ON_CPU, TASK_RUNNING }, /* in its last moments */
		{ 0x0200, 0, TASK_WAKING },
		{ 0x0800, 0, TASK_NEW },
		{ 0x1000, 0, TASK_RTLOCK },
		{ 0x8000, 0, TASK_FROZEN },
		{ 0x200080, 0, TASK_ZOMBIE }, /* EXIT_ZOMBIE */
		{ 0x200000, WIRE_ON_CPU, TASK_ZOMBIE },
		{ 0x100080, 0, TASK_DEAD },   /* EXIT_DEAD */
		{ 0x300080, 0, TASK_ZOMBIE }, /* EXIT_TRACE */
		{ 0x0400, 0, TASK_STATE_UNKNOWN },
	};
	struct wire_stack s;
	size_t len;
	struct wire_sample *h = record(0, 0, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		h->state = states[i].bits;
		h->flags = states[i].flags;
		assert_int_equal(wire_decode(h, len, &s), len);
		if (s.state != states[i].want)
			print_error("state 0x%x\n", states[i].bits);
		assert_int_equal(s.state, states[i].want);
	}
	free(h);
}

/* The two parts of a stack's memory, and what is not there. */
static void test_places_in_memory(void **state)
{
	const uint64_t page = UNWIND_MEMORY_PAGE, part = WIRE_PART_PAGES * page;
	struct wire_stack s = { .start = 0x100000, .bytes = part + 2 * page, .outer = 0x900000,
				.absent = 1ull << 3 };

	(void)state;
	assert_int_equal(wire_stack_at(&s, 0x100000), 0);
	assert_int_equal(wire_stack_at(&s, 0x100000 + part - 8), part - 8);
	assert_int_equal(wire_stack_at(&s, 0x100000 + 3 * page), UINT64_MAX);
	assert_int_equal(wire_stack_at(&s, 0x100000 + part), UINT64_MAX);
	assert_int_equal(wire_stack_at(&s, 0x900000 - 8), UINT64_MAX);
	assert_int_equal(wire_stack_at(&s, 0x900000), part);
	assert_int_equal(wire_stack_at(&s, 0x900000 + 2 * page - 8), part + 2 * page - 8);
	assert_int_equal(wire_stack_at(&s, 0x900000 + 2 * page), UINT64_MAX);
	assert_int_equal(wire_stack_at(&s, 0xffff8), UINT64_MAX);
	s = (struct wire_stack){ .start = 0x100000, .bytes = 2 * page };
	assert_int_equal(wire_stack_at(&s, 0x100000 + page), page);
	assert_int_equal(wire_stack_at(&s, 0x100000 + 2 * page), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_runtime_frames),
		cmocka_unit_test(test_wait), cmocka_unit_test(test_object),	  cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_delta),
		cmocka_unit_test(test_places_in_memory),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_largest),	  cmocka_unit_test(test_counts_too_large),
		cmocka_unit_test(test_every_end), cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
