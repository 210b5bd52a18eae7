#include "src/capture/wait_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bpf/futex_owner.h"
#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/capture/procfs.h"
#include "src/capture/wire_decode.h"
#include "src/model/record.h"

#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

enum argument { ARG_FUTEX = 1, ARG_FD, ARG_PID };

/* System calls that wait, and what their first argument is. */
static const struct {
	uint32_t nr;
	enum argument argument;
} calls[] = {
	{ SYS_futex, ARG_FUTEX }, { SYS_futex_waitv, ARG_FUTEX }, { SYS_futex_wait, ARG_FUTEX }, { SYS_wait4, ARG_PID },
	{ SYS_read, ARG_FD }, { SYS_write, ARG_FD }, { SYS_readv, ARG_FD }, { SYS_writev, ARG_FD },
	{ SYS_pread64, ARG_FD }, { SYS_pwrite64, ARG_FD }, { SYS_preadv, ARG_FD }, { SYS_pwritev, ARG_FD },
	{ SYS_preadv2, ARG_FD }, { SYS_pwritev2, ARG_FD }, { SYS_accept, ARG_FD }, { SYS_accept4, ARG_FD },
	{ SYS_connect, ARG_FD }, { SYS_recvfrom, ARG_FD }, { SYS_recvmsg, ARG_FD }, { SYS_recvmmsg, ARG_FD },
	{ SYS_sendto, ARG_FD }, { SYS_sendmsg, ARG_FD }, { SYS_sendmmsg, ARG_FD }, { SYS_epoll_pwait, ARG_FD },
	{ SYS_epoll_pwait2, ARG_FD }, { SYS_fsync, ARG_FD }, { SYS_fdatasync, ARG_FD }, { SYS_flock, ARG_FD },
	{ SYS_fcntl, ARG_FD }, { SYS_ioctl, ARG_FD }, { SYS_io_getevents, 0 }, { SYS_io_uring_enter, ARG_FD },
	{ SYS_getdents64, ARG_FD },
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, ARG_FD },
#endif
};

enum question { ASK_MEMORY, ASK_THREAD, ASK_CHILD };

struct answer {
	uint64_t key;			/* address of the word; tid in the process's namespace */
	uint32_t tgid, question;
	uint32_t value;
};

struct wait_facts {
	struct answer *v;
	size_t nr, cap;
	struct hash_index index;
	uint32_t walk;
};

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
	free(f->v);
	free(f);
}

static enum argument argument_of(uint32_t nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return calls[i].argument;
	return 0;
}

/* ---- memory ---- */

/* The page is there, or swapped out, and belongs to no file (Documentation/admin-guide/mm/pagemap.rst). */
static bool page_is_private(uint32_t tgid, uint64_t addr)
{
	char path[40];
	uint64_t entry = 0;
	long page = sysconf(_SC_PAGESIZE);
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/pagemap", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (pread(fd, &entry, sizeof(entry), (off_t)(addr / (uint64_t)page * sizeof(entry))) != sizeof(entry))
		entry = 0;
	close(fd);
	return entry >> 62 && !(entry >> 61 & 1);
}

static uint32_t owner_in_memory(uint32_t tgid, const struct wire_wait *wait)
{
	uint32_t words[FUTEX_OWNER_WORDS] = { 0 };
	struct iovec to = { words, sizeof(words) }, from = { (void *)(uintptr_t)wait->what, sizeof(words) };

	if (!page_is_private(tgid, wait->what) || !page_is_private(tgid, wait->what + sizeof(words) - 1))
		return 0;
	if (process_vm_readv((pid_t)tgid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(words))
		return 0;
	return futex_owner(wait->futex_op, wait->futex_val, words);
}

/* ---- threads ---- */

/* The thread of the process that calls itself tid. */
static uint32_t thread_called(uint32_t tgid, uint32_t tid)
{
	struct proc_status status;
	struct dirent *e;
	char path[40];
	uint32_t found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir))) {
		int id = atoi(e->d_name);

		if (id > 0 && !procfs_status(id, &status) && status.ns_tid == tid)
			found = (uint32_t)id;
	}
	if (dir)
		closedir(dir);
	return found;
}

