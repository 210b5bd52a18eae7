/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that forks all helpers, and what it is told. Internal to src/helpers. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "src/helpers/helper.h"

#define KEEPER_NAME "probee-keeper"
#define KEEPER_SLOTS 32			/* helpers at a time */

enum keeper_op {
	KEEPER_SPAWN,			/* with a descriptor; answers the pid or -errno */
	KEEPER_KILL,			/* that of the slot; no answer */
	KEEPER_BURY,			/* it has ended; answers its wait status */
	KEEPER_CPU,			/* answers the CPU time of all, 8 bytes */
};

struct keeper_order {
	uint32_t slot, kind;
};

void keeper_main(const struct helper_keeper_options *opts) __attribute__((noreturn));

