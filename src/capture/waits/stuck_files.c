/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/waits/stuck_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/hash_index.h"
#include "src/capture/bpf/wait_calls.h"
#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"
#include "src/proc/descriptors.h"
#include "src/proc/path_mount.h"

#define KEPT 4096			/* answers, by thread; a power of two */
#define PATH_BYTES (DESCRIPTOR_PATH_MAX + WIRE_UNIX_NAME + 8)

struct kept {
	uint32_t tid;			/* 0: none */
	uint32_t file, mount;		/* string ids */
	uint64_t ran_ns;
};

struct stuck_files {
	intern_text_fn intern;
	void *ctx;
	struct kept v[KEPT];
};

int stuck_files_new(intern_text_fn intern, void *ctx, struct stuck_files **sp)
{
	struct stuck_files *s = calloc(1, sizeof(*s));

	*sp = s;
	if (!s)
		return -ENOMEM;
	s->intern = intern;
	s->ctx = ctx;
	return 0;
}

void stuck_files_free(struct stuck_files *s)
{
	free(s);
}

void stuck_files_forget(struct stuck_files *s)
{
	memset(s->v, 0, sizeof(s->v));
}

/* The directory from which a path is looked up. false: it is not known. */
static bool directory_of(const struct wire_sample *h, uint32_t fd, char buf[DESCRIPTOR_PATH_MAX])
{
	char link[64];
	ssize_t n;

	if (fd != (uint32_t)AT_FDCWD)
		return !descriptor_path(h->tgid, h->tid, fd, buf);
	snprintf(link, sizeof(link), "/proc/%u/task/%u/cwd", h->tgid, h->tid);
	n = readlink(link, buf, DESCRIPTOR_PATH_MAX - 1);
	if (n < 0)
		return false;
	buf[n] = 0;
	return true;
}

/* The path that a call looks up. true: it is absolute. */
static bool path_text(const struct wire_stack *stack, char text[PATH_BYTES])
{
	const struct wire_object *o = stack->object;
	const char *name = o->name, *slash = "/";
	int len = (int)strnlen(name, sizeof(o->name));
	const char *more = len + 1 >= (int)sizeof(o->name) ? "..." : "";
	char dir[DESCRIPTOR_PATH_MAX] = "";

	for (; len > 2 && !strncmp(name, "./", 2); len -= 2)
		name += 2;
	if (len == 1 && *name == '.')
		len = 0;
	if (*name != '/' && !directory_of(stack->head, (uint32_t)o->file, dir))
		strcpy(dir, ".");
	if (*name == '/' || !len || !strcmp(dir, "/"))
		slash = "";
	snprintf(text, PATH_BYTES, "%s%s%.*s%s", dir, slash, len, name, more);
	return text[0] == '/';
}

/* What ".." leads to is not known. */
static bool is_plain(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/..")); p += 3)
		if (!p[3] || p[3] == '/')
			return false;
	return true;
}

static void look(struct stuck_files *s, const struct wire_stack *stack, struct kept *to)
{
	const struct wire_sample *h = stack->head;
	char path[PATH_BYTES], text[MOUNT_TEXT_MAX];
	uint32_t id;
	bool known = false;

	if (stack->object && stack->object->kind == OBJECT_PATH) {
		bool absolute = path_text(stack, path);

		if (path[0])
			to->file = s->intern(s->ctx, path);
		known = absolute && is_plain(path) &&
			path_mount((pid_t)h->tgid, path, text);
	} else if (stack->object && stack->object->kind == OBJECT_FILE) {
		known = !descriptor_mount(h->tgid, h->tid, (uint32_t)stack->wait->what, &id) &&
			mounts_text_of_id((pid_t)h->tgid, id, text);
	}
	if (known)
		to->mount = s->intern(s->ctx, text);
}

/* A file server of FUSE is waited for interruptibly, and so is the other end of a FIFO. */
static bool is_looked_at(const struct wire_stack *stack, const struct rec_sample *out)
{
	enum wait_call call = stack->wait && stack->wait->syscall
				      ? wait_call_of(stack->wait->syscall - 1) : CALL_OTHER;

	if (!stack->object || !out->ran_ns || out->time_ns < out->ran_ns + STUCK_LOOK_NS)
		return false;
	return task_state_is_disk(out->state) ||
	       (out->state == TASK_SLEEPING && call != CALL_EPOLL && call != CALL_POLL);
}

void stuck_files_fill(struct stuck_files *s, const struct wire_stack *stack, struct rec_sample *out)
{
	uint32_t tid = stack->head->tid;
	struct kept *k = &s->v[hash_u64(tid, 0) & (KEPT - 1)];

	if (!is_looked_at(stack, out))
		return;
	if (k->tid != tid || k->ran_ns != out->ran_ns) {
		*k = (struct kept){ .tid = tid, .ran_ns = out->ran_ns };
		look(s, stack, k);
	}
	if (k->file && !out->file)
		out->file = k->file;
	out->mount = k->mount;
}
