/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_source.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/trace_reader.h"
#include "src/base/io.h"
#include "tests/unit/record_log.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_fixture.h"

static char dir[] = "/tmp/test_trace_source.XXXXXX";
static char path[64];

/* The fixture as a file, as bytes and as records. */
static char *trace;
static size_t trace_len;
static struct record_log whole;

static int setup(void **state)
{
	struct trace_reader *r;
	ssize_t n;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t.pbz", dir);
	if (trace_fixture_write(path) || trace_reader_open(path, NULL, &r))
		return -1;
	record_log_read(&whole, r);
	trace_reader_close(r);
	n = io_read_file(path, &trace, 1 << 20);
	trace_len = (size_t)n;
	return n > 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(trace);
	record_log_release(&whole);
	unlink(path);
	return rmdir(dir);
}

/* Puts a file at path and reads from it; what the user is told. */
static void expect_refusal(const char *file, const char *content, size_t len, int want,
			   const char *what)
{
	struct trace_reader *r;
	const char *said;
	char name[80];
	FILE *f;
	int err;

	snprintf(name, sizeof(name), "%s/x", dir);
	if (content) {
		f = fopen(name, "w");
		fwrite(content, 1, len, f);
		fclose(f);
	}
	stderr_begin();
	err = trace_reader_open(file ? file : name, NULL, &r);
	said = stderr_end();
	assert_null(r);
	assert_int_equal(err, want);
	assert_non_null(strstr(said, what));
	assert_ptr_equal(strchr(said, '\n') + 1, said + strlen(said));
	unlink(name);
}

static void test_other_files_are_named(void **state)
{
	(void)state;
	expect_refusal(NULL, "", 0, -ENOEXEC, "is empty");
	expect_refusal(NULL, "PERFILE2........", 16, -ENOEXEC,
		       "is a perf.data file, not a probee trace");
	expect_refusal(NULL, "\x7f" "ELF\2\1\1", 7, -ENOEXEC, "is an ELF file");
	expect_refusal(NULL, "\x1f\x8b\x08\0", 4, -ENOEXEC, "is gzip (perhaps a pprof profile)");
	expect_refusal(NULL, "\x28\xb5\x2f\xfd\x24", 5, -ENOEXEC, "is plain zstd");
	expect_refusal(NULL, "{\"a\":1}", 7, -ENOEXEC, "is JSON");
	expect_refusal(NULL, "<svg>", 5, -ENOEXEC, "is XML, SVG or HTML");
	expect_refusal(NULL, "main;foo 12\n", 12, -ENOEXEC, "is text");
	expect_refusal(NULL, "\x01\x02\x03", 3, -ENOEXEC, "is not a probee trace");
	expect_refusal(NULL, (const char *)trace, 30, -ENOEXEC, "is cut off");
	expect_refusal(dir, NULL, 0, -EISDIR, "is a directory");
	expect_refusal("/dev/zero", NULL, 0, -ENOEXEC, "is a device");
	expect_refusal("/no/such/file", NULL, 0, -ENOENT, "open /no/such/file: No such file");
}

/* Reads with the bytes coming through fd 0 or a FIFO. */
static void read_through(int fd, const char *file, struct record_log *log, struct trace_status *st)
{
	int saved = dup(STDIN_FILENO);
	struct trace_reader *r;

	if (fd >= 0)
		dup2(fd, STDIN_FILENO);
	assert_int_equal(trace_reader_open(file, NULL, &r), 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	for (int round = 0; round < 2; round++) {
		record_log_release(log);
		assert_int_equal(record_log_read(log, r), 0);
		*st = *trace_reader_status(r);
		trace_reader_rewind(r);
	}
	trace_reader_close(r);
}

static void test_pipes_and_fifos(void **state)
{
	struct record_log out = { 0 };
	struct trace_status st;
	char fifo[80];
	pid_t child;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], trace, trace_len), trace_len);
	close(ends[1]);
	read_through(ends[0], "-", &out, &st);
	assert_true(bytes_equal(&out.all, &whole.all));
	assert_int_equal(st.file_bytes, trace_len);
	close(ends[0]);

	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	ends[0] = open(fifo, O_RDWR);		/* so that opening to write does not wait */
	ends[1] = open(fifo, O_WRONLY);
	assert_int_equal(write(ends[1], trace, trace_len), trace_len);
	child = fork();
	if (!child) {
		usleep(100000);
		_exit(0);			/* the last writer */
	}
	close(ends[0]);
	close(ends[1]);
	read_through(-1, fifo, &out, &st);
	waitpid(child, NULL, 0);
	assert_true(bytes_equal(&out.all, &whole.all));
	unlink(fifo);
	record_log_release(&out);
}

static void test_endless_pipe_is_not_swallowed(void **state)
{
	int ends[2], saved = dup(STDIN_FILENO), err;
	struct trace_reader *r;
	const char *said;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "yes\nyes\n", 8),
			 8); /* and more to come: the pipe stays open */
	dup2(ends[0], STDIN_FILENO);
	stderr_begin();
	err = trace_reader_open("-", NULL, &r);
	said = stderr_end();
	dup2(saved, STDIN_FILENO);
	assert_int_equal(err, -ENOEXEC);
	assert_non_null(strstr(said, "standard input is text"));
	close(saved);
	close(ends[0]);
	close(ends[1]);
}

/* A shell's < of a regular file is read in place, from where its offset is. */
static void test_standard_input_is_a_file(void **state)
{
	struct record_log out = { 0 };
	struct trace_status st;
	char name[80];
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "%s/x", dir);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fd, "header", 6), 6);
	assert_int_equal(write(fd, trace, trace_len), trace_len);
	lseek(fd, 6, SEEK_SET);
	read_through(fd, "-", &out, &st);
	assert_true(bytes_equal(&out.all, &whole.all));
	assert_int_equal(st.file_bytes, trace_len);
	assert_int_equal(st.skipped_bytes, 0);
	record_log_release(&out);
	close(fd);
	unlink(name);
}

static void test_fifo_without_a_writer(void **state)
{
	struct trace_reader *r;
	const char *said;
	char fifo[80];
	int err;

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	stderr_begin();
	err = trace_reader_open(fifo, NULL, &r);
	said = stderr_end();
	unlink(fifo);
	assert_int_equal(err, -ENOEXEC);
	assert_non_null(strstr(said, "is a FIFO that nobody writes to"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_files_are_named),
		cmocka_unit_test(test_pipes_and_fifos),
		cmocka_unit_test(test_endless_pipe_is_not_swallowed),
		cmocka_unit_test(test_standard_input_is_a_file),
		cmocka_unit_test(test_fifo_without_a_writer),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
