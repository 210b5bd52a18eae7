/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile records of the kernel side, one behind the other as they stand in the iterator's file.
 * What is accepted must lie inside the buffer, and its parts must be what their counts say.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"
#include "unwind/unwind_limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint64_t use(const struct wire_stack *s, const uint8_t *at, long n)
{
	uint64_t sum = (uint64_t)s->head->time_ns + s->head->comm[15];

	for (uint32_t i = 0; i < s->head->nr_user; i++)
		sum += s->user[i];
	for (uint32_t i = 0; i < s->head->nr_kernel; i++)
		sum += s->kernel[i];
	if (s->wait)
		sum += s->wait->ran_ns + s->wait->child;
	if (!s->dump && (const uint8_t *)(s->kernel + s->head->nr_kernel) + (s->wait ? sizeof(*s->wait) : 0) +
	    (s->object ? sizeof(*s->object) : 0) != at + n)
		abort();
	if (s->end >= STACK_ENDS || s->state >= TASK_STATES || s->head->nr_user > UNWIND_MAX_FRAMES ||
	    s->head->nr_kernel > WIRE_MAX_KERNEL)
		abort();
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* A block of its own: aligned as the kernel's is, and reads behind the end are seen. */
	uint8_t *copy = malloc(len ? len : 1);
	volatile uint64_t sum = 0;
	struct wire_stack s;
	size_t at = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, len);
	while (at < len) {
		long n = wire_decode(copy + at, len - at, &s);

		if (n <= 0) {
			if (n && n != -EBADMSG)
				abort();
			break;
		}
		sum = sum + use(&s, copy + at, n);
		at += (size_t)n;
	}
	free(copy);
	return 0;
}
