/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks over all tasks, from what readers deliver, which may hang, or give damaged rows. */
#include <errno.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/capture/collectors/left_readers.h"
#include "src/capture/collectors/task_reader.h"
#include "src/capture/collectors/task_snapshot.h"
#include "tests/unit/fake_bpf.h"
#include "tests/unit/stderr_text.h"

#define HANGS -ETIMEDOUT
#define DIES -ECHILD
#define MAX_WALKS 80

struct wire {
	struct wire_sample head;
	uint64_t frames[2];
};

/* What one reader delivers in one walk: so many rows in so many pieces, then how it ends. */
struct script {
	uint32_t first_tid, nr;
	size_t piece;			/* bytes at a time; 0: all at once */
	long end;			/* 0, or -errno */
	const char *tail;		/* bytes behind the rows */
	uint8_t unwind_end;		/* of the rows; 0: UNWIND_ROOT */
	bool is_dead;			/* it died before this walk */
	uint32_t at;			/* scan_place.tid behind its rows; 0: as it was */
};

struct world {
	struct task_snapshot *ts;
	struct task_snapshot_options opts;
	struct script script[MAX_WALKS];
	struct reader_scope scopes[MAX_WALKS];
	size_t nr_walks;		/* so many have begun */
	unsigned nr_readers, nr_closed;
	uint8_t bytes[4096];
	size_t have, at;
	uint32_t tids[64];		/* rows handed out */
	size_t nr;
	int err;			/* what their taker answers */
	char said[512];
	unsigned nr_said;
	pid_t left[SCAN_SLOTS];		/* readers that hang */
	size_t nr_left;
};

static struct world *world;

/* ---- the reader ---- */

int task_reader_open(const struct task_reader_deps *deps, struct task_reader **rp)
{
	assert_int_equal(deps->prog_fd, 79);
	assert_ptr_equal(deps->place, &fake.place);
	fake.place.reader = ++world->nr_readers;
	*rp = (struct task_reader *)world;
	return 0;
}

void task_reader_close(struct task_reader *r)
{
	world->nr_closed += r != NULL;
}

void task_reader_bury(struct task_reader *r)
{
	task_reader_close(r);
}

bool task_reader_was_stopped(const struct task_reader *r)
{
	(void)r;
	return false;
}

static void put_row(struct world *w, uint32_t tid, uint8_t end)
{
	struct wire row = {
		.head = { .tid = tid, .tgid = tid, .nr_user = 1, .nr_kernel = 1,
			  .end = end ? end : UNWIND_ROOT, .cpu = 1 },
	};

	memcpy(w->bytes + w->have, &row, sizeof(row));
	w->have += sizeof(row);
}

int task_reader_begin(struct task_reader *r, const struct reader_scope *scope)
{
	struct world *w = (struct world *)r;
	const struct script *s = &w->script[w->nr_walks];

	assert_true(w->nr_walks < MAX_WALKS);
	w->scopes[w->nr_walks++] = *scope;
	w->have = w->at = 0;
	if (s->is_dead)
		return DIES;
	for (uint32_t i = 0; i < s->nr; i++)
		put_row(w, s->first_tid + i, s->unwind_end);
	if (s->tail) {
		memcpy(w->bytes + w->have, s->tail, strlen(s->tail));
		w->have += strlen(s->tail);
	}
	return 0;
}

long task_reader_next(struct task_reader *r, void *buf, size_t size)
{
	struct world *w = (struct world *)r;
	const struct script *s = &w->script[w->nr_walks - 1];
	size_t n = w->have - w->at;

	assert_true(size >= TASK_READER_BYTES);
	if (!n) {
		if (s->at) {
			fake.place.tid = s->at;
			fake.place.visits++;
		}
		return s->end;
	}
	if (s->piece && n > s->piece)
		n = s->piece;
	memcpy(buf, w->bytes + w->at, n);
	w->at += n;
	return (long)n;
}

void task_reader_waits_in(const struct task_reader *r, char *buf, size_t size)
{
	(void)r;
	snprintf(buf, size, "folio_wait_bit");
}

/* A child of this test stands for the reader that hangs: it ends when the test says so. */
pid_t task_reader_pid(const struct task_reader *r)
{
	pid_t pid = fork();

	(void)r;
	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0 && world->nr_left < SCAN_SLOTS);
	world->left[world->nr_left++] = pid;
	return pid;
}

static void returns(pid_t pid)
{
	siginfo_t ended;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
}

uint64_t task_reader_cpu_ns(const struct task_reader *r)
{
	(void)r;
	return 1000;
}

/* ---- */

