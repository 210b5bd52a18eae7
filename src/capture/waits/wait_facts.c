/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/waits/wait_facts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/proc/file_locks.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"
#include "src/capture/bpf/wait_calls.h"
#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"

enum question { ASK_THREAD, ASK_CHILD };

struct answer {
	uint32_t key;			/* a tid or pid in the process's namespace */
	uint32_t tgid, question;
	uint32_t value;
};

struct wait_facts {
	struct answer *v;
	size_t nr, cap;
	struct hash_index index;
	struct file_locks locks;
	bool has_locks;			/* locks were read for this scan */
	uint32_t scan;
};

/* The kinds of descriptors of the kernel side are those of the trace. */
#define SAME_KIND(object, kind) _Static_assert((int)(object) == (int)(kind), "kinds differ")
SAME_KIND(OBJECT_NONE, WAIT_UNKNOWN);
SAME_KIND(OBJECT_PIPE, WAIT_PIPE);
SAME_KIND(OBJECT_FIFO, WAIT_FIFO);
SAME_KIND(OBJECT_UNIX, WAIT_UNIX);
SAME_KIND(OBJECT_TCP, WAIT_TCP);
SAME_KIND(OBJECT_LISTENER, WAIT_LISTENER);
SAME_KIND(OBJECT_SOCKET, WAIT_SOCKET);
_Static_assert(WIRE_ARGS == SAMPLE_ARGS, "arguments differ");

int wait_facts_new(struct wait_facts **fp)
{
	*fp = calloc(1, sizeof(**fp));
	return *fp ? 0 : -ENOMEM;
}

void wait_facts_free(struct wait_facts *f)
{
	if (!f)
		return;
	ix_release(&f->index);
	file_locks_release(&f->locks);
	free(f->v);
	free(f);
}

/* ---- threads ---- */

/* tid is the thread's number in the PID namespace of its process. */
static uint32_t find_thread(uint32_t tgid, uint32_t tid)
{
	struct proc_status status;

	if (procfs_status((pid_t)tgid, &status))
		return 0;
	if (status.ns_depth)
		return (uint32_t)process_tasks_called((pid_t)tgid, tid);
	return process_tasks_has((pid_t)tgid, (pid_t)tid) ? tid : 0;
}

/* pid is the child's number in the PID namespace of the process that waits. */
static uint32_t find_child(uint32_t tgid, uint32_t pid)
{
	struct proc_status status;

	if (procfs_status((pid_t)tgid, &status))
		return 0;
	if (status.ns_depth)
		return (uint32_t)process_tasks_child((pid_t)tgid, pid, status.ns_depth);
	return procfs_exists((pid_t)pid) ? pid : 0;
}

/* ---- answers of this scan ---- */

static uint32_t answer(const struct answer *a)
{
	switch ((enum question)a->question) {
	case ASK_THREAD: return find_thread(a->tgid, a->key);
	case ASK_CHILD: return find_child(a->tgid, a->key);
	}
	return 0;
}

static bool same_question(const void *ctx, uint32_t id)
{
	const struct answer *const *pair = ctx, *a = &pair[0][id], *b = pair[1];

	return a->key == b->key && a->tgid == b->tgid && a->question == b->question;
}

static uint32_t ask(struct wait_facts *f, enum question question, uint32_t tgid, uint32_t key)
{
	struct answer want = { key, tgid, question, 0 }, *place;
	const struct answer *pair[] = { f->v, &want };
	uint64_t hash = hash_u64(hash_u64(question, tgid), key);
	uint32_t id = ix_find(&f->index, hash, same_question, pair);

	if (id != IX_NONE)
		return f->v[id].value;
	want.value = answer(&want);
	place = array_push(&f->v, &f->nr, &f->cap);
	if (!place)
		return want.value;
	*place = want;
	if (ix_add(&f->index, hash, (uint32_t)f->nr - 1))
		f->nr--;
	return want.value;
}

uint32_t wait_facts_thread(struct wait_facts *f, uint32_t tgid, uint32_t tid)
{
	return ask(f, ASK_THREAD, tgid, tid);
}

static void forget(struct wait_facts *f)
{
	f->nr = 0;
	f->has_locks = false;
	ix_release(&f->index);
}

