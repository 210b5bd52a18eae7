/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/per_process.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/process.h"

static uint64_t *element(const struct per_process *pp, uint32_t slot)
{
	assert(slot < pp->cap && pp->size >= sizeof(uint64_t));
	return (uint64_t *)((char *)pp->v + slot * pp->size);
}

void *per_process_at(struct per_process *pp, const struct process *p)
{
	uint64_t *serial;

	if (array_reserve_raw(&pp->v, &pp->cap, (size_t)p->slot + 1, pp->size))
		return NULL;
	serial = element(pp, p->slot);
	if (*serial != p->serial) {
		memset(serial, 0, pp->size);
		*serial = p->serial;
	}
	return serial;
}

void *per_process_find(const struct per_process *pp, const struct process *p)
{
	return per_process_of_slot(pp, p->slot, p->serial);
}

void *per_process_of_slot(const struct per_process *pp, uint32_t slot, uint64_t serial)
{
	uint64_t *found = slot < pp->cap ? element(pp, slot) : NULL;

	return found && *found == serial ? found : NULL;
}

void per_process_release(struct per_process *pp)
{
	free(pp->v);
	pp->v = NULL;
	pp->cap = 0;
}