static void say(void *ctx, const char *text)
{
	struct world *w = ctx;

	snprintf(w->said, sizeof(w->said), "%s", text);
	w->nr_said++;
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = world = w;
	fake = (struct fake_bpf){ 0 };
	w->opts = (struct task_snapshot_options){ .say = say, .ctx = w };
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	task_snapshot_close(w->ts);
	assert_int_equal(w->nr_closed, w->nr_readers);
	for (size_t i = 0; i < w->nr_left; i++) {
		kill(w->left[i], SIGKILL);
		waitpid(w->left[i], NULL, 0);
	}
	test_free(w);
	return 0;
}

static int on_row(void *ctx, const struct wire_stack *s)
{
	struct world *w = ctx;

	w->tids[w->nr++ % 64] = s->head->tid;
	return w->err;
}

static int scan(struct world *w, struct rec_scan *receipt)
{
	if (!w->ts)
		assert_int_equal(task_snapshot_open(NULL, &w->opts, &w->ts), 0);
	*receipt = (struct rec_scan){ .scan = 7 };
	w->nr = 0;
	return task_snapshot_scan(w->ts, on_row, w, receipt);
}

/* Rows 1, 2, ... as they came. */
static void assert_rows(const struct world *w, uint32_t nr)
{
	assert_int_equal(w->nr, nr);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(w->tids[i], i + 1);
}

/* ---- rows ---- */

static void test_rows_in_pieces(void **state)
{
	static const size_t pieces[] = { 0, 1, 7, sizeof(struct wire), sizeof(struct wire) + 1 };
	struct world *w = *state;
	struct rec_scan r;

	for (size_t i = 0; i < 5; i++) {
		w->script[i] = (struct script){ .first_tid = 1, .nr = 9, .piece = pieces[i] };
		assert_int_equal(scan(w, &r), 0);
		assert_rows(w, 9);
		assert_int_equal(r.rows, 9);
		assert_int_equal(r.scan, 7);
	}
	assert_int_equal(task_snapshot_bad_records(w->ts), 0);
	assert_int_equal(w->scopes[0].only_pid, 0);
	assert_int_equal(w->scopes[0].only_tid, 0);
}

static void test_receipt(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	assert_int_equal(scan(w, &r), 0);
	assert_int_not_equal(r.time_ns, 0);
	assert_int_equal(r.time_ns, fake.control.begin_ns);
	assert_int_equal(r.rows, 0);
	assert_int_equal(task_snapshot_cpu_ns(w->ts), 1000);
}

/* What cannot be told apart is counted, and costs what came with it. */
static void test_damaged_rows(void **state)
{
	static const char bad[sizeof(struct wire_sample) + 1] =
		"################################################################";
	struct world *w = *state;
	struct rec_scan r;

	w->script[0] = (struct script){ .first_tid = 1, .nr = 2, .tail = bad };
	w->script[1] = (struct script){ .first_tid = 1, .nr = 3, .tail = "cut off" };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 2);
	assert_int_equal(task_snapshot_bad_records(w->ts), 1);
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 3);
	assert_int_equal(task_snapshot_bad_records(w->ts), 2);
}

static void test_error_of_the_taker(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->script[0] = (struct script){ .first_tid = 1, .nr = 3 };
	w->err = -EPIPE;
	assert_int_equal(scan(w, &r), -EPIPE);
	assert_int_equal(w->nr, 1);
}

static void test_error_of_the_reader(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->script[0] = (struct script){ .first_tid = 1, .nr = 3, .end = -EIO };
	assert_int_equal(scan(w, &r), -EIO);
}

/* ---- readers that hang ---- */

/* Another one delivers what is missing, and nothing twice. */
static void test_reader_hangs(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->script[0] = (struct script){ .first_tid = 1, .nr = 3, .end = HANGS };
	w->script[1] = (struct script){ .first_tid = 2, .nr = 4 };	/* the first has ended */
	fake.place = (struct scan_place){ .tgid = 42, .tid = 43, .comm = "dead server" };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 5);
	assert_int_equal(r.rows, 5);
	assert_int_equal(r.hung, 1);
	assert_int_equal(fake.nr_hung, 1);
	assert_int_equal(fake.hung[0], 42);
	assert_int_equal(fake.control.given_up, 1);
	assert_int_equal(fake.control.slot, 1);
	assert_false(fake.control.no_reads);
	assert_true(fake.control.all_anew);
	assert_int_equal(w->nr_said, 1);
	assert_non_null(strstr(w->said, "process 42 (dead server)"));
	assert_non_null(strstr(w->said, "thread 43 hangs in folio_wait_bit"));
	assert_int_equal(task_snapshot_cpu_ns(w->ts), 2000);
	/* The next walk is as any other. */
	w->script[2] = (struct script){ .first_tid = 1, .nr = 2 };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 2);
	assert_int_equal(r.hung, 0);
	assert_false(fake.control.all_anew);
}

