/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/wire_decode.h"

#include <errno.h>
#include <stdbool.h>

#include "src/model/record.h"
#include "unwind/unwind_limits.h"

/* The end codes of the unwinder are those of the trace. */
#define SAME_END(unwind, end) _Static_assert((int)(unwind) == (int)(end), "end codes differ")
SAME_END(UNWIND_NOT_DONE, END_UNKNOWN);
SAME_END(UNWIND_ROOT, END_ROOT);
SAME_END(UNWIND_ROOT_GUESS, END_ROOT_GUESS);
SAME_END(UNWIND_TRUNCATED, END_TRUNCATED);
SAME_END(UNWIND_NO_PROCESS, END_NO_PROCESS);
SAME_END(UNWIND_NO_MAPPING, END_NO_MAPPING);
SAME_END(UNWIND_JIT, END_JIT);
SAME_END(UNWIND_NO_TABLE, END_NO_TABLE);
SAME_END(UNWIND_NO_FDE, END_NO_FDE);
SAME_END(UNWIND_BAD_RULE, END_BAD_RULE);
SAME_END(UNWIND_READ_RA, END_READ_RA);
SAME_END(UNWIND_READ_FP, END_READ_FP);
SAME_END(UNWIND_RA_ZERO, END_RA_ZERO);
SAME_END(UNWIND_SP_BACK, END_SP_BACK);
SAME_END(UNWIND_BUSY, END_BUSY);
SAME_END(UNWIND_RUNNING, END_RUNNING);
SAME_END(UNWIND_TORN, END_TORN);
SAME_END(UNWIND_COMPAT32, END_COMPAT32);
SAME_END(UNWIND_KTHREAD, END_KTHREAD);
SAME_END(UNWIND_NO_MM, END_NO_MM);
SAME_END(UNWIND_BUG, END_BUG);
SAME_END(UNWIND_FP_END, END_FP_END);
SAME_END(UNWIND_EXEC, END_EXEC);
SAME_END(UNWIND_NOT_READ, END_NOT_READ);
SAME_END(UNWIND_ENDS, STACK_ENDS);

/* Bits of __state and exit_state (include/linux/sched.h), most telling first. */
static const struct {
	uint32_t mask, value;		/* state & mask == value */
	uint8_t state;
} states[] = {
	{ 0x200000, 0x200000, TASK_ZOMBIE },		/* exit_state << 16: EXIT_ZOMBIE */
	{ 0x100000, 0x100000, TASK_DEAD },		/* EXIT_DEAD */
	{ 0x0080, 0x0080, TASK_DEAD },
	{ 0x0800, 0x0800, TASK_NEW },
	{ 0x0004, 0x0004, TASK_STOPPED },
	{ 0x0008, 0x0008, TASK_TRACED },
	{ 0x0040, 0x0040, TASK_PARKED },
	{ 0x0200, 0x0200, TASK_WAKING },
	{ 0x8000, 0x8000, TASK_FROZEN },
	{ 0x1000, 0x1000, TASK_RTLOCK },
	{ 0x0502, 0x0402, TASK_IDLE },			/* UNINTERRUPTIBLE | NOLOAD */
	{ 0x0102, 0x0102, TASK_KILLABLE },		/* UNINTERRUPTIBLE | WAKEKILL */
	{ 0x0002, 0x0002, TASK_DISK },
	{ 0x0001, 0x0001, TASK_SLEEPING },
};

static uint8_t normal_state(const struct wire_sample *h)
{
	/* A state of sleep on a CPU: the thread was about to sleep, or was woken just now. */
	if (h->flags & WIRE_ON_CPU && !(h->state >> 16))
		return TASK_RUNNING;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if ((h->state & states[i].mask) == states[i].value)
			return states[i].state;
	}
	return h->state ? TASK_STATE_UNKNOWN : TASK_RUNNABLE;
}

static long decode_dump(const void *data, size_t len, struct wire_stack *out)
{
	const struct wire_dump *dump = data;

	if (len < sizeof(*dump))
		return 0;
	if (dump->bytes > WIRE_DUMP_PAGES * UNWIND_MEMORY_PAGE ||
	    dump->bytes % UNWIND_MEMORY_PAGE || dump->start % UNWIND_MEMORY_PAGE)
		return -EBADMSG;
	out->dump = dump;
	out->regs = dump->regs;
	out->start = dump->start;
	out->bytes = dump->bytes;
	out->memory = (const uint8_t *)(dump + 1);
	return (long)(sizeof(*dump) + dump->bytes);
}

#define PART_BYTES (WIRE_PART_PAGES * UNWIND_MEMORY_PAGE)

