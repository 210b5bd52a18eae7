/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An agent that is killed again and again, at random instants: the supervisor alone, or all of its
 * processes. PROBEE_KILLS=N: so often (otherwise as often as it can be in some seconds). Its recorder and its receiver are made up, all between them is real. Afterwards all is
 * counted: each number of a window was sent or had nothing in it, each body arrived, and what
 * arrived twice is at most what the agent says may have come twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/agent/spool.h"
#include "src/agent/spool_names.h"
#include "src/agent/supervisor.h"
#include "src/base/clock.h"
#include "tests/unit/fast_folder.h"
#include "tests/unit/made_windows.h"

enum { KILLS_ONCE = 10, LEAST_KILLS = 5, MOST_S = 4, MOST_WINDOWS = 100000, MOST_BODIES = 8, CHUNKS = 3 };

static char base[FAST_FOLDER_MAX];
static char config[96], folder[96], log_path[96];

/* ---- a recorder and a receiver ---- */

static void put(const uint8_t *bytes, size_t len)
{
	if (write(STDOUT_FILENO, bytes, len) != (ssize_t)len)
		_exit(0);
}

/* Windows of some milliseconds, until the supervisor is gone. Some have nothing in them. */
static int record(int argc, char **argv, struct shared_rates *rates)
{
	uint8_t bytes[512];

	(void)argc;
	(void)argv;
	(void)rates;
	for (uint32_t n = 1;; n++) {
		put(bytes, made_ident(bytes, n));
		for (uint32_t i = 0; i < CHUNKS && n % 7; i++) {
			put(bytes, made_chunk(bytes, n, i));
			usleep(20000);
		}
	}
	return 0;
}

static int check_record(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

/* A body is a chunk of a window of the batch. */
static off_t bodies_of(const struct window_batch *b)
{
	struct stat st;
	off_t nr = 0;

	for (size_t i = 0; i < b->nr; i++)
		nr += fstat(b->fds[i], &st) ? 0 : (st.st_size - IDENT_SIZE) / MADE_CHUNK;
	return nr;
}

/* "42 1": chunk 1 of window 42. */
static void line_of(const struct window_batch *b, off_t body, char *line, size_t size)
{
	char link[64], path[256] = "";
	struct stat st;

	for (size_t i = 0; i < b->nr; i++) {
		off_t nr = fstat(b->fds[i], &st) ? 0 : (st.st_size - IDENT_SIZE) / MADE_CHUNK;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", b->fds[i]);
		if (body < nr && readlink(link, path, sizeof(path) - 1) > 0)
			break;
		body -= nr;
	}
	snprintf(line, size, "%llu %d\n", strtoull(strrchr(path, '/') + 1, NULL, 10), (int)body);
}

/* The receiver is a file. A line that was written has arrived, whatever happens then. */
static enum send_outcome send_batch(void *ctx, const struct window_batch *b,
				    struct batch_progress *p, struct send_result *r)
{
	int out = *(int *)ctx;
	char line[128];

	(void)r;
	for (off_t i = (off_t)p->done; i < bodies_of(b); i++) {
		if (p->before(p->ctx))
			return SEND_STOPPED;
		usleep((useconds_t)(rand() % 1000));
		line_of(b, i, line, sizeof(line));
		if (write(out, line, strlen(line)) < 0)
			return SEND_LATER;
		usleep((useconds_t)(rand() % 1000));
		if (p->after(p->ctx, &(struct body_answer){ .bytes = 1, .samples = 1 }))
			return SEND_STOPPED;
	}
	return SEND_DONE;
}

static int open_target(const struct agent_target *t, struct window_sender *w)
{
	static int fd;

	(void)t;
	fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	w->send = send_batch;
	w->ctx = &fd;
	srand((unsigned)getpid());
	return fd < 0 ? -errno : 0;
}

static int check_target(const struct agent_target *t)
{
	(void)t;
	return 0;
}

static const struct agent_hooks hooks = { record, check_record, open_target, check_target };

/* ---- agents ---- */

/* batch: some windows of those that record() makes, or one. */
static void make_config(const char *delivery, const char *batch)
{
	FILE *out;

	snprintf(config, sizeof(config), "%s/conf", base);
	snprintf(folder, sizeof(folder), "%s/%s", base, delivery);
	snprintf(log_path, sizeof(log_path), "%s/%s.log", base, delivery);
	out = fopen(config, "w");
	fprintf(out, "[record]\nwindow = 1s\n[spool]\nfolder = %s\n[target t]\nurl = a://b\n"
		     "batch = %s\ndelivery = %s\n", folder, batch, delivery);
	fclose(out);
}

static pid_t start_agent(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	if (!freopen("/dev/null", "w", stderr))
		_exit(1);
	exit(agent_run(config, &hooks));
}

/* Of the group that is killed all are waited for but those that the supervisor had: they end, too. */
static void kill_agent(pid_t pid, bool all)
{
	kill(all ? -pid : pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	if (!all)
		usleep(20000);
	kill(-pid, SIGKILL);
}

static unsigned long status_number(const char *before)
{
	char path[128], text[4096] = "";
	const char *at;
	FILE *in;

	snprintf(path, sizeof(path), "%s/status", folder);
	in = fopen(path, "r");
	if (in) {
		text[fread(text, 1, sizeof(text) - 1, in)] = 0;
		fclose(in);
	}
	/* Before it is a line that has "wait to be sent". */
	at = strstr(text, "target t: ");
	at = at ? strstr(at, before) : NULL;
	while (at && at > text && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
		at--;
	return at ? strtoul(at, NULL, 10) : 0;
}

static uint64_t newest_window(void)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY);
	char name[SPOOL_NAME_MAX];
	uint64_t seq = 0;

	while (spool_find(dir, seq + 1, &seq, name) == 1)
		;
	close(dir);
	return seq;
}

/* One that ends in good order, once all that was there at its start was sent. */
static void end_in_order(void)
{
	uint64_t newest = newest_window();
	pid_t pid = start_agent();
	int status;

	for (int i = 0; i < 3000; i++) {
		usleep(20000);
		if (status_number(" sent, ") + status_number(" missed, ") >= newest)
			break;
	}
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- what is left ---- */

static uint8_t arrived[MOST_WINDOWS][MOST_BODIES];

struct sums {
	uint64_t windows, bodies, twice, missing, out_of_order;
};

static void read_log(struct sums *sums)
{
	FILE *in = fopen(log_path, "r");
	unsigned long long seq, last = 0;
	char line[128];
	int body;

	memset(arrived, 0, sizeof(arrived));
	while (in && fgets(line, sizeof(line), in)) {
		assert_int_equal(sscanf(line, "%llu %d", &seq, &body), 2);
		assert_true(seq < MOST_WINDOWS && body < MOST_BODIES);
		sums->out_of_order += seq < last;
		last = seq;
		sums->twice += arrived[seq][body] > 0;
		arrived[seq][body] = 1;
	}
	if (in)
		fclose(in);
}

/* All windows that are there, below the one that is to be sent next. */
static void count_missing(uint64_t next_seq, struct sums *sums)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY);
	char name[SPOOL_NAME_MAX];
	uint64_t seq = 0;

	while (spool_find(dir, seq + 1, &seq, name) == 1 && seq < next_seq) {
		struct stat st;

		assert_int_equal(fstatat(dir, name, &st, 0), 0);
		assert_int_equal((st.st_size - IDENT_SIZE) % MADE_CHUNK, 0);
		sums->windows++;
		for (off_t i = 0; i < (st.st_size - IDENT_SIZE) / MADE_CHUNK; i++) {
			sums->bodies++;
			sums->missing += !arrived[seq][i];
		}
	}
	close(dir);
}

