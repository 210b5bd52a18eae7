/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generated code of other processes that is read for late stacks, and what each may have of it. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/capture/stacks/code_pages.h"
#include "src/capture/stacks/code_shares.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/model/process.h"

#define PAGE 4096

struct world {
	struct worker_pool *pool;
	struct memory_reader *memory;
	struct code_pages *cp;
	struct process p;
	char *code;			/* two pages, shared with the target */
	struct code_wait wait;
	char buf[32];
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));
	pid_t pid;

	*state = w;
	w->code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	strcpy(w->code + PAGE - 4, "over the edge");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	w->p = (struct process){ .tgid = (uint32_t)pid, .serial = 7, .died_ns = TIME_NEVER };
	w->pool = worker_pool_new(1);
	w->memory = memory_reader_new(NULL, NULL);
	return !w->pool || !w->memory || code_pages_new(w->pool, w->memory, &w->cp);
}

static int teardown(void **state)
{
	struct world *w = *state;

	worker_pool_free(w->pool);
	code_pages_free(w->cp);
	memory_reader_free(w->memory);
	kill((pid_t)w->p.tgid, SIGKILL);
	waitpid((pid_t)w->p.tgid, NULL, 0);
	munmap(w->code, 2 * PAGE);
	test_free(w);
	return 0;
}

static int get(struct world *w, const char *at, uint64_t time_ns)
{
	memset(w->buf, 0, sizeof(w->buf));
	return code_pages_get(w->cp, &w->p, (uintptr_t)at, w->buf, 14, time_ns, &w->wait);
}

/* The same, until it is known. */
static int await(struct world *w, const char *at, uint64_t time_ns)
{
	int err = get(w, at, time_ns);

	while (err == -EAGAIN) {
		assert_true(code_wait_lasts(&w->wait));
		worker_wait(w->pool);
		assert_false(code_wait_lasts(&w->wait));
		err = get(w, at, time_ns);
	}
	return err;
}

static void test_waits_and_gets(void **state)
{
	struct world *w = *state;

	assert_int_equal(get(w, w->code + PAGE - 4, now_ns()), -EAGAIN);
	assert_int_equal(await(w, w->code + PAGE - 4, now_ns()), 0);
	assert_string_equal(w->buf, "over the edge");
	assert_false(code_wait_lasts(&(struct code_wait){ 0 }));
	code_pages_free(NULL);
}

/* For a stack that was taken later the page is read again, though not at once. */
static void test_changes(void **state)
{
	struct world *w = *state;
	uint64_t before = now_ns();

	assert_int_equal(await(w, w->code + PAGE - 4, before), 0);
	strcpy(w->code + PAGE - 4, "something new");
	assert_int_equal(await(w, w->code + PAGE - 4, before), 0);
	assert_string_equal(w->buf, "over the edge");
	usleep(300 * 1000);
	assert_int_equal(get(w, w->code + PAGE - 4, before), 0);
	assert_int_equal(await(w, w->code + PAGE - 4, now_ns()), 0);
	assert_string_equal(w->buf, "something new");
}

static void test_not_there(void **state)
{
	struct world *w = *state;

	assert_int_equal(await(w, NULL, now_ns()), -EFAULT);
	assert_int_equal(await(w, w->code, now_ns()), 0);
	w->p.died_ns = now_ns();
	assert_int_equal(get(w, w->code, now_ns()), -EFAULT);
	/* Another process that has this number now is asked anew. */
	w->p = (struct process){ .tgid = w->p.tgid, .serial = 8, .died_ns = TIME_NEVER };
	assert_int_equal(get(w, w->code, now_ns()), -EAGAIN);
}

/* One that asks for more than there is room for leaves room for others. */
static void test_many(void **state)
{
	struct world *w = *state;
	struct process other = w->p;
	unsigned asked = 0;

	for (uintptr_t i = 1; i <= 1000; i++)
		asked += code_pages_get(w->cp, &w->p, i * PAGE, w->buf, 8, now_ns(), &w->wait) ==
			 -EAGAIN;
	assert_true(asked >= 8 && asked <= 64);
	other.serial = 9;
	assert_int_equal(code_pages_get(w->cp, &other, (uintptr_t)w->code, w->buf, 8, now_ns(),
					&w->wait), -EAGAIN);
	worker_wait(w->pool);
	assert_int_equal(code_pages_get(w->cp, &other, (uintptr_t)w->code, w->buf, 8, now_ns(),
					&w->wait), 0);
}

/* What one process has spent, another has not; all together have twice as much. */
static void test_shares(void **state)
{
	struct process p[3] = { { .serial = 1 }, { .serial = 2, .slot = 1 },
				{ .serial = 3, .slot = 2 } };
	struct code_shares s;

	(void)state;
	code_shares_init(&s);
	assert_int_equal(code_share_left(code_share_of(&s, &p[0])), SHARE_TOKENS);
	code_shares_pay(&s, code_share_of(&s, &p[0]), SHARE_TOKENS + 1000);
	assert_int_equal(code_share_left(code_share_of(&s, &p[0])), 0);
	assert_int_equal(code_share_left(code_share_of(&s, &p[1])), SHARE_TOKENS);
	assert_true(code_shares_are_spent(&s));
	/* Its successor by number begins anew. */
	p[0].serial = 4;
	assert_int_equal(code_share_left(code_share_of(&s, &p[0])), SHARE_TOKENS);
	code_shares_release(&s);

	code_shares_init(&s);
	code_shares_pay(&s, code_share_of(&s, &p[2]), SHARE_TOKENS);
	assert_false(code_shares_are_spent(&s));
	usleep(100 * 1000);
	assert_true(code_share_left(code_share_of(&s, &p[2])) >= SHARE_A_SECOND / 20);
	code_shares_release(&s);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_waits_and_gets),
		T(test_changes),
		T(test_not_there),
		T(test_many),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
