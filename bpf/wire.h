/*
 * CONTRACT kernel -> user space: what the BPF programs hand out. Fixed-width integers, explicit padding.
 * What goes to disk is another type (src/model/record.h). After the header come nr_user user frames
 * (innermost first, with WALK_ flags in the top bits), then nr_kernel kernel addresses (innermost first).
 */
#pragma once

#include <stdint.h>

#define WIRE_COMM 16
#define WIRE_MAX_KERNEL 127

enum wire_flags {
	WIRE_IN_KERNEL = 1,		/* interrupted in kernel mode */
	WIRE_GUESSED = 2,		/* some user frame is a guess */
	WIRE_KTHREAD = 4,
	WIRE_ON_CPU = 8,		/* was on a CPU when a walk met it */
	WIRE_KERNEL_FAILED = 16,	/* the kernel stack could not be read */
};

struct wire_sample {
	uint64_t time_ns;
	uint64_t weight;		/* of a sample: the event's period; of a row: 0 */
	uint64_t start_boottime_ns;	/* of the thread: identity when tids are reused */
	uint32_t tgid, tid;
	uint32_t cpu;
	uint32_t state;			/* __state | exit_state << 16 */
	uint16_t nr_user, nr_kernel;
	uint8_t end;			/* enum walk_end */
	uint8_t flags;			/* enum wire_flags */
	uint16_t pages_read;
	char comm[WIRE_COMM];
};

_Static_assert(sizeof(struct wire_sample) == 64, "wire layout");
