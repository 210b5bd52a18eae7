/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/debug_server.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/shared_library.h"
#include "src/foreign/kept_file.h"
#include "src/helpers/helper.h"
#include "src/rights/capabilities.h"

#define LIBRARY "libdebuginfod.so.1"
#define FILE_SECONDS "10"
#define FILE_NS (11 * NSEC_PER_SEC)	/* the library gives up before that */
#define START_NS (5 * NSEC_PER_SEC)
#define MAX_REQUEST 65536
#define TREE_DEPTH 8

/* debuginfod_begin(), debuginfod_find_debuginfo(), debuginfod_end(): debuginfod(8), its header. */
struct client {
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *build_id, int len, char **path);
	void (*end)(void *client);
};

/* ---- in the helper and its keeper ---- */

/* A process of another user than root gives up its capabilities only. */
static int leave_root(void)
{
	int err = rights_leave_root();

	return err ? err : rights_keep(NULL, 0);
}

static void begin_keeper(void)
{
	if (leave_root() < 0 || !geteuid())
		_exit(1);
}

/* The library takes its settings from the environment. */
static void set_environment(void)
{
	struct passwd *user = getpwuid(geteuid());

	setenv("DEBUGINFOD_MAXTIME", FILE_SECONDS, 1);
	setenv("DEBUGINFOD_TIMEOUT", FILE_SECONDS, 1);
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
	if (getenv("SUDO_UID") && user)		/* it may be root's */
		setenv("HOME", user->pw_dir, 1);
}

