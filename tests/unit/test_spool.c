/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder of windows: limits, leftovers, and kills at each system call. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/agent/spool.h"
#include "src/agent/spool_names.h"
#include "src/base/clock.h"
#include "tests/unit/fast_folder.h"
#include "tests/unit/kill_points.h"
#include "tests/unit/made_windows.h"
#include "tests/unit/stderr_text.h"

#define NOW (1764000000 * NSEC_PER_SEC)
#define WINDOW (IDENT_SIZE + 2 * MADE_CHUNK)

static char base[FAST_FOLDER_MAX];
static char folder[96];

static int setup(void **state)
{
	(void)state;
	if (fast_folder("spool", base))
		return -1;
	snprintf(folder, sizeof(folder), "%s/s", base);
	return 0;
}

static void empty_folder(void)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

static int teardown(void **state)
{
	(void)state;
	empty_folder();
	rmdir(folder);
	return rmdir(base);
}

static struct spool *open_spool(uint64_t limit, uint64_t keep_ns)
{
	struct spool_options o = { folder, limit, keep_ns };
	struct spool *s;

	assert_int_equal(spool_open(&o, &s), 0);
	return s;
}

static int write_window(struct spool *s, uint32_t number)
{
	uint8_t bytes[WINDOW];
	int err = spool_begin(s, NOW + number * NSEC_PER_SEC);

	if (!err)
		err = spool_append(s, bytes, made_ident(bytes, number), false);
	for (uint32_t i = 0; i < 2 && !err; i++)
		err = spool_append(s, bytes, made_chunk(bytes, number, i), true);
	return err ? err : spool_finish(s);
}

