/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/profile.h"

#include <stdlib.h>

#include "src/base/intern.h"
#include "src/profile/stack_health.h"

void profile_free(struct profile *p)
{
	if (!p)
		return;
	if (p->health)
		stack_health_release(p->health);
	free(p->health);
	free(p->nodes);
	intern_free(p->names);
	free(p);
}

const char *profile_name(const struct profile *p, uint32_t name)
{
	return intern_get(p->names, name, NULL);
}