static uint32_t find_thread(uint32_t tgid, uint32_t tid)
{
	struct proc_status status;
	char path[56];

	if (procfs_status((pid_t)tgid, &status))
		return 0;
	if (status.ns_tgid && status.ns_tgid != tgid)
		return thread_called(tgid, tid);
	snprintf(path, sizeof(path), "/proc/%u/task/%u", tgid, tid);
	return access(path, F_OK) ? 0 : tid;
}

/* Children are only looked for where their pid is the one that all the machine uses. */
static uint32_t find_child(uint32_t tgid, uint32_t pid)
{
	struct proc_status status;

	if (procfs_status((pid_t)tgid, &status) || (status.ns_tgid && status.ns_tgid != tgid))
		return 0;
	return procfs_exists((pid_t)pid) ? pid : 0;
}

/* ---- answers of this walk ---- */

static uint32_t answer(const struct answer *a, const struct wire_wait *wait)
{
	switch ((enum question)a->question) {
	case ASK_MEMORY: return owner_in_memory(a->tgid, wait);
	case ASK_THREAD: return find_thread(a->tgid, (uint32_t)a->key);
	case ASK_CHILD: return find_child(a->tgid, (uint32_t)a->key);
	}
	return 0;
}

static bool same_question(const void *ctx, uint32_t id)
{
	const struct answer *const *pair = ctx, *a = &pair[0][id], *b = pair[1];

	return a->key == b->key && a->tgid == b->tgid && a->question == b->question;
}

static uint32_t ask(struct wait_facts *f, enum question question, uint32_t tgid, uint64_t key, const struct wire_wait *wait)
{
	struct answer want = { key, tgid, question, 0 }, *place;
	const struct answer *pair[] = { f->v, &want };
	uint64_t hash = hash_u64(hash_u64(question, tgid), key);
	uint32_t id = ix_find(&f->index, hash, same_question, pair);

	if (id != IX_NONE)
		return f->v[id].value;
	want.value = answer(&want, wait);
	place = array_push(&f->v, &f->nr, &f->cap);
	if (!place)
		return want.value;
	*place = want;
	if (ix_add(&f->index, hash, (uint32_t)f->nr - 1))
		f->nr--;
	return want.value;
}

static void forget(struct wait_facts *f)
{
	f->nr = 0;
	ix_release(&f->index);
}

static uint32_t futex_holder(struct wait_facts *f, uint32_t tgid, const struct wire_wait *wait)
{
	uint32_t owner = wait->owner;

	if (wait->unread)
		owner = ask(f, ASK_MEMORY, tgid, wait->what, wait);
	return owner ? ask(f, ASK_THREAD, tgid, owner, wait) : 0;
}

void wait_facts_fill(struct wait_facts *f, const struct wire_stack *stack, uint32_t walk, struct rec_sample *out)
{
	const struct wire_wait *wait = stack->wait;
	uint32_t tgid = stack->head->tgid;

	if (!wait)
		return;
	if (walk != f->walk)
		forget(f);
	f->walk = walk;
	out->ran_ns = wait->ran_ns < out->time_ns ? wait->ran_ns : out->time_ns;
	out->syscall = wait->syscall;
	switch (wait->syscall ? argument_of(wait->syscall - 1) : 0) {
	case ARG_FUTEX:
		out->wait = wait->what;
		out->owner = futex_holder(f, tgid, wait);
		break;
	case ARG_FD:
		out->wait = (uint32_t)wait->what + 1ull;
		break;
	case ARG_PID:
		if ((int32_t)wait->what <= 0)
			break;
		out->wait = (uint32_t)wait->what;
		out->owner = ask(f, ASK_CHILD, tgid, out->wait, wait);
		break;
	}
}
