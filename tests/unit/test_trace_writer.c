/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_output.h"
#include "formats/trace/trace_reader.h"
#include "tests/unit/record_log.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_fixture.h"

static char dir[] = "/tmp/test_trace_writer.XXXXXX";
static char path[64], old[64], other[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t.pbz", dir);
	snprintf(old, sizeof(old), "%s/t.pbz.old", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(old);
	unlink(other);
	return rmdir(dir);
}

static int remove_files(void **state)
{
	(void)state;
	unlink(path);
	unlink(old);
	unlink(other);
	return 0;
}

/* The records of a file; checks that nothing is wrong with it. */
static void read_back(const char *file, struct record_log *log, struct trace_status *st)
{
	struct trace_reader *r;

	assert_int_equal(trace_reader_open(file, NULL, &r), 0);
	assert_int_equal(record_log_read(log, r), 0);
	*st = *trace_reader_status(r);
	trace_reader_close(r);
	assert_int_equal(st->bad_chunks, 0);
	assert_int_equal(st->skipped_bytes, 0);
	assert_false(st->truncated);
}

static int send_sample(struct trace_writer *w, uint64_t time_ns, uint32_t thread)
{
	const struct record rec = {.tag = REC_SAMPLE,
				   .sample = {.time_ns = time_ns, .thread = thread, .cpu = 0}};

	return trace_writer_record(w, &rec);
}

static void test_fixture_comes_back(void **state)
{
	struct record_log in = { 0 }, out = { 0 };
	struct trace_status st;
	struct stat file;

	(void)state;
	assert_int_equal(trace_fixture_emit(record_log_add, &in), 0);
	assert_int_equal(trace_fixture_write(path), 0);
	read_back(path, &out, &st);
	assert_true(record_log_same(&in, &out));
	assert_true(st.has_end);
	assert_int_equal(st.nr_segments, 1);
	assert_int_equal(st.record_count[REC_SAMPLE], FIX_SAMPLES);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 07777, 0600);
	assert_int_equal(file.st_size, st.file_bytes);
	record_log_release(&in);
	record_log_release(&out);
}

static void test_zstd_accepts_it(void **state)
{
	char cmd[256];

	(void)state;
	if (system("command -v zstd >/dev/null 2>&1")) {
		print_message("no zstd command\n");
		skip();
	}
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(trace_fixture_write(other), 0);
	snprintf(cmd, sizeof(cmd),
		 "zstd -tq %s && cat %s %s | zstd -dcq | grep -c PBC1 | grep -qx 2", path, path,
		 other);
	assert_int_equal(system(cmd), 0);
}