static int begin(void **state)
{
	static const struct shared_function functions[] = {
		{ "debuginfod_begin", offsetof(struct client, begin) },
		{ "debuginfod_find_debuginfo", offsetof(struct client, find) },
		{ "debuginfod_end", offsetof(struct client, end) },
	};
	static const char *const names[] = { LIBRARY };
	static struct client c;
	void *library;

	if (!geteuid())
		return -EPERM;
	set_environment();
	library = shared_library_open(names, 1);
	*state = library && !shared_library_find(library, functions, 3, &c) ? &c : NULL;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int find(const struct client *c, const struct message_part *build_id)
{
	void *client = c->begin();
	int fd = client ? c->find(client, build_id->v, (int)build_id->len, NULL) : -ENOMEM;

	if (client)
		c->end(client);
	return fd;
}

/* With a cache for this question alone. */
static int find_once(const struct client *c, const struct message_part *build_id)
{
	char dir[] = "/var/tmp/probee-debuginfod.XXXXXX";	/* large files; /tmp is memory */
	int fd;

	if (!mkdtemp(dir))
		return -errno;
	setenv("DEBUGINFOD_CACHE_PATH", dir, 1);
	fd = find(c, build_id);
	/* The opener may be another user without rights. */
	if (fd >= 0 && fchmod(fd, 0444)) {
		close(fd);
		fd = -EACCES;
	}
	nftw(dir, remove_one, TREE_DEPTH, FTW_DEPTH | FTW_PHYS);
	return fd;
}

/* Part 0: the build-id, or nothing, which only asks whether the library is there; part 1: URLs. */
static void serve(void *state, struct helper_message *m, struct helper_message *answer)
{
	const struct client *c = state;
	int fd, kept;

	answer->status = c ? 0 : -ENOSYS;
	if (!c || !m->part[0].len || m->part[0].len > 64)
		return;
	setenv("DEBUGINFOD_URLS", m->part[1].v, 1);
	fd = geteuid() == RIGHTS_NOBODY ? find_once(c, &m->part[0]) : find(c, &m->part[0]);
	kept = fd < 0 ? fd : kept_file_new(fd);
	if (fd >= 0)
		close(fd);
	answer->status = kept < 0 ? kept : 0;
	if (kept >= 0)
		answer->fds[answer->nr_fds++] = kept;
}

static void done(void *state, struct helper_message *answer)
{
	(void)state;
	for (size_t i = 0; i < answer->nr_fds; i++)
		close(answer->fds[i]);
}

static const struct helper_kind kind = {
	.name = "probee-fetcher",
	.begin = begin,
	.serve = serve,
	.done = done,
	.max_request = MAX_REQUEST,
	.may_sleep = true,
	.gives_fds = true,
};

/* ---- in probee ---- */

struct debug_server {
	char *urls;
	struct helper_keeper *keeper;
	struct helper *helper;
	pthread_mutex_t lock;		/* held while the helper is asked; of spent_ns */
	uint64_t spent_ns;
	atomic_ullong asked, found, late, failed;
	atomic_int error;		/* of the last one that failed */
};

static int call(struct debug_server *s, const void *build_id, size_t len,
		const struct helper_wait *wait)
{
	const struct helper_message m = {
		.part = { { (void *)build_id, len }, { s->urls, strlen(s->urls) } },
	};
	struct helper_message answer = { 0 };
	int err = helper_call(s->helper, &m, MAX_REQUEST, wait, &answer), fd;

	if (!err)
		err = answer.status;
	fd = err ? err : helper_take_fd(&answer, 0);
	helper_message_release(&answer);
	return fd == -1 && len ? -EPROTO : fd == -1 ? 0 : fd;
}

int debug_server_new(const char *urls, struct helper_deaths *deaths, struct debug_server **sp)
{
	static const struct helper_kind *const kinds[] = { &kind };
	const struct helper_keeper_options opts = { .kinds = kinds, .nr_kinds = 1,
						    .deaths = deaths,
						    .begin = begin_keeper, .no_signals = true };
	const struct helper_wait wait = { .until_ns = now_ns() + START_NS };
	struct debug_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	s->urls = strdup(urls);
	err = s->urls ? helper_keeper_new(&opts, &s->keeper) : -ENOMEM;
	if (!err)
		err = helper_new(s->keeper, &kind, &s->helper);
	if (!err)
		err = call(s, NULL, 0, &wait);
	if (!err) {
		*sp = s;
		return 0;
	}
	debug_server_free(s);
	if (err == -ENOSYS)
		return fail_why(-ENOTSUP, "--debuginfod: there is no " LIBRARY " here. "
				"Try: apt-get install libdebuginfod1");
	return fail(err, "--debuginfod: start a process that is not root");
}

void debug_server_free(struct debug_server *s)
{
	if (!s)
		return;
	helper_free(s->helper);
	helper_keeper_free(s->keeper);
	pthread_mutex_destroy(&s->lock);
	free(s->urls);
	free(s);
}

static int find_in_time(struct debug_server *s, const uint8_t *build_id, size_t len,
			const atomic_bool *unwanted)
{
	uint64_t begin = now_ns();
	uint64_t left = s->spent_ns < DEBUG_SERVER_NS ? DEBUG_SERVER_NS - s->spent_ns : 0;
	const struct helper_wait wait = { .until_ns = begin + (left < FILE_NS ? left : FILE_NS),
					  .unwanted = unwanted };
	int fd = left ? call(s, build_id, len, &wait) : -ETIMEDOUT;

	s->spent_ns += now_ns() - begin;
	s->asked++;
	s->found += fd >= 0;
	s->late += fd == -ETIMEDOUT || fd == -ETIME;
	if (fd < 0 && fd != -ETIMEDOUT && fd != -ETIME && fd != -ENOENT && fd != -ECANCELED) {
		s->failed++;
		s->error = fd;
	}
	return fd == -ETIME ? -ETIMEDOUT : fd;
}

int debug_server_find(struct debug_server *s, const uint8_t *build_id, size_t len,
		      const atomic_bool *unwanted)
{
	int fd;

	if (!len)
		return -ENOENT;
	pthread_mutex_lock(&s->lock);
	fd = unwanted && atomic_load(unwanted) ? -ECANCELED
					       : find_in_time(s, build_id, len, unwanted);
	pthread_mutex_unlock(&s->lock);
	return fd;
}

void debug_server_stats(struct debug_server *s, struct debug_server_stats *out)
{
	*out = (struct debug_server_stats){ s->asked, s->found, s->late, s->failed, s->error };
}