/* A page that came late: its reader's scratch is free again, and the process is read again, once. */
static void test_reader_returns(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->script[0] = (struct script){ .first_tid = 1, .nr = 1, .end = HANGS };
	fake.place = (struct scan_place){ .tgid = 42, .tid = 43, .uid = 1000 };
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(fake.control.slot, 1);
	assert_non_null(strstr(w->said, "until that ends"));
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(fake.control.slot, 1);
	assert_int_equal(fake.nr_again, 0);
	returns(w->left[0]);
	w->script[3] = (struct script){ .first_tid = 1, .nr = 1, .end = HANGS };
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(fake.nr_again, 1);
	assert_int_equal(fake.again[0], 42);
	assert_int_equal(fake.control.slot, 1);
	assert_non_null(strstr(w->said, "from here on"));
	returns(w->left[1]);
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(fake.control.slot, 0);
	assert_int_equal(fake.nr_again, 1);
	assert_int_equal(w->nr_left, 2);
}

/* A user in half of whose processes readers hang is left alone, until one of them returns. */
static void test_readers_hang_by_user(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	for (uint32_t i = 0; i < LEFT_OF_USER; i++) {
		w->script[w->nr_walks] = (struct script){ .first_tid = 1, .nr = 1, .end = HANGS };
		fake.place = (struct scan_place){ .tgid = 42 + i, .uid = 1000 };
		assert_int_equal(scan(w, &r), 0);
		assert_int_equal(fake.control.hung_users, i + 1 == LEFT_OF_USER);
	}
	assert_int_equal(fake.nr_hung, LEFT_OF_USER + 1);
	assert_true(fake.hung[LEFT_OF_USER] == (HUNG_USER | 1000));
	assert_non_null(strstr(w->said, "user 1000: readers hang in 4 processes"));
	assert_false(fake.control.no_reads);
	returns(w->left[0]);
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(fake.control.hung_users, 0);
	assert_int_equal(fake.nr_again, 2);
	assert_int_equal(fake.again[0], 42);
	assert_true(fake.again[1] == (HUNG_USER | 1000));
}

/* The last one reads nobody's memory; when that hangs, it is not the memory. */
static void test_all_readers_hang(void **state)
{
	struct world *w = *state;
	struct rec_scan r;
	int err;

	for (int i = 0; i < SCAN_SLOTS - 1; i++)
		w->script[i] = (struct script){ .first_tid = 1, .nr = 1, .end = HANGS };
	w->script[SCAN_SLOTS - 1] = (struct script){ .first_tid = 1, .nr = 2 };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 2);
	assert_int_equal(r.hung, SCAN_SLOTS - 1);
	assert_int_equal(fake.control.slot, SCAN_SLOTS - 1);
	assert_true(fake.control.no_reads);
	assert_int_equal(task_snapshot_stats(w->ts)->hung, SCAN_SLOTS - 1);
	w->script[SCAN_SLOTS] = (struct script){ .end = HANGS };
	stderr_begin();
	err = scan(w, &r);
	assert_non_null(strstr(stderr_end(), "readers hang although they read no memory"));
	assert_int_equal(err, -EIO);
	assert_int_equal(w->nr_readers, SCAN_SLOTS);
}

/* ---- readers that are killed ---- */

/* Another one delivers what is missing; nobody's memory is to blame. */
static void test_reader_is_killed(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->script[0] = (struct script){ .first_tid = 1, .nr = 3, .end = DIES, .at = 4 };
	w->script[1] = (struct script){ .first_tid = 1, .nr = 5, .end = DIES, .at = 6 };
	w->script[2] = (struct script){ .first_tid = 1, .nr = 7 };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 7);
	assert_int_equal(r.rows, 7);
	assert_int_equal(r.hung, 0);
	assert_int_equal(fake.nr_hung, 0);
	assert_int_equal(fake.control.slot, 0);
	assert_int_equal(fake.control.given_up, 0);
	assert_true(fake.control.all_anew);
	assert_int_equal(w->nr_said, 1);
	assert_non_null(strstr(w->said, "was killed"));
	assert_int_equal(task_snapshot_stats(w->ts)->killed, 2);
	assert_int_equal(task_snapshot_cpu_ns(w->ts), 3000);
	/* Between two walks: the task that was visited last has nothing to do with it. */
	w->script[3] = (struct script){ .is_dead = true };
	w->script[4] = (struct script){ .is_dead = true };
	w->script[5] = (struct script){ .first_tid = 1, .nr = 2 };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 2);
	assert_int_equal(fake.nr_hung, 0);
	assert_int_equal(w->nr_said, 1);
	assert_int_equal(task_snapshot_stats(w->ts)->killed, 4);
}

