/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/waits/descriptor_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/hash_index.h"
#include "src/capture/bpf/wait_calls.h"
#include "src/capture/stacks/wire_decode.h"
#include "src/capture/waits/socket_text.h"
#include "src/proc/descriptors.h"

#define KEEP_NS (5 * NSEC_PER_SEC)
#define MAX_ANSWERS (1u << 16)
#define MAX_NAME_BYTES (64u << 20)	/* of all names of a part */

struct answer {
	uint64_t file;			/* address in the kernel; of a socket: hash of all facts */
	uint32_t tgid, fd;
	uint32_t name;			/* string id */
	uint64_t until_ns;
};

struct descriptor_names {
	struct answer *v;
	size_t nr, cap;
	struct hash_index index;
	intern_text_fn intern;
	void *ctx;
	uint32_t last;			/* highest id of a name */
	uint64_t bytes, left_out;
};

int descriptor_names_new(intern_text_fn intern, void *ctx, struct descriptor_names **dp)
{
	struct descriptor_names *d = calloc(1, sizeof(*d));

	*dp = d;
	if (!d)
		return -ENOMEM;
	d->intern = intern;
	d->ctx = ctx;
	return 0;
}

void descriptor_names_free(struct descriptor_names *d)
{
	if (!d)
		return;
	ix_release(&d->index);
	free(d->v);
	free(d);
}

void descriptor_names_forget(struct descriptor_names *d)
{
	ix_release(&d->index);
	d->nr = 0;
	d->last = 0;
	d->bytes = 0;
}

uint64_t descriptor_names_left_out(const struct descriptor_names *d)
{
	return d->left_out;
}

/* Counts what names take, those that were known before as well as can be told by their ids. */
static uint32_t intern_name(struct descriptor_names *d, const char *text)
{
	uint32_t id;

	if (d->bytes >= MAX_NAME_BYTES) {
		d->left_out++;
		return 0;
	}
	id = d->intern(d->ctx, text);
	if (id > d->last) {
		d->last = id;
		d->bytes += strlen(text);
	}
	return id;
}

/*
 * The link is read before the number of the inode. If that is the one that the scan saw, then it
 * was in between, too.
 */
static bool path_text(const struct wire_sample *h, uint32_t fd, uint64_t inode,
		      char buf[DESCRIPTOR_PATH_MAX])
{
	uint64_t now;

	return !descriptor_path(h->tgid, h->tid, fd, buf) &&
	       !descriptor_inode(h->tgid, h->tid, fd, &now) && now == inode;
}

/* The only file that the epoll instance watches or, where there are several, the instance. */
static bool epoll_text(const struct wire_stack *stack, uint32_t fd, char buf[DESCRIPTOR_PATH_MAX])
{
	const struct wire_sample *h = stack->head;
	uint32_t watched;

	if (!stack->object)
		return !descriptor_path(h->tgid, h->tid, fd, buf) &&
		       !strcmp(buf, "anon_inode:[eventpoll]");
	return !descriptor_watched(h->tgid, h->tid, fd, stack->object->inode, &watched) &&
	       path_text(h, watched, stack->object->inode, buf);
}

static uint32_t look(struct descriptor_names *d, const struct wire_stack *stack, uint32_t fd,
		     enum wait_call call)
{
	char text[DESCRIPTOR_PATH_MAX];
	bool is_known;

	if (stack->object && socket_is(stack->object)) {
		socket_text(stack->object, text);
		return intern_name(d, text);
	}
	is_known = call == CALL_EPOLL
			   ? epoll_text(stack, fd, text)
			   : path_text(stack->head, fd, stack->object->inode, text);
	return is_known ? intern_name(d, text) : 0;
}

static bool same_answer(const void *ctx, uint32_t id)
{
	const struct answer *const *pair = ctx, *a = &pair[0][id], *b = pair[1];

	return a->file == b->file && a->tgid == b->tgid && a->fd == b->fd;
}

/* The place for the answer; NULL: out of memory. */
static struct answer *place_of(struct descriptor_names *d, const struct answer *want)
{
	uint64_t hash = hash_u64(hash_u64(want->file, want->tgid), want->fd);
	const struct answer *pair[] = { d->v, want };
	uint32_t id = ix_find(&d->index, hash, same_answer, pair);
	struct answer *a;

	if (id != IX_NONE)
		return &d->v[id];
	if (d->nr >= MAX_ANSWERS) {
		d->nr = 0;
		ix_release(&d->index);
	}
	a = array_push(&d->v, &d->nr, &d->cap);
	if (!a)
		return NULL;
	*a = *want;
	if (!ix_add(&d->index, hash, (uint32_t)d->nr - 1))
		return a;
	d->nr--;
	return NULL;
}

/* Whether the call works on a single descriptor. */
static bool descriptor_of(const struct wire_wait *wait, enum wait_call call, uint32_t *fd)
{
	*fd = (uint32_t)wait->what;
	switch (call) {
	case CALL_READ: case CALL_WRITE: case CALL_FD: case CALL_FILE_LOCK: case CALL_EPOLL:
		return true;
	case CALL_POLL:
		return *fd != UINT32_MAX;
	case CALL_OTHER: case CALL_FUTEX: case CALL_WAIT4: case CALL_WAITID: case CALL_CLONE:
	case CALL_PATH: case CALL_PATH_AT:
		break;
	}
	return false;
}

uint32_t descriptor_names_find(struct descriptor_names *d, const struct wire_stack *stack,
			       uint64_t now_ns)
{
	const struct wire_wait *wait = stack->wait;
	enum wait_call call = wait && wait->syscall ? wait_call_of(wait->syscall - 1) : CALL_OTHER;
	const struct wire_object *object = stack->object;
	struct answer want = { .tgid = stack->head->tgid }, *a;

	if (!wait || !descriptor_of(wait, call, &want.fd) || (!object && call != CALL_EPOLL))
		return 0;
	if (object)
		want.file = socket_is(object) ? hash_bytes(0, object, sizeof(*object))
					      : object->file;
	a = place_of(d, &want);
	if (!a)
		return 0;
	if (a->until_ns <= now_ns) {
		a->name = look(d, stack, want.fd, call);
		a->until_ns = now_ns + KEEP_NS;
	}
	return a->name;
}
