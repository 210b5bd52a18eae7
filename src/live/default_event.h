/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event that a user means who names none. */
#pragma once

#include <stdint.h>

struct live_profile;

/* An event with samples, CPU time before all others; 0: there are no samples yet. */
uint32_t live_default_event(const struct live_profile *l);