static void account(struct sums *sums, uint64_t *left)
{
	struct spool_options o = { folder, 1 << 30, 3600 * NSEC_PER_SEC };
	const struct spool_counts *c;
	struct spool *s;
	uint64_t sent = status_number(" sent, "), missed = status_number(" missed, ");

	assert_int_equal(spool_open(&o, &s), 0);
	c = spool_counts(s);
	assert_int_equal(c->recorded + c->empty + c->lost, c->next_seq - 1);
	assert_true(!c->lost && !c->dropped && !c->deleted);
	assert_int_equal(spool_windows(s, 0, NULL), c->recorded);
	/* What was sent and what was passed over are all numbers from 1 on. */
	*left = spool_windows(s, sent + missed + 1, NULL);
	spool_close(s);
	read_log(sums);
	count_missing(sent + missed + 1, sums);
}

static off_t log_size(void)
{
	struct stat st;

	return stat(log_path, &st) ? 0 : st.st_size;
}

/*
 * Some instant in the life of an agent. On a machine that is busy it takes long to get to its first
 * body, so bodies are waited for and not time; but now and then it is killed while it starts.
 */
static void wait_a_while(void)
{
	off_t until = log_size() + rand() % 400;
	bool is_early = rand() % 8 == 0;

	for (int i = 0; i < (is_early ? rand() % 30 : 700) && log_size() < until; i++)
		usleep(1000);
	usleep((useconds_t)(rand() % 2000));
}

/* As often as PROBEE_KILLS says, or most, or as often as it can be done in MOST_S. */
static int kill_often(int most)
{
	const char *said = getenv("PROBEE_KILLS");
	uint64_t until = now_ns() + MOST_S * NSEC_PER_SEC;
	int i, least = said ? atoi(said) : LEAST_KILLS;

	for (i = 0; i < least || (i < most && now_ns() < until); i++) {
		pid_t pid = start_agent();

		wait_a_while();
		kill_agent(pid, rand() % 2);
	}
	end_in_order();
	return i;
}

static void test_at_least_once(void **state)
{
	struct sums sums = { 0 };
	uint64_t left, maybe_twice;
	int kills;

	(void)state;
	make_config("at-least-once", "1s");
	kills = kill_often(INT_MAX);
	maybe_twice = status_number(" may have come twice");
	account(&sums, &left);
	print_message("%d kills, %d windows, %d bodies sent; %d twice, %d counted; %d left\n",
		      kills, (int)sums.windows, (int)sums.bodies, (int)sums.twice, (int)maybe_twice,
		      (int)left);
	assert_true(sums.windows >= LEAST_KILLS);
	assert_int_equal(sums.missing, 0);
	assert_int_equal(sums.out_of_order, 0);
	assert_true(sums.twice <= maybe_twice && maybe_twice <= (uint64_t)kills + 1);
	assert_int_equal(status_number(" may be lost"), 0);
}

static void test_at_most_once(void **state)
{
	struct sums sums = { 0 };
	uint64_t left, maybe_lost;
	int kills;

	(void)state;
	make_config("at-most-once", "no");
	kills = kill_often(KILLS_ONCE);
	maybe_lost = status_number(" may be lost");
	account(&sums, &left);
	print_message("%d kills, %d windows, %d bodies sent; %d missing, %d counted\n", kills,
		      (int)sums.windows, (int)sums.bodies, (int)sums.missing, (int)maybe_lost);
	assert_int_equal(sums.twice, 0);
	assert_true(sums.missing <= maybe_lost && maybe_lost <= (uint64_t)kills + 1);
	assert_int_equal(status_number(" may have come twice"), 0);
}

static int setup(void **state)
{
	(void)state;
	srand((unsigned)getpid());
	return fast_folder("kills", base);
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", base);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_least_once),
		cmocka_unit_test(test_at_most_once),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
