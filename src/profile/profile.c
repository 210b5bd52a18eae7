#include "src/profile/profile.h"

#include <stdlib.h>

#include "src/base/intern.h"

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->nodes);
	intern_free(p->names);
	free(p);
}

const char *profile_name(const struct profile *p, uint32_t name)
{
	return intern_get(p->names, name, NULL);
}