/* Twice at the same thread: that is no chance. */
static void test_readers_die_at_one_thread(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	fake.place = (struct scan_place){ .tgid = 42, .comm = "poison" };
	w->script[0] = (struct script){ .first_tid = 1, .nr = 3, .end = DIES, .at = 43 };
	w->script[1] = (struct script){ .first_tid = 1, .nr = 3, .end = DIES, .at = 43 };
	w->script[2] = (struct script){ .first_tid = 1, .nr = 5 };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 5);
	assert_int_equal(fake.nr_hung, 1);
	assert_int_equal(fake.hung[0], 42);
	assert_int_equal(w->nr_said, 2);
	assert_non_null(strstr(w->said, "process 42 (poison): readers die at its thread 43"));
}

static void test_all_readers_are_killed(void **state)
{
	struct world *w = *state;
	struct rec_scan r;
	int err;

	for (uint32_t i = 0; i < MAX_WALKS; i++)
		w->script[i] = (struct script){ .end = DIES, .at = i + 1 };
	stderr_begin();
	err = scan(w, &r);
	assert_non_null(strstr(stderr_end(), "65 readers were killed in one snapshot"));
	assert_int_equal(err, -EIO);
}

/* The user waits for the end: what there is, is all. */
static void test_cut_short(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->opts.ask = true;
	w->script[0] = (struct script){ .first_tid = 1, .nr = 2, .unwind_end = UNWIND_RUNNING,
					.end = -EINTR };
	assert_int_equal(scan(w, &r), -EINTR);
	assert_rows(w, 2);
	assert_int_equal(r.rows, 2);
	assert_int_equal(w->nr_walks, 1);
	/* There is no reader any more. */
	assert_int_equal(scan(w, &r), -EINTR);
	assert_int_equal(w->nr_walks, 1);
}

/* ---- not everybody ---- */

static void set_targets(struct world *w, size_t nr)
{
	w->opts.by_target = true;
	fake.nr_targets = nr;
	for (size_t i = 0; i < nr; i++)
		fake.targets[i] = (uint32_t)(200 - i);
}

static void test_few_targets(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	set_targets(w, 3);
	fake.targets[2] = fake.targets[0];	/* one may come up twice */
	w->script[0] = (struct script){ .first_tid = 1, .nr = 2, .end = 0 };
	w->script[1] = (struct script){ .first_tid = 3, .nr = 2 };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 4);
	assert_int_equal(w->nr_walks, 2);
	assert_int_equal(w->scopes[0].only_pid, 199);
	assert_int_equal(w->scopes[1].only_pid, 200);
	assert_true(w->scopes[0].strictly);
	/* One that has ended does not end the walk. */
	w->script[2] = (struct script){ .end = -ESRCH };
	w->script[3] = (struct script){ .first_tid = 1, .nr = 1 };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 1);
}

static void test_many_targets(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	set_targets(w, 5);
	w->script[0] = (struct script){ .first_tid = 1, .nr = 2 };
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(w->nr_walks, 1);
	assert_int_equal(w->scopes[0].only_pid, 0);
	assert_rows(w, 2);
}

/* Kernels before 6.1: all are visited, and that is not tried again. */
static void test_targets_on_an_old_kernel(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	set_targets(w, 2);
	w->script[0] = (struct script){ .end = -ENOTSUP };
	w->script[1] = (struct script){ .first_tid = 1, .nr = 3 };
	w->script[2] = w->script[1];
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 3);
	assert_int_equal(w->scopes[1].only_pid, 0);
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(w->nr_walks, 3);
	assert_int_equal(w->scopes[2].only_pid, 0);
}

static void test_one_thread(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->opts.only_tid = 5;
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(w->scopes[0].only_tid, 5);
	assert_false(w->scopes[0].strictly);
	/* And one of all, once more. */
	w->script[1] = (struct script){ .first_tid = 1, .nr = 1 };
	assert_int_equal(task_snapshot_again(w->ts, 9, on_row, w), 0);
	assert_rows(w, 1);
	assert_int_equal(w->scopes[1].only_tid, 9);
	assert_true(w->scopes[1].strictly);
}

/* ---- threads on a CPU ---- */

