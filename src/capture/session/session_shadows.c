/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of shadow frames: to those that wait for them. */
#include "src/capture/session/session_parts.h"
#include "src/capture/session/shadow_names.h"

int session_shadow_name(struct session *s, uint64_t id, const struct shadow_name *name)
{
	int waited = shadow_names_put(s->definer.shadows, id, name);

	if (waited > 0)
		stack_definer_shadow(&s->definer, id);
	return waited < 0 ? waited : 0;
}

uint64_t session_shadow_nameless(const struct session *s)
{
	return shadow_names_waiting(s->definer.shadows);
}

uint64_t session_shadow_rewound(const struct session *s)
{
	return s->definer.rewound;
}
