/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user wants of a flight recorder (flight_keeper.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/flight/trigger.h"

struct flight_settings {
	uint64_t keep_ns;		/* 0: this is no flight recorder */
	uint64_t after_ns;		/* it goes on so long after a trigger */
	uint64_t every_ns;		/* a trigger earlier after the last one is too soon */
	uint64_t memory_bytes;
	uint32_t count;			/* it ends after so many files; 0: never */
	bool flush_on_exit;
	struct trigger_list triggers;	/* besides SIGUSR1 */
};
