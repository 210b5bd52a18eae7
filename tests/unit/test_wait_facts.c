/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads wait for, asked of the threads, memory and locks of this test and its children. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/futex_owner.h"
#include "src/capture/stacks/wire_decode.h"
#include "src/capture/waits/wait_facts.h"
#include "src/model/record.h"
#include "src/proc/procfs.h"

#define NO_PID 0x3ffffffu

struct world {
	struct wait_facts *f;
	struct wire_sample head;
	struct wire_wait wait;
	struct wire_object object;
	struct wire_stack stack;
	struct rec_sample out;
	pid_t children[2];
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	w->head.tgid = w->head.tid = (uint32_t)getpid();
	return wait_facts_new(&w->f);
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 2; i++) {
		if (w->children[i] <= 0)
			continue;
		kill(w->children[i], SIGKILL);
		waitpid(w->children[i], NULL, 0);
	}
	wait_facts_free(w->f);
	test_free(w);
	return 0;
}

/* A row that waits in this system call; what came of it is in w->out. */
static const struct rec_sample *fill(struct world *w, uint32_t scan, long syscall,
				     struct wire_wait wait)
{
	w->wait = wait;
	w->wait.syscall = (uint32_t)syscall + 1;
	w->stack = (struct wire_stack){ .head = &w->head, .wait = &w->wait,
					.object = w->object.kind ? &w->object : NULL };
	w->out = (struct rec_sample){ .time_ns = 1000 };
	wait_facts_fill(w->f, &w->stack, scan, &w->out);
	return &w->out;
}

static uint32_t my_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* ---- what every row says ---- */

static void test_row_without_a_wait(void **state)
{
	struct world *w = *state;
	const struct rec_sample none = { .time_ns = 5 };

	w->out = none;
	w->stack = (struct wire_stack){ .head = &w->head };
	wait_facts_fill(w->f, &w->stack, 1, &w->out);
	assert_memory_equal(&w->out, &none, sizeof(none));
}

static void test_since_when(void **state)
{
	struct world *w = *state;
	const struct rec_sample *s = fill(w, 1, SYS_nanosleep,
					  (struct wire_wait){ .ran_ns = 400, .args = { 7, 8, 9, 10, 11, 12 } });
	const uint64_t args[] = { 7, 8, 9, 10, 11, 12 };

	assert_memory_equal(s->args, args, sizeof(args));

	assert_int_equal(s->ran_ns, 400);
	assert_int_equal(s->syscall, SYS_nanosleep + 1);
	assert_int_equal(s->wait, 0);
	assert_int_equal(s->owner, 0);
	/* Clocks differ by a little: it did not run after it was seen waiting. */
	assert_int_equal(fill(w, 1, SYS_nanosleep, (struct wire_wait){ .ran_ns = 1001 })->ran_ns,
			 1000);
}

/* ---- futexes ---- */

static void *sleep_on_pipe(void *arg)
{
	int *fds = arg;
	uint32_t tid = my_tid();
	char c;

	if (write(fds[1], &tid, sizeof(tid)) != sizeof(tid) || read(fds[2], &c, 1) < 0)
		return fds;
	return NULL;
}

