/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/waits/wait_peers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"

#define PAUSE 100			/* pause between looks, in durations of the last one */

struct wait_peers {
	int map, link;
	struct holder_scan *scan;
	uint64_t not_before_ns;
	uint64_t looks, took_ns;
};

int wait_peers_new(struct capture_bpf *bpf, struct wait_peers **pp)
{
	struct wait_peers *p = calloc(1, sizeof(*p));
	int err = 0;

	if (!p)
		return -ENOMEM;
	p->map = capture_bpf_holders(bpf);
	p->scan = capture_bpf_holder_scan(bpf);
	p->link = bpf_link_create(capture_bpf_holder_fd(bpf), 0, BPF_TRACE_ITER, NULL);
	if (p->link < 0)
		err = fail(-errno, "look at the descriptors of all tasks");
	if (err)
		wait_peers_free(p);
	else
		*pp = p;
	return err;
}

void wait_peers_free(struct wait_peers *p)
{
	if (!p)
		return;
	if (p->looks)
		note_verbose("%" PRIu64 " looks at all descriptors, %.3f ms each", p->looks,
			     (double)p->took_ns / 1e6 / (double)p->looks);
	if (p->link >= 0)
		close(p->link);
	free(p);
}

/* The program writes nothing, so the first read comes back when all tasks have been visited. */
static int look(struct wait_peers *p)
{
	int fd = bpf_iter_create(p->link);
	char none[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	*p->scan = (struct holder_scan){ 0 };
	do {
		n = read(fd, none, sizeof(none));
	} while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

static void take_answer(struct wait_peers *p, struct peer_question *q)
{
	struct peer_holders h;

	q->holders = PEERS_UNKNOWN;
	q->tgid = 0;
	if (bpf_map_lookup_elem(p->map, &q->key, &h))
		return;
	/* After a look that was cut, a process that was not looked at may hold it, too. */
	q->holders = h.nr + (p->scan->cut ? 1 : 0);
	q->tgid = h.tgid;
}

int wait_peers_find(struct wait_peers *p, struct peer_question *questions, size_t nr)
{
	const struct peer_holders none = { 0 };
	uint64_t begin = now_ns();
	int err;

	if (begin < p->not_before_ns)
		return 1;
	/* Questions that do not fit into the map get no answer. */
	for (size_t i = 0; i < nr; i++)
		bpf_map_update_elem(p->map, &questions[i].key, &none, BPF_ANY);
	err = look(p);
	for (size_t i = 0; i < nr && !err; i++)
		take_answer(p, &questions[i]);
	for (size_t i = 0; i < nr; i++)
		bpf_map_delete_elem(p->map, &questions[i].key);
	p->looks++;
	p->took_ns += now_ns() - begin;
	p->not_before_ns = now_ns() + PAUSE * (now_ns() - begin);
	return err ? 1 : 0;
}
