/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/default_event.h"

#include <stddef.h>

#include "src/model/definition_store.h"
#include "src/live/live_profile.h"

uint32_t live_default_event(const struct live_profile *l)
{
	size_t nr;
	const struct live_event *v = live_profile_events(l, &nr);
	uint32_t best = 0;

	for (uint32_t i = 1; i < nr; i++) {
		const struct rec_event *e =
			definition_store_find_event(live_profile_tables(l), i);

		if (v[i].samples && e && (!best || e->kind == EVENT_CPU_CLOCK))
			best = i;
	}
	return best;
}