static void write_text(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static bool has_text(const char *file, const char *text)
{
	char got[256] = "";
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(got, 1, sizeof(got) - 1, f) : 0;

	if (f)
		fclose(f);
	return n == strlen(text) && !memcmp(got, text, n);
}

/* An earlier trace is kept as one generation; an empty file is no loss. */
static void test_an_earlier_trace_is_kept(void **state)
{
	struct record_log out = { 0 };
	struct trace_status st;
	struct stat first, second, file;

	(void)state;
	write_text(path, "");
	chmod(path, 0644);
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(stat(old, &file), -1);
	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(first.st_mode & 07777, 0600);
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(stat(path, &second), 0);
	assert_int_not_equal(first.st_ino, second.st_ino);
	assert_int_equal(stat(old, &file), 0);
	assert_int_equal(file.st_ino, first.st_ino);
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(stat(old, &file), 0);
	assert_int_equal(file.st_ino, second.st_ino);
	read_back(path, &out, &st);
	record_log_release(&out);
}

static void refused(int want, const char *why)
{
	const char *said;
	int err;

	stderr_begin();
	err = trace_fixture_write(path);
	said = stderr_end();
	assert_int_equal(err, want);
	assert_non_null(strstr(said, path));
	assert_non_null(strstr(said, why));
	assert_non_null(strstr(said, "Try: "));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

static void test_other_contents_are_not_replaced(void **state)
{
	(void)state;
	write_text(path, "old content");
	refused(-EEXIST, "no probee trace");
	assert_true(has_text(path, "old content"));
	unlink(path);
	assert_int_equal(trace_fixture_write(path), 0);
	write_text(old, "somebody's");
	refused(-EEXIST, "no trace");
	assert_true(has_text(old, "somebody's"));
}

static void test_a_trace_that_is_being_written_is_not_replaced(void **state)
{
	struct trace_writer *w;

	(void)state;
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	assert_int_equal(trace_fixture_emit(trace_writer_record, w), 0);
	assert_int_equal(trace_writer_flush(w), 0);
	refused(-EBUSY, "another recording");
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_fixture_write(path), 0);
}

static int count_files(void)
{
	DIR *d = opendir(dir);
	int n = -2;		/* . and .. */

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_nothing_is_left_of_what_did_not_begin(void **state)
{
	struct trace_writer *w;

	(void)state;
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	assert_int_equal(trace_fixture_emit(trace_writer_record, w), 0);
	assert_int_equal(count_files(), 2);
	trace_writer_abandon(w);
	assert_int_equal(count_files(), 1);
}

/* A reader can tell whether the recorder of a trace still runs, also when it was killed. */
static void test_a_reader_sees_that_it_is_open(void **state)
{
	struct trace_writer *w;
	int fd, fds[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	assert_int_equal(trace_fixture_emit(trace_writer_record, w), 0);
	assert_int_equal(open(path, O_RDONLY), -1);
	assert_int_equal(trace_writer_flush(w), 0);
	fd = open(path, O_RDONLY);
	assert_true(trace_output_is_open(fd));
	assert_int_equal(trace_writer_close(w), 0);
	assert_false(trace_output_is_open(fd));
	close(fd);

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		if (trace_writer_open(path, NULL, &w) || trace_fixture_emit(trace_writer_record, w) ||
		    trace_writer_flush(w) || write(fds[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	fd = open(path, O_RDONLY);
	assert_true(trace_output_is_open(fd));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(trace_output_is_open(fd));
	close(fd);
	close(fds[0]);
	close(fds[1]);
}

static void test_no_link_is_followed(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(symlink(other, path), 0);
	refused(-ELOOP, "is a symbolic link");
	assert_int_equal(lstat(other, &st), -1);
	assert_int_equal(trace_fixture_write(other), 0);
	refused(-ELOOP, "is a symbolic link");
}

static void test_owner_is_the_user_behind_sudo(void **state)
{
	struct stat st;

	(void)state;
	if (geteuid() != 0) {
		print_message("needs root\n");
		skip();
	}
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12346", 1);
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 12346);
	assert_int_equal(chown(path, 54321, 54321), 0);
	refused(-EEXIST, "belongs to another user (uid 54321)");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 54321);
	setenv("SUDO_UID", "-1", 1);
	unlink(path);
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static void test_what_cannot_be_opened(void **state)
{
	struct trace_writer *w;
	int err;

	(void)state;
	stderr_begin();
	err = trace_writer_open(dir, NULL, &w);
	assert_non_null(strstr(stderr_end(), dir));
	assert_int_equal(err, -EISDIR);
	assert_null(w);
	stderr_begin();
	err = trace_writer_open("/tmp/no/such/dir/t.pbz", NULL, &w);
	assert_int_equal(err, -ENOENT);
	assert_non_null(
		strstr(stderr_end(), "create /tmp/no/such/dir/t.pbz: No such file or directory"));
	assert_int_equal(trace_writer_close(NULL), 0);
}

/* Enough of everything for several chunks; every hundredth sample is late. */
static void write_many(struct trace_writer *w, uint32_t n, int *err)
{
	uint32_t noise = 1;

	trace_fixture_emit(trace_writer_record, w);
	for (uint32_t i = 0; i < n && !*err; i++) {
		noise = noise * 1664525 + 1013904223;
		*err = send_sample(w, FIX_T0 + 1000ull * i + noise % 1000 - (i % 100 ? 0 : 5000),
				   1 + i % 3);
	}
}

static void test_chunks_are_small_and_sorted(void **state)
{
	enum { MANY = 200000 };
	struct trace_writer_stats stats;
	struct trace_status st;
	struct trace_reader *r;
	struct trace_writer *w;
	struct record rec;
	uint64_t last = 0, backwards = 0, samples = 0;
	int err = 0;

	(void)state;
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	write_many(w, MANY, &err);
	assert_int_equal(err, 0);
	assert_int_equal(trace_writer_flush(w), 0);
	trace_writer_stats(w, &stats);
	assert_int_equal(trace_writer_close(w), 0);
	assert_true(stats.chunks > 5);
	assert_true(stats.raw_bytes / stats.chunks < CHUNK_TARGET + 4096);
	assert_int_equal(stats.samples, MANY + FIX_SAMPLES);
	assert_int_equal(trace_reader_open(path, NULL, &r), 0);
	while (trace_reader_next(r, &rec) > 0) {
		if (rec.tag != REC_SAMPLE)
			continue;
		samples++;
		backwards += rec.sample.time_ns < last;
		last = rec.sample.time_ns;
	}
	st = *trace_reader_status(r);
	trace_reader_close(r);
	assert_int_equal(samples, stats.samples);
	assert_true(backwards < stats.chunks);		/* only from one chunk to the next */
	assert_int_equal(st.chunks, stats.chunks);
	assert_int_equal(st.raw_bytes, stats.raw_bytes);
	assert_int_equal(st.file_bytes, stats.file_bytes);
}

static void test_same_times_keep_their_order(void **state)
{
	static const uint32_t order[] = { 3, 1, 2, 2, 1, 3 };
	struct record_log out = { 0 };
	struct trace_status st;
	struct trace_writer *w;
	struct trace_reader *r;
	struct record rec;
	size_t i = 0;

	(void)state;
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	trace_fixture_emit(trace_writer_record, w);
	trace_writer_flush(w);
	for (size_t k = 0; k < 6; k++)
		assert_int_equal(send_sample(w, FIX_T0 + 7000, order[k]), 0);
	assert_int_equal(send_sample(w, FIX_T0, 1), 0);
	assert_int_equal(trace_writer_close(w), 0);
	read_back(path, &out, &st);
	record_log_release(&out);
	assert_int_equal(trace_reader_open(path, NULL, &r), 0);
	while (trace_reader_next(r, &rec) > 0)
		if (rec.tag == REC_SAMPLE && rec.sample.time_ns == FIX_T0 + 7000)
			assert_int_equal(rec.sample.thread, order[i++]);
	trace_reader_close(r);
	assert_int_equal(i, 6);
}

/*
 * Ids may leave holes (a copy of a damaged trace has them) but never go back; references only go
 * back.
 */
static void test_our_own_mistakes_are_caught(void **state)
{
	static const struct rec_run of_nobody = { 0, 1 }, of_new = { 3, 2 }, of_none = { 1, 0 }, twice[] = { { 1, 2 }, { 2, 1 } },
				    one = { 1, 1 };
	static const struct record bad[] = {
		{ .tag = REC_REPEAT, .repeat = { FIX_T0, 2, &of_nobody, 1 } },
		{ .tag = REC_REPEAT, .repeat = { FIX_T0, 2, &of_new, 1 } },
		{ .tag = REC_REPEAT, .repeat = { FIX_T0, 2, &of_none, 1 } },
		{ .tag = REC_REPEAT, .repeat = { FIX_T0, 2, twice, 2 } },
		{ .tag = REC_REPEAT, .repeat = { FIX_T0, 0, &one, 1 } },
		{ .tag = REC_STRING, .string = { FIX_STRINGS - 1, "again", 5 } },
		{ .tag = REC_STRING, .string = { 0, "zero", 4 } },
		{ .tag = REC_STRING, .string = { FIX_STRINGS + 1002 + MAX_ID_GAP, "far", 3 } },
		{ .tag = REC_NODE, .node = { 12, 12, 1 } },
		{ .tag = REC_NODE, .node = { 12, 1, 11 } },
		{ .tag = REC_SAMPLE, .sample = { .thread = 4 } },
		{ .tag = REC_SAMPLE, .sample = { .ustack = 12 } },
		{ .tag = REC_TASKEV, .taskev = { 0, TASK_COMM, 1, FIX_STRINGS + 1001 } },
		{ .tag = REC_META, .meta = { "", "x", 1 } },
	};
	static const struct record hole = {.tag = REC_STRING,
					   .string = {FIX_STRINGS + 1000, "x", 1}};
	struct trace_writer *w;
	int err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(trace_writer_open(path, NULL, &w), 0);
		assert_int_equal(trace_fixture_emit(trace_writer_record, w), 0);
		assert_int_equal(trace_writer_record(w, &hole), 0);
		stderr_begin();
		err = trace_writer_record(w, &bad[i]);
		assert_non_null(strstr(stderr_end(), record_name(bad[i].tag)));
		assert_int_equal(err, -EINVAL);
		assert_int_equal(trace_writer_record(w, &hole), -EINVAL);	/* silent now */
		assert_int_equal(trace_writer_close(w), -EINVAL);
	}
}

static void test_full_device(void **state)
{
	struct trace_writer *w;
	const char *said;
	int err;

	(void)state;
	stderr_begin();
	err = trace_writer_open("/dev/full", NULL, &w);
	said = stderr_end();
	assert_int_equal(err, -ENOSPC);
	assert_string_equal(said, "probee: write /dev/full: No space left on device\n");
	assert_null(w);
}

/* The file is cut back to whole frames, one line says so, and all later calls say the same. */
static void test_full_disk_keeps_whole_frames(void **state)
{
	struct rlimit before, small;
	struct record_log out = { 0 };
	struct trace_status st;
	struct trace_writer *w;
	int err = 0, again, closed;
	const char *said, *line_end;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ 150000, before.rlim_max };
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	stderr_begin();
	setrlimit(RLIMIT_FSIZE, &small);
	write_many(w, 300000, &err);
	again = send_sample(w, FIX_T0, 1);
	closed = trace_writer_close(w);
	setrlimit(RLIMIT_FSIZE, &before);
	said = stderr_end();
	assert_int_equal(err, -EFBIG);
	assert_int_equal(again, -EFBIG);
	assert_int_equal(closed, -EFBIG);
	line_end = strchr(said, '\n');
	assert_non_null(strstr(said, "kept "));
	assert_true(line_end && !line_end[1]);
	read_back(path, &out, &st);
	assert_true(st.chunks > 0 && st.file_bytes < 150000);
	assert_true(st.record_count[REC_SAMPLE] > 1000);
	record_log_release(&out);
}

/* Runs body with fd as standard output. */
static int with_stdout(int fd, int (*body)(void))
{
	int saved = dup(STDOUT_FILENO), rc;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	rc = body();
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return rc;
}

static int write_fixture_to_stdout(void)
{
	return trace_fixture_write("-");
}

static void test_standard_output(void **state)
{
	struct record_log in = { 0 }, out = { 0 };
	struct trace_status st;
	struct trace_reader *r;
	uint8_t buf[8192];
	int ends[2], fd;
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(with_stdout(ends[1], write_fixture_to_stdout), 0);
	close(ends[1]);
	n = read(ends[0], buf, sizeof(buf));
	close(ends[0]);
	trace_fixture_emit(record_log_add, &in);
	assert_int_equal(trace_reader_open_memory(buf, (size_t)n, NULL, &r), 0);
	assert_int_equal(record_log_read(&out, r), 0);
	trace_reader_close(r);
	assert_true(record_log_same(&in, &out));
	record_log_release(&out);

	/* Appending is concatenation. */
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	assert_int_equal(with_stdout(fd, write_fixture_to_stdout), 0);
	assert_int_equal(with_stdout(fd, write_fixture_to_stdout), 0);
	close(fd);
	read_back(path, &out, &st);
	assert_int_equal(st.nr_segments, 2);
	assert_int_equal(out.nr, 2 * in.nr);
	record_log_release(&in);
	record_log_release(&out);
}

static void test_closed_pipe_is_silent(void **state)
{
	int ends[2], err;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	stderr_begin();
	err = with_stdout(ends[1], write_fixture_to_stdout);
	assert_string_equal(stderr_end(), "");
	assert_int_equal(err, -EPIPE);
	close(ends[1]);
}

static void test_terminal_is_refused(void **state)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY), tty = -1, err;

	(void)state;
	if (fd >= 0 && !grantpt(fd) && !unlockpt(fd))
		tty = open(ptsname(fd), O_RDWR | O_NOCTTY);
	if (tty < 0) {
		print_message("no pseudo terminal\n");
		skip();
	}
	stderr_begin();
	err = with_stdout(tty, write_fixture_to_stdout);
	assert_non_null(strstr(stderr_end(), "not for a terminal"));
	assert_int_equal(err, -EINVAL);
	close(tty);
	close(fd);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, remove_files)
	const struct CMUnitTest tests[] = {
		TEST(test_fixture_comes_back),
		TEST(test_zstd_accepts_it),
		TEST(test_an_earlier_trace_is_kept),
		TEST(test_other_contents_are_not_replaced),
		TEST(test_a_trace_that_is_being_written_is_not_replaced),
		TEST(test_nothing_is_left_of_what_did_not_begin),
		TEST(test_a_reader_sees_that_it_is_open),
		TEST(test_no_link_is_followed),
		TEST(test_owner_is_the_user_behind_sudo),
		TEST(test_what_cannot_be_opened),
		TEST(test_chunks_are_small_and_sorted),
		TEST(test_same_times_keep_their_order),
		TEST(test_our_own_mistakes_are_caught),
		TEST(test_full_device),
		TEST(test_full_disk_keeps_whole_frames),
		TEST(test_standard_output),
		TEST(test_closed_pipe_is_silent),
		TEST(test_terminal_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