/* A thread that is visited once more has its stack taken on its CPU, if it is on one by then. */
static void test_running_when_visited_again(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->opts.ask = true;
	w->script[0] = (struct script){ .first_tid = 5, .nr = 1 };
	assert_int_equal(scan(w, &r), 0);
	w->script[1] = (struct script){ .first_tid = 5, .nr = 1, .unwind_end = UNWIND_RUNNING };
	w->script[2] = (struct script){ .first_tid = 5, .nr = 1 };	/* it sleeps now */
	assert_int_equal(task_snapshot_again(w->ts, 5, on_row, w), 0);
	assert_int_equal(fake.runs[1], 1);
	assert_int_equal(w->nr_walks, 3);
	assert_int_equal(w->scopes[2].only_tid, 5);
	assert_int_equal(w->nr, 2);		/* that of the scan, and one more */
	/* Who holds the lock of a memory map is not waited for. */
	w->script[3] = (struct script){ .first_tid = 5, .nr = 1, .unwind_end = UNWIND_BUSY };
	assert_int_equal(task_snapshot_again(w->ts, 5, on_row, w), 0);
	assert_int_equal(w->nr_walks, 4);
	assert_int_equal(w->nr, 3);
}

static void test_running_threads(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->opts.ask = true;
	w->script[0] = (struct script){ .first_tid = 1, .nr = 2, .unwind_end = UNWIND_RUNNING };
	w->script[1] = (struct script){ .first_tid = 1, .nr = 1 };	/* the visit of thread 1 */
	w->script[2] = (struct script){ 0 };				/* thread 2 is gone */
	assert_int_equal(scan(w, &r), 0);
	assert_int_equal(fake.runs[1], 1);		/* nobody is asked for that is gone */
	assert_int_equal(w->scopes[1].only_tid, 1);
	assert_int_equal(w->scopes[2].only_tid, 2);
	assert_rows(w, 2);
	assert_int_equal(r.rows, 2);
	assert_int_equal(r.vanished, 1);
	assert_int_equal(r.torn, 1);
}

static void test_running_threads_are_only_marked(void **state)
{
	struct world *w = *state;
	struct rec_scan r;

	w->script[0] = (struct script){ .first_tid = 1, .nr = 2, .unwind_end = UNWIND_RUNNING };
	assert_int_equal(scan(w, &r), 0);
	assert_rows(w, 2);
	assert_int_equal(w->nr_walks, 1);
}

static int misleads(void *ctx, const struct wire_stack *s)
{
	fake.totals = (struct scan_totals){ .misled = 1,
					    .seen = 11,
					    .filtered = 2,
					    .idle_kthreads = 3,
					    .on_cpu = 4,
					    .faulted = 5,
					    .reads = 6 };
	return on_row(ctx, s);
}

/* The kernel's totals are in the receipt, and people are told of what must not be. */
static void test_totals(void **state)
{
	struct world *w = *state;
	struct rec_scan r = { 0 };

	w->script[0] = w->script[1] = (struct script){ .first_tid = 1, .nr = 1 };
	assert_int_equal(task_snapshot_open(NULL, &w->opts, &w->ts), 0);
	assert_int_equal(task_snapshot_scan(w->ts, misleads, w, &r), 0);
	assert_int_equal(r.tasks_seen, 11);
	assert_int_equal(r.filtered, 2);
	assert_int_equal(r.skipped_idle_kthreads, 3);
	assert_int_equal(r.on_cpu, 4);
	assert_int_equal(r.read_faults, 5);
	assert_true(fake.control.no_memo);
	assert_int_equal(w->nr_said, 1);
	assert_int_equal(task_snapshot_scan(w->ts, misleads, w, &r), 0);
	assert_int_equal(w->nr_said, 1);
	assert_int_equal(task_snapshot_stats(w->ts)->faulted, 10);
	assert_int_equal(task_snapshot_stats(w->ts)->reads, 12);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_rows_in_pieces),
		T(test_receipt),
		T(test_damaged_rows),
		T(test_error_of_the_taker),
		T(test_error_of_the_reader),
		T(test_reader_hangs),
		T(test_reader_returns),
		T(test_readers_hang_by_user),
		T(test_all_readers_hang),
		T(test_reader_is_killed),
		T(test_readers_die_at_one_thread),
		T(test_all_readers_are_killed),
		T(test_cut_short),
		T(test_few_targets),
		T(test_many_targets),
		T(test_targets_on_an_old_kernel),
		T(test_one_thread),
		T(test_running_threads),
		T(test_running_when_visited_again),
		T(test_running_threads_are_only_marked),
		T(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
