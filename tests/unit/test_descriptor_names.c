/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/intern.h"
#include "src/capture/stacks/wire_decode.h"
#include "src/capture/waits/descriptor_names.h"
#include "src/proc/descriptors.h"

struct world {
	struct descriptor_names *d;
	struct intern *texts;
	struct wire_sample head;
	struct wire_wait wait;
	struct wire_object object;
	uint64_t now_ns;
};

static uint32_t intern_text(void *ctx, const char *text)
{
	return intern_str(ctx, text);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	w->texts = intern_new();
	w->head.tgid = w->head.tid = (uint32_t)getpid();
	w->now_ns = NSEC_PER_SEC;
	return descriptor_names_new(intern_text, w->texts, &w->d);
}

static int teardown(void **state)
{
	struct world *w = *state;

	descriptor_names_free(w->d);
	intern_free(w->texts);
	test_free(w);
	return 0;
}

/* The name of a descriptor of this process, of which the scan saw what it is now. */
static const char *name_of(struct world *w, long call, int fd, uint32_t kind)
{
	struct wire_stack stack = { .head = &w->head, .wait = &w->wait,
				    .object = kind ? &w->object : NULL };
	uint32_t id;

	w->wait = (struct wire_wait){ .syscall = (uint32_t)call + 1, .what = (uint64_t)fd };
	w->object.kind = kind;
	id = descriptor_names_find(w->d, &stack, w->now_ns);
	return intern_get(w->texts, id, NULL);
}

static void see(struct world *w, int fd, uint64_t file)
{
	struct stat st;

	fstat(fd, &st);
	w->object.inode = st.st_ino;
	w->object.file = file;
}

static void test_pipe_and_event(void **state)
{
	struct world *w = *state;
	char want[64];
	int fds[2], event = eventfd(0, 0);

	assert_int_equal(pipe(fds), 0);
	see(w, fds[0], 1);
	snprintf(want, sizeof(want), "pipe:[%ju]", (uintmax_t)w->object.inode);
	assert_string_equal(name_of(w, SYS_read, fds[0], OBJECT_PIPE), want);
	assert_string_equal(name_of(w, SYS_pread64, fds[0], OBJECT_PIPE), want);
	see(w, event, 2);
	assert_string_equal(name_of(w, SYS_read, event, OBJECT_FILE), "anon_inode:[eventfd]");
	/* The object is what tells that there was a file, and the call that it is a descriptor. */
	assert_string_equal(name_of(w, SYS_read, event, OBJECT_NONE), "");
	assert_string_equal(name_of(w, SYS_futex, event, OBJECT_FILE), "");
	assert_string_equal(name_of(w, SYS_ppoll, -1, OBJECT_FILE), "");
	close(fds[0]);
	close(fds[1]);
	close(event);
}

/* The descriptor stands for another file when it is looked at. */
static void test_changed_meanwhile(void **state)
{
	struct world *w = *state;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	see(w, fds[0], 1);
	w->object.inode++;
	assert_string_equal(name_of(w, SYS_read, fds[0], OBJECT_PIPE), "");
	w->object.inode--;
	/* The answer is kept for a while, as long as the file is the same. */
	assert_string_equal(name_of(w, SYS_read, fds[0], OBJECT_PIPE), "");
	w->object.file = 2;
	assert_memory_equal(name_of(w, SYS_read, fds[0], OBJECT_PIPE), "pipe:[", 6);
	close(fds[0]);
	assert_memory_equal(name_of(w, SYS_read, fds[0], OBJECT_PIPE), "pipe:[", 6);
	w->now_ns += 60 * NSEC_PER_SEC;
	assert_string_equal(name_of(w, SYS_read, fds[0], OBJECT_PIPE), "");
	close(fds[1]);
}

static void test_epoll(void **state)
{
	struct world *w = *state;
	struct epoll_event ev = { .events = EPOLLIN };
	int fds[2], ep = epoll_create1(0);

	assert_int_equal(pipe(fds), 0);
	assert_string_equal(name_of(w, SYS_epoll_pwait, ep, OBJECT_NONE), "anon_inode:[eventpoll]");
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fds[0], &ev), 0);
	see(w, fds[0], 1);
	assert_memory_equal(name_of(w, SYS_epoll_pwait, ep, OBJECT_PIPE), "pipe:[", 6);
	w->object.inode++;
	w->object.file = 2;
	assert_string_equal(name_of(w, SYS_epoll_pwait, ep, OBJECT_PIPE), "");
	/* No epoll instance by now. */
	w->now_ns += 60 * NSEC_PER_SEC;
	assert_string_equal(name_of(w, SYS_epoll_pwait, fds[0], OBJECT_NONE), "");
	close(ep);
	close(fds[0]);
	close(fds[1]);
}

static void test_socket(void **state)
{
	struct world *w = *state;

	w->object = (struct wire_object){ .family = AF_UNIX, .inode = 9, .state = 10 };
	assert_string_equal(name_of(w, SYS_accept, 3, OBJECT_LISTENER), "unix [9] LISTEN");
}

/* Any byte may be in a path, and it may be longer than what /proc can say. */
static void test_paths(void **state)
{
	struct world *w = *state;
	char path[] = "/tmp/descriptor\n\xff\"|XXXXXX", deep[PATH_MAX] = "";
	int fd = mkstemp(path), dir = open("/tmp", O_PATH | O_DIRECTORY), root = dup(dir), n = 0;

	see(w, fd, 1);
	assert_string_equal(name_of(w, SYS_write, fd, OBJECT_FILE), path);
	unlink(path);
	w->now_ns += 60 * NSEC_PER_SEC;
	assert_string_equal(name_of(w, SYS_write, fd, OBJECT_FILE) + strlen(path), " (deleted)");
	close(fd);
	memset(deep, 'd', 200);
	for (; n < 22; n++) {
		int next;

		mkdirat(dir, deep, 0700);
		next = openat(dir, deep, O_PATH | O_DIRECTORY);
		close(dir);
		dir = next;
	}
	fd = openat(dir, ".", O_RDONLY);
	see(w, fd, 3);
	assert_string_equal(name_of(w, SYS_getdents64, fd, OBJECT_FILE), "");
	close(fd);
	for (; n; n--) {
		int up = openat(dir, "..", O_PATH | O_DIRECTORY);

		assert_int_equal(unlinkat(up, deep, AT_REMOVEDIR), 0);
		close(dir);
		dir = up;
	}
	close(dir);
	close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pipe_and_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_meanwhile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_epoll, setup, teardown),
		cmocka_unit_test_setup_teardown(test_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
	};

	return cmocka_run_group_tests_name("descriptor_names", tests, NULL, NULL);
}