/* The bytes in front of the frames, as decode_dump() says it. */
static long decode_delta(const void *data, size_t len, struct wire_stack *out)
{
	const struct wire_delta *d = data;
	uint64_t nr = 0;

	if (len < sizeof(*d))
		return 0;
	if (!d->part_pages || d->part_pages > WIRE_PART_PAGES ||
	    d->part_pages & (d->part_pages - 1))
		return -EBADMSG;
	if (d->bytes > WIRE_DELTA_PAGES * UNWIND_MEMORY_PAGE || d->bytes % UNWIND_MEMORY_PAGE ||
	    d->start % UNWIND_MEMORY_PAGE || d->outer % UNWIND_MEMORY_PAGE ||
	    (!d->outer && d->bytes > PART_BYTES))
		return -EBADMSG;
	for (size_t i = 0; i < WIRE_BLOCKS / 64; i++)
		nr += (uint64_t)__builtin_popcountll(d->changed[i]);
	out->delta = d;
	out->absent = d->absent;
	out->outer = d->outer;
	out->regs = d->regs;
	out->start = d->start;
	out->bytes = d->bytes;
	return (long)(sizeof(*d) + nr * WIRE_BLOCK);
}

/* Whether no frame of a runtime, which has two words, is cut. */
static bool are_whole(const uint64_t *user, size_t nr)
{
	size_t i = 0;

	while (i < nr)
		i += user[i] & UNWIND_RUNTIME ? 2 : 1;
	return i == nr;
}

long wire_decode(const void *data, size_t len, struct wire_stack *out)
{
	const struct wire_sample *h = data;
	const void *frames = h + 1;
	long need;

	if (len < sizeof(*h))
		return 0;
	*out = (struct wire_stack){ .head = h };
	if (h->nr_user > UNWIND_MAX_FRAMES || h->nr_kernel > WIRE_MAX_KERNEL ||
	    h->end >= UNWIND_ENDS)
		return -EBADMSG;
	if (h->flags & WIRE_DUMP) {
		need = decode_dump(data, len, out);
	} else {
		need = h->flags & WIRE_DELTA ? decode_delta(data, len, out) : (long)sizeof(*h);
		if (need > 0)
			frames = (const uint8_t *)data + need;
		if (need > 0)
			need += (long)(((size_t)h->nr_user + h->nr_kernel) * sizeof(uint64_t));
	}
	if ((h->flags & WIRE_OBJECT && !(h->flags & WIRE_WAIT)) ||
	    (h->flags & WIRE_DELTA && h->flags & (WIRE_DUMP | WIRE_WAIT)))
		return -EBADMSG;
	if (need > 0 && h->flags & WIRE_WAIT && !out->dump)
		need += (long)sizeof(struct wire_wait);
	if (need > 0 && h->flags & WIRE_OBJECT && !out->dump)
		need += (long)sizeof(struct wire_object);
	if (need <= 0 || len < (size_t)need)
		return need < 0 ? need : 0;
	if (!are_whole(frames, h->nr_user))
		return -EBADMSG;
	out->user = frames;
	out->kernel = out->user + h->nr_user;
	if (h->flags & WIRE_WAIT)
		out->wait = (const struct wire_wait *)(out->kernel + h->nr_kernel);
	if (h->flags & WIRE_OBJECT)
		out->object = (const struct wire_object *)(out->wait + 1);
	out->state = normal_state(h);
	out->end = h->end;
	return need;
}

bool wire_stack_is_missing(const struct wire_stack *stack)
{
	/*
	 * A kernel thread on a CPU counts as well: it has no user stack, but its kernel stack is
	 * missing.
	 */
	return stack->end == UNWIND_RUNNING || stack->end == UNWIND_TORN ||
	       stack->end == UNWIND_BUSY ||
	       (stack->head->flags & (WIRE_KTHREAD | WIRE_ON_CPU)) == (WIRE_KTHREAD | WIRE_ON_CPU);
}

uint64_t wire_stack_at(const struct wire_stack *s, uint64_t addr)
{
	uint64_t at = addr - s->start;

	if (s->outer && at >= PART_BYTES)
		at = addr >= s->outer ? addr - s->outer + PART_BYTES : UINT64_MAX;
	if (addr < s->start || at >= s->bytes || s->absent >> at / UNWIND_MEMORY_PAGE & 1)
		return UINT64_MAX;
	return at;
}

size_t wire_record_bytes(const struct wire_sample *h)
{
	return sizeof(*h) + ((size_t)h->nr_user + h->nr_kernel) * sizeof(uint64_t) +
	       (h->flags & WIRE_WAIT ? sizeof(struct wire_wait) : 0) +
	       (h->flags & WIRE_OBJECT ? sizeof(struct wire_object) : 0);
}
