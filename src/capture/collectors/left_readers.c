/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/left_readers.h"

#include <sys/wait.h>

static bool hung_before(struct left_readers *l, uint32_t tgid)
{
	uint32_t nr = l->nr_before < LEFT_PROCESSES ? l->nr_before : LEFT_PROCESSES;

	for (uint32_t i = 0; i < nr; i++)
		if (l->before[i] == tgid)
			return true;
	l->before[l->nr_before++ % LEFT_PROCESSES] = tgid;
	return false;
}

void left_readers_add(struct left_readers *l, uint32_t slot, struct left_reader *r)
{
	r->again = hung_before(l, r->tgid);
	l->v[slot] = *r;
}

uint32_t left_readers_slot(const struct left_readers *l)
{
	uint32_t slot = 0;

	while (slot < SCAN_SLOTS && l->v[slot].pid)
		slot++;
	return slot;
}

size_t left_readers_free_slots(const struct left_readers *l)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < SCAN_SLOTS; i++)
		nr += !l->v[i].pid;
	return nr;
}

size_t left_readers_of_user(const struct left_readers *l, uint32_t uid)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < SCAN_SLOTS; i++)
		nr += l->v[i].pid && l->v[i].uid == uid;
	return nr;
}

/* It was killed when it was left behind, so waitpid(2) sees it as soon as it can end. */
bool left_readers_take_back(struct left_readers *l, struct left_reader *r)
{
	for (uint32_t i = 0; i < SCAN_SLOTS; i++) {
		if (!l->v[i].pid || !waitpid(l->v[i].pid, NULL, WNOHANG))
			continue;
		*r = l->v[i];
		l->v[i].pid = 0;
		return true;
	}
	return false;
}
