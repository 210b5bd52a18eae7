/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/slab_publisher.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/fail.h"
#include "src/base/quiet_thread.h"
#include "src/rights/recording_rights.h"

#define LOOK_NS (20 * 1000)

struct slab_publication {
	pthread_t thread;
	int slabs, slab;
	uint32_t key;
	int err;			/* valid when it is over */
	atomic_bool over;
};

static void *publish(void *arg)
{
	struct slab_publication *s = arg;

	/* The first slab is shown at the start, by a thread that still has all rights. */
	recording_rights_keep(ROLE_MAIN);
	s->err = bpf_map_update_elem(s->slabs, &s->key, &s->slab, 0) ? -errno : 0;
	atomic_store(&s->over, true);
	return NULL;
}

static int wait_until_seen(const struct slab_publication *s)
{
	uint32_t id;

	while (bpf_map_lookup_elem(s->slabs, &s->key, &id)) {
		if (atomic_load(&s->over))
			return s->err;
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	}
	return 0;
}

int slab_publisher_show(struct slab_publisher *p, int slabs, uint32_t key, int slab)
{
	struct slab_publication *s = p->nr < UNWIND_MAX_SLABS ? calloc(1, sizeof(*s)) : NULL;
	int err;

	if (!s)
		return fail(-ENOMEM, "show a slab for unwind rows to the kernel");
	s->slabs = slabs;
	s->slab = slab;
	s->key = key;
	err = quiet_thread_start(&s->thread, publish, s);
	if (err) {
		free(s);
		return fail(err, "start a thread that shows a slab for unwind rows to the kernel");
	}
	p->shown[p->nr++] = s;
	err = wait_until_seen(s);
	return err ? fail(err, "show a slab for unwind rows to the kernel") : 0;
}

void slab_publisher_release(struct slab_publisher *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		pthread_join(p->shown[i]->thread, NULL);
		free(p->shown[i]);
	}
	p->nr = 0;
}