static void fill_child(struct wait_facts *f, uint32_t tgid, const struct wire_wait *wait,
		       struct rec_sample *out)
{
	if ((int32_t)wait->what > 0) {
		out->wait = (uint32_t)wait->what;
		out->owner = ask(f, ASK_CHILD, tgid, (uint32_t)out->wait);
	} else {
		out->owner = wait->child;
	}
	out->wait_kind = out->owner ? WAIT_CHILD : WAIT_UNKNOWN;
}

/*
 * /proc/locks shows all waits for file locks, so it is read once in a scan. fcntl() waits for
 * nothing but locks.
 */
static void fill_lock(struct wait_facts *f, uint32_t tgid, const struct wire_object *object,
		      struct rec_sample *out)
{
	if (!object || object->kind != OBJECT_FILE)
		return;
	if (!f->has_locks)
		f->has_locks = !file_locks_read(&f->locks, NULL);
	out->wait_kind = WAIT_FILE_LOCK;
	out->object = object->inode;
	out->owner = f->has_locks ? file_locks_holder(&f->locks, tgid, object->inode) : 0;
	if (out->owner && !procfs_exists((pid_t)out->owner))
		out->owner = 0;
	out->holders = out->owner ? 2 : 0;
}

static void fill_object(const struct wire_object *object, struct rec_sample *out)
{
	if (!object || object->kind > OBJECT_SOCKET)
		return;
	out->wait_kind = (uint8_t)object->kind;
	out->object = object->inode;
}

/* What the call that the thread is in says about what it waits for. */
static void fill_call(struct wait_facts *f, const struct wire_stack *stack, struct rec_sample *out)
{
	const struct wire_wait *wait = stack->wait;
	uint32_t tgid = stack->head->tgid;

	switch (wait->syscall ? wait_call_of(wait->syscall - 1) : CALL_OTHER) {
	case CALL_OTHER: case CALL_PATH: case CALL_PATH_AT:
		break;
	case CALL_FUTEX:
		out->wait = wait->what;
		out->owner = wait->owner ? ask(f, ASK_THREAD, tgid, wait->owner) : 0;
		break;
	case CALL_FILE_LOCK:
		fill_lock(f, tgid, stack->object, out);
		out->wait = (uint32_t)wait->what + 1ull;
		break;
	case CALL_POLL:
		if (wait->what == UINT32_MAX)
			break;
		/* fallthrough */
	case CALL_READ: case CALL_WRITE: case CALL_EPOLL:
		fill_object(stack->object, out);
		out->wait = (uint32_t)wait->what + 1ull;
		break;
	case CALL_FD:
		out->wait = (uint32_t)wait->what + 1ull;
		break;
	case CALL_WAIT4: case CALL_WAITID:
		fill_child(f, tgid, wait, out);
		break;
	case CALL_CLONE:
		out->owner = wait->child;
		out->wait_kind = wait->child ? WAIT_VFORK : WAIT_UNKNOWN;
		break;
	}
}

bool wait_facts_is_futex(const struct rec_sample *sample)
{
	return sample->syscall && sample->wait &&
	       wait_call_of(sample->syscall - 1) == CALL_FUTEX;
}

/* Fills an interval off the CPU without any look-up: there may be 100,000 a second. */
static void fill_stay(const struct wire_wait *wait, struct rec_sample *out)
{
	switch (wait->syscall ? wait_call_of(wait->syscall - 1) : CALL_OTHER) {
	case CALL_FUTEX:
		out->wait = wait->what;
		break;
	case CALL_POLL:
		if (wait->what == UINT32_MAX)
			break;
		/* fallthrough */
	case CALL_READ: case CALL_WRITE: case CALL_EPOLL: case CALL_FD: case CALL_FILE_LOCK:
		out->wait = (uint32_t)wait->what + 1ull;
		break;
	case CALL_OTHER: case CALL_WAIT4: case CALL_WAITID: case CALL_CLONE: case CALL_PATH:
	case CALL_PATH_AT:
		break;
	}
}

void wait_facts_fill(struct wait_facts *f, const struct wire_stack *stack, uint32_t scan,
		     struct rec_sample *out)
{
	const struct wire_wait *wait = stack->wait;

	if (!wait)
		return;
	out->ran_ns = wait->ran_ns < out->time_ns ? wait->ran_ns : out->time_ns;
	out->syscall = wait->syscall;
	memcpy(out->args, wait->args, sizeof(out->args));
	if (!scan) {
		fill_stay(wait, out);
		return;
	}
	if (scan != f->scan)
		forget(f);
	f->scan = scan;
	fill_call(f, stack, out);
}