static void test_owner_that_the_walk_read(void **state)
{
	struct world *w = *state;
	int out[2], in[2], fds[3];
	pthread_t thread;
	uint32_t tid;

	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	fds[1] = out[1];
	fds[2] = in[0];
	assert_int_equal(pthread_create(&thread, NULL, sleep_on_pipe, fds), 0);
	assert_int_equal(read(out[0], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(
		fill(w, 1, SYS_futex, (struct wire_wait){ .what = 64, .owner = tid })->owner, tid);
	assert_int_equal(w->out.wait, 64);
	/* No such thread, or that of another process: memory held something else there. */
	assert_int_equal(fill(w, 1, SYS_futex, (struct wire_wait){ .owner = NO_PID })->owner, 0);
	assert_int_equal(fill(w, 1, SYS_futex, (struct wire_wait){ .owner = 1 })->owner, 0);
	assert_int_equal(fill(w, 1, SYS_futex, (struct wire_wait){ .owner = 0 })->owner, 0);
	/* The process has gone. */
	w->head.tgid = NO_PID;
	assert_int_equal(fill(w, 1, SYS_futex, (struct wire_wait){ .owner = tid })->owner, 0);
	close(in[1]);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++)
		close(out[i]);
	close(in[0]);
}

/* Answers hold for one scan. */
static void test_answers_of_a_scan(void **state)
{
	struct world *w = *state;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	w->head.tgid = (uint32_t)child;
	assert_int_equal(
		fill(w, 1, SYS_futex, (struct wire_wait){ .owner = (uint32_t)child })->owner, child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(
		fill(w, 1, SYS_futex, (struct wire_wait){ .owner = (uint32_t)child })->owner, child);
	assert_int_equal(
		fill(w, 2, SYS_futex, (struct wire_wait){ .owner = (uint32_t)child })->owner, 0);
}

/* Memory says who holds the lock, but the scan did not: it is not read here. */
static void test_memory_is_not_read(void **state)
{
	struct world *w = *state;
	uint32_t words[FUTEX_OWNER_WORDS] = { 2, 1, my_tid(), 1 };
	struct wire_wait wait = { .what = (uintptr_t)words, .futex_val = 2,
				  .futex_op = FUTEX_WAIT | FUTEX_PRIVATE_FLAG };

	assert_int_equal(fill(w, 1, SYS_futex, wait)->owner, 0);
	assert_int_equal(w->out.wait, (uintptr_t)words);
}

/* ---- descriptors ---- */

static void test_objects(void **state)
{
	static const uint8_t kinds[] = { WAIT_UNKNOWN, WAIT_PIPE, WAIT_FIFO, WAIT_UNIX, WAIT_TCP,
					 WAIT_LISTENER, WAIT_SOCKET };
	struct world *w = *state;
	const struct rec_sample *s;

	for (uint32_t kind = OBJECT_PIPE; kind <= OBJECT_SOCKET; kind++) {
		w->object = (struct wire_object){ .kind = kind, .inode = 4711 };
		s = fill(w, 1, SYS_read, (struct wire_wait){ .what = 5 });
		assert_int_equal(s->wait_kind, kinds[kind]);
		assert_int_equal(s->object, 4711);
		assert_int_equal(s->wait, 6);		/* descriptor + 1 */
	}
	w->object.kind = OBJECT_FILE;
	s = fill(w, 1, SYS_pread64, (struct wire_wait){ .what = 0 });
	assert_int_equal(s->wait_kind, WAIT_UNKNOWN);
	assert_int_equal(s->object, 0);
	assert_int_equal(s->wait, 1);
	w->object.kind = OBJECT_NONE;
	assert_int_equal(fill(w, 1, SYS_epoll_pwait, (struct wire_wait){ .what = 9 })->wait, 10);
}

/* Of several descriptors none is the one. */
static void test_poll(void **state)
{
	struct world *w = *state;

	w->object = (struct wire_object){ .kind = OBJECT_PIPE, .inode = 4711 };
	assert_int_equal(fill(w, 1, SYS_ppoll, (struct wire_wait){ .what = 3 })->wait, 4);
	assert_int_equal(w->out.wait_kind, WAIT_PIPE);
	assert_int_equal(fill(w, 1, SYS_ppoll, (struct wire_wait){ .what = UINT32_MAX })->wait, 0);
	assert_int_equal(w->out.wait_kind, WAIT_UNKNOWN);
}

/* ---- locks of files ---- */

static pid_t start(struct world *w, int i, void (*fn)(int fd, int answers), int fd)
{
	int p[2];
	char c;

	assert_int_equal(pipe(p), 0);
	w->children[i] = fork();
	assert_true(w->children[i] >= 0);
	if (!w->children[i]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(fd, p[1]);
		_exit(0);
	}
	close(p[1]);
	assert_int_equal(read(p[0], &c, 1), 1);
	close(p[0]);
	return w->children[i];
}

static void say_ready(int answers)
{
	if (write(answers, "!", 1) != 1)
		_exit(1);
}

static void take_lock(int fd, int answers)
{
	struct flock l = { .l_type = F_WRLCK };

	if (fcntl(fd, F_SETLK, &l))
		_exit(1);
	say_ready(answers);
	pause();
}

static void wait_for_lock(int fd, int answers)
{
	struct flock l = { .l_type = F_WRLCK };

	say_ready(answers);
	fcntl(fd, F_SETLKW, &l);
}

static void test_file_lock(void **state)
{
	struct world *w = *state;
	char path[] = "/tmp/wait-facts-XXXXXX";
	int fd = mkstemp(path);
	struct stat st;
	const struct rec_sample *s;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(fstat(fd, &st), 0);
	start(w, 0, take_lock, fd);
	w->head.tgid = (uint32_t)start(w, 1, wait_for_lock, fd);
	w->object = (struct wire_object){ .kind = OBJECT_FILE, .inode = st.st_ino };
	for (uint32_t scan = 1; !fill(w, scan, SYS_fcntl, (struct wire_wait){ .what = 3 })->owner;
	     scan++)
		usleep(1000);
	s = &w->out;
	assert_int_equal(s->owner, w->children[0]);
	assert_int_equal(s->holders, 2);
	assert_int_equal(s->wait_kind, WAIT_FILE_LOCK);
	assert_int_equal(s->object, st.st_ino);
	assert_int_equal(s->wait, 4);
	/* Somebody else waits for nothing there. */
	w->head.tgid = (uint32_t)getpid();
	s = fill(w, 1000000, SYS_flock, (struct wire_wait){ .what = 3 });
	assert_int_equal(s->owner, 0);
	assert_int_equal(s->holders, 0);
	assert_int_equal(s->wait_kind, WAIT_FILE_LOCK);
	/* And what is no file cannot be locked. */
	w->object.kind = OBJECT_PIPE;
	assert_int_equal(fill(w, 1000000, SYS_fcntl, (struct wire_wait){ .what = 3 })->wait_kind,
			 WAIT_UNKNOWN);
	close(fd);
}

/* ---- children ---- */

static void sleep_for_ever(int fd, int answers)
{
	(void)fd;
	say_ready(answers);
	pause();
}

static void test_child(void **state)
{
	struct world *w = *state;
	pid_t child = start(w, 0, sleep_for_ever, -1);
	const struct rec_sample *s;

	s = fill(w, 1, SYS_wait4, (struct wire_wait){ .what = (uint32_t)child });
	assert_int_equal(s->owner, child);
	assert_int_equal(s->wait, child);
	assert_int_equal(s->wait_kind, WAIT_CHILD);
	s = fill(w, 1, SYS_waitid, (struct wire_wait){ .what = NO_PID });
	assert_int_equal(s->owner, 0);
	assert_int_equal(s->wait_kind, WAIT_UNKNOWN);
	/* For any child: the only one there is. */
	s = fill(w, 1, SYS_wait4,
		 (struct wire_wait){ .what = (uint64_t)-1, .child = (uint32_t)child });
	assert_int_equal(s->owner, child);
	assert_int_equal(s->wait, 0);
	assert_int_equal(s->wait_kind, WAIT_CHILD);
	s = fill(w, 1, SYS_wait4, (struct wire_wait){ .what = (uint64_t)-1 });
	assert_int_equal(s->wait_kind, WAIT_UNKNOWN);
}

static void test_vfork(void **state)
{
	struct world *w = *state;

	assert_int_equal(fill(w, 1, SYS_clone, (struct wire_wait){ .child = 77 })->owner, 77);
	assert_int_equal(w->out.wait_kind, WAIT_VFORK);
	assert_int_equal(fill(w, 1, SYS_clone3, (struct wire_wait){ 0 })->wait_kind, WAIT_UNKNOWN);
}

/* ---- a PID namespace below ours ---- */

static void *sleep_in_thread(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

/* 1 in its namespace; 2 is a thread of it, 3 a child. */
static void be_init(int fd, int answers)
{
	pthread_t thread;

	(void)fd;
	if (unshare(CLONE_NEWPID)) {
		say_ready(answers);
		_exit(0);
	}
	if (fork())
		pause();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, sleep_in_thread, NULL);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	say_ready(answers);
	pause();
}

static void test_numbers_of_another_namespace(void **state)
{
	struct world *w = *state;
	pid_t outer = start(w, 0, be_init, -1);
	struct proc_status status;
	uint32_t init, owner;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", outer, outer);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%u", &init) != 1) {
		print_message("needs the right to make a PID namespace\n");
		if (f)
			fclose(f);
		skip();
	}
	fclose(f);
	w->head.tgid = init;
	owner = fill(w, 1, SYS_futex, (struct wire_wait){ .owner = 1 })->owner;
	assert_int_equal(owner, init);
	owner = fill(w, 1, SYS_futex, (struct wire_wait){ .owner = 2 })->owner;
	assert_int_not_equal(owner, 2);
	assert_int_equal(procfs_status((pid_t)owner, &status), 0);
	assert_int_equal(status.tgid, init);
	assert_int_equal(status.ns_tid, 2);
	/* Our own number means nothing there. */
	assert_int_equal(fill(w, 1, SYS_futex, (struct wire_wait){ .owner = init })->owner, 0);
	owner = fill(w, 1, SYS_wait4, (struct wire_wait){ .what = 3 })->owner;
	assert_int_equal(procfs_status((pid_t)owner, &status), 0);
	assert_int_equal(status.ns_tgid, 3);
	assert_int_equal(w->out.wait, 3);
	kill((pid_t)init, SIGKILL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_row_without_a_wait),
		T(test_since_when),
		T(test_owner_that_the_walk_read),
		T(test_answers_of_a_scan),
		T(test_memory_is_not_read),
		T(test_objects),
		T(test_poll),
		T(test_file_lock),
		T(test_child),
		T(test_vfork),
		T(test_numbers_of_another_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