/* "1 2 5": the numbers of complete windows. */
static const char *numbers(void)
{
	static char text[512];
	int dir = open(folder, O_RDONLY | O_DIRECTORY);
	char name[SPOOL_NAME_MAX];
	uint64_t seq = 0;
	size_t n = 0;

	text[0] = 0;
	while (spool_find(dir, seq + 1, &seq, name) == 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", n ? " " : "", (int)seq);
	close(dir);
	return text;
}

static void test_names(void **state)
{
	char name[SPOOL_NAME_MAX], whole[SPOOL_NAME_MAX];
	uint64_t seq;

	(void)state;
	spool_name(name, 42, NOW, false);
	assert_string_equal(name, "000000000042.20251124T160000Z.open");
	spool_name_complete(name, whole);
	assert_string_equal(whole, "000000000042.20251124T160000Z.pbz");
	assert_int_equal(spool_name_parse(name, &seq), SPOOL_NAME_OPEN);
	assert_int_equal(seq, 42);
	assert_int_equal(spool_name_parse(whole, &seq), SPOOL_NAME_WHOLE);
	assert_int_equal(seq, 42);
	assert_int_equal(spool_name_parse("000000000000.x.pbz", &seq), SPOOL_NAME_OTHER);
	assert_int_equal(spool_name_parse("00000000042.x.pbz", &seq), SPOOL_NAME_OTHER);
	assert_int_equal(spool_name_parse("000000000042.x.pbz.bad", &seq), SPOOL_NAME_OTHER);
	assert_int_equal(spool_name_parse("spool.state", &seq), SPOOL_NAME_OTHER);
	assert_int_equal(spool_name_parse("", &seq), SPOOL_NAME_OTHER);
}

static void test_windows_are_kept_in_order(void **state)
{
	struct spool *s;

	(void)state;
	empty_folder();
	s = open_spool(1 << 20, 0);
	for (uint32_t i = 1; i <= 12; i++)
		assert_int_equal(write_window(s, i), 0);
	assert_string_equal(numbers(), "1 2 3 4 5 6 7 8 9 10 11 12");
	assert_int_equal(spool_counts(s)->recorded, 12);
	assert_int_equal(spool_bytes(s), 12 * WINDOW);
	assert_int_equal(spool_windows(s, 10, NULL), 3);
	spool_close(s);
	s = open_spool(1 << 20, 0);
	assert_int_equal(spool_counts(s)->recorded, 12);
	assert_int_equal(write_window(s, 13), 0);
	assert_int_equal(spool_counts(s)->recorded_seq, 13);
	spool_close(s);
}

static void test_a_window_without_samples_is_none(void **state)
{
	struct spool *s;
	uint8_t bytes[WINDOW];

	(void)state;
	empty_folder();
	s = open_spool(1 << 20, 0);
	assert_int_equal(spool_begin(s, NOW), 0);
	assert_int_equal(spool_append(s, bytes, made_ident(bytes, 1), false), 0);
	assert_int_equal(spool_finish(s), 0);
	assert_string_equal(numbers(), "");
	assert_true(spool_counts(s)->empty == 1 && spool_counts(s)->recorded == 0);
	spool_close(s);
}

/* What was sent goes when it is old enough; what was not only when there is no room. */
static void test_what_is_removed(void **state)
{
	struct spool_range busy = { 1, 2 };
	uint64_t now = clock_ns(CLOCK_REALTIME);
	struct spool_use use = { .sent_below = 4, .busy = &busy, .nr_busy = 1 };
	struct spool *s;

	(void)state;
	empty_folder();
	s = open_spool(1 << 20, 3600 * NSEC_PER_SEC);
	for (uint32_t i = 1; i <= 6; i++)
		assert_int_equal(write_window(s, i), 0);
	spool_trim(s, &use, now + 3000 * NSEC_PER_SEC);
	assert_string_equal(numbers(), "1 2 3 4 5 6");
	busy = (struct spool_range){ 0, 0 };
	spool_trim(s, &use, now + 4000 * NSEC_PER_SEC);
	assert_string_equal(numbers(), "4 5 6");
	assert_true(spool_counts(s)->deleted == 3 && spool_counts(s)->dropped == 0);
	/* Room for two: 4 is being sent. */
	busy = (struct spool_range){ 4, 4 };
	spool_set_options(s, &(struct spool_options){ folder, 2 * WINDOW, 0 });
	spool_trim(s, &use, now);
	assert_string_equal(numbers(), "4 6");
	assert_true(spool_counts(s)->deleted == 3 && spool_counts(s)->dropped == 1);
	spool_close(s);
	s = open_spool(1 << 20, 0);
	assert_true(spool_counts(s)->deleted == 3 && spool_counts(s)->dropped == 1);
	assert_true(spool_counts(s)->recorded == 6);
	spool_close(s);
}

/* An open window, cut at each byte: its whole chunks become a window. */
static void test_what_a_kill_leaves_of_an_open_window(void **state)
{
	uint8_t bytes[WINDOW];
	size_t n = made_ident(bytes, 1);
	struct stat st;

	(void)state;
	n += made_chunk(bytes + n, 1, 0);
	n += made_chunk(bytes + n, 1, 1);
	for (size_t cut = 0; cut <= n; cut++) {
		char name[SPOOL_NAME_MAX], path[192];
		size_t chunks = cut < IDENT_SIZE ? 0 : (cut - IDENT_SIZE) / MADE_CHUNK;
		struct spool *s;
		int fd;

		empty_folder();
		mkdir(folder, 0700);
		spool_name(name, 7, NOW, false);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		assert_int_equal(write(fd, bytes, cut), (ssize_t)cut);
		close(fd);
		s = open_spool(1 << 20, 0);
		assert_string_equal(numbers(), chunks ? "7" : "");
		assert_int_equal(spool_counts(s)->recovered, chunks ? 1 : 0);
		assert_int_equal(spool_counts(s)->empty, chunks ? 0 : 1);
		assert_int_equal(spool_counts(s)->next_seq, 8);
		spool_name_complete(name, path);
		if (chunks) {
			assert_int_equal(fstatat(spool_dir(s), path, &st, 0), 0);
			assert_int_equal(st.st_size, IDENT_SIZE + chunks * MADE_CHUNK);
		}
		spool_close(s);
	}
}

static void test_one_agent_at_a_time(void **state)
{
	struct spool_options o = { folder, 1 << 20, 0 };
	struct spool *s, *other;

	(void)state;
	empty_folder();
	s = open_spool(1 << 20, 0);
	stderr_begin();
	assert_int_equal(spool_open(&o, &other), -EBUSY);
	assert_non_null(strstr(stderr_end(), "another probee agent"));
	spool_close(s);
}

/* ---- kills ---- */

struct told {
	uint64_t finished;		/* windows for which spool_finish() has returned */
};

/* Five windows where there is room for three; all that is below 2 was sent. */
static void live(void *ctx)
{
	static struct spool_use use = { .sent_below = 2 };
	struct spool_options o = { folder, 3 * WINDOW, 3600 * NSEC_PER_SEC };
	struct told *told = ctx;
	struct spool *s;

	if (spool_open(&o, &s))
		_exit(1);
	for (uint32_t i = 1; i <= 5; i++) {
		if (write_window(s, i))
			_exit(1);
		told->finished = i;
		spool_trim(s, &use, clock_ns(CLOCK_REALTIME));
	}
	spool_close(s);
}

static size_t nr_windows(void)
{
	size_t nr = 0;

	for (const char *p = numbers(); *p; p += strcspn(p, " "), p += strspn(p, " "))
		nr++;
	return nr;
}

/* Every number that was given is counted once, and all that was complete is there or was removed. */
static void check_what_is_left(unsigned n, const struct told *told)
{
	struct spool *s = open_spool(1 << 20, 0);
	const struct spool_counts *c = spool_counts(s);

	if (c->recorded + c->empty + c->lost != c->next_seq - 1 || c->lost ||
	    c->recorded < told->finished || c->recorded > told->finished + 1 ||
	    c->recorded != nr_windows() + c->dropped + c->deleted || c->deleted > 1 ||
	    c->dropped > 1 || c->bytes > c->recorded * WINDOW)
		fail_msg("killed at call %u, after %d windows: recorded %d, empty %d, lost %d, "
			 "dropped %d, deleted %d, next %d; there: %s", n, (int)told->finished,
			 (int)c->recorded, (int)c->empty, (int)c->lost, (int)c->dropped,
			 (int)c->deleted, (int)c->next_seq, numbers());
	spool_close(s);
}

static void test_killed_at_each_call(void **state)
{
	struct told *told =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned n;

	(void)state;
	for (n = 1;; n++) {
		empty_folder();
		told->finished = 0;
		if (!kill_at_call(n, live, told))
			break;
		check_what_is_left(n, told);
	}
	assert_true(n > 100);
	assert_string_equal(numbers(), "3 4 5");
	munmap(told, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_windows_are_kept_in_order),
		cmocka_unit_test(test_a_window_without_samples_is_none),
		cmocka_unit_test(test_what_is_removed),
		cmocka_unit_test(test_what_a_kill_leaves_of_an_open_window),
		cmocka_unit_test(test_one_agent_at_a_time),
		cmocka_unit_test(test_killed_at_each_call),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
