/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/ring_queue.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "src/base/fail.h"

/* The size of a batch: the reader must get back to its other work, however fast the ring fills. */
#define MAX_QUEUE_BYTES (1u << 20)

static int on_record(void *ctx, void *data, size_t len)
{
	static const uint64_t zero;
	struct byte_buf *b = ctx;
	uint64_t size = len;

	bb_bytes(b, &size, sizeof(size));
	bb_bytes(b, data, len);
	bb_bytes(b, &zero, -len & 7);	/* keeps records aligned */
	return b->nr > MAX_QUEUE_BYTES ? -EAGAIN : 0;
}

int ring_queue_open(struct ring_queue *q, int map)
{
	q->ring = ring_buffer__new(map, on_record, &q->records, NULL);
	return q->ring ? 0 : fail(-errno, "map the ring buffer");
}

void ring_queue_close(struct ring_queue *q)
{
	ring_buffer__free(q->ring);
	bb_release(&q->records);
	memset(q, 0, sizeof(*q));
}

int ring_queue_fd(const struct ring_queue *q)
{
	return ring_buffer__epoll_fd(q->ring);
}

int ring_queue_drain(struct ring_queue *q)
{
	int n = ring_buffer__consume(q->ring);

	if (q->records.bad)
		return fail(-ENOMEM, "queue records");
	if (n == -EAGAIN)
		return 1;
	return n < 0 ? fail(n, "read the ring buffer") : 0;
}

int ring_queue_for_each(struct ring_queue *q, ring_record_fn fn, void *ctx)
{
	int err = 0;

	for (size_t at = 0; at < q->records.nr && !err;) {
		uint64_t size;

		memcpy(&size, q->records.v + at, sizeof(size));
		at += sizeof(size);
		err = fn(ctx, q->records.v + at, size);
		at += (size + 7) & ~7ull;
	}
	q->records.nr = 0;
	return err;
}
