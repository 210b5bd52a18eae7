/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/push/push_pipe.h"

static const struct push_body body = {
	.path = "/a?b=c", .content_type = "text/x", .is_gzip = true,
	.bytes = (const uint8_t *)"\0\1octets", .len = 8, .raw_len = 99, .profiles = 3, .samples = 4,
	.lost = 5, .from_ns = 6, .to_ns = 7, .what = "cpu of \xc3\xa4[1]",
};

static void test_round_trip(void **state)
{
	const struct push_counts counts = { .bodies = 2, .late = 8 };
	struct push_pipe p = { .fd = memfd_create("pipe", 0) };

	(void)state;
	assert_int_equal(push_pipe_put(p.fd, &body), 0);
	assert_int_equal(push_pipe_put(p.fd, &body), 0);
	assert_int_equal(push_pipe_end(p.fd, -EBADMSG, &counts), 0);
	lseek(p.fd, 0, SEEK_SET);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(push_pipe_next(&p), 1);
		assert_string_equal(p.body.path, body.path);
		assert_string_equal(p.body.content_type, body.content_type);
		assert_string_equal(p.body.what, body.what);
		assert_int_equal(p.body.len, 8);
		assert_memory_equal(p.body.bytes, body.bytes, 8);
		assert_true(p.body.is_gzip);
		assert_int_equal(p.body.raw_len, 99);
		assert_int_equal(p.body.profiles, 3);
		assert_int_equal(p.body.samples, 4);
		assert_int_equal(p.body.lost, 5);
		assert_int_equal(p.body.from_ns, 6);
		assert_int_equal(p.body.to_ns, 7);
	}
	assert_int_equal(push_pipe_next(&p), 0);
	assert_int_equal(p.result, -EBADMSG);
	assert_int_equal(p.counts.late, 8);
	push_pipe_release(&p);
	close(p.fd);
}

static int next_of(const void *bytes, size_t len)
{
	struct push_pipe p = { .fd = memfd_create("pipe", 0) };
	int n;

	assert_int_equal(write(p.fd, bytes, len), len);
	lseek(p.fd, 0, SEEK_SET);
	n = push_pipe_next(&p);
	push_pipe_release(&p);
	close(p.fd);
	return n;
}

/* What a process that was taken over could write. */
static void test_nonsense(void **state)
{
	uint8_t good[4096];
	struct push_pipe_head h;
	int fd = memfd_create("pipe", 0);
	size_t len;

	(void)state;
	push_pipe_put(fd, &body);
	len = (size_t)pread(fd, good, sizeof(good), 0);
	memcpy(&h, good, sizeof(h));
	assert_int_equal(next_of(good, len), 1);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(next_of(good, cut), -EPIPE);
#define WITH(field, value) \
	do { \
		struct push_pipe_head bad = h; \
		bad.field = value; \
		memcpy(good, &bad, sizeof(bad)); \
		assert_int_equal(next_of(good, len), -EPROTO); \
		memcpy(good, &h, sizeof(h)); \
	} while (0)
	WITH(magic, 0);
	WITH(path_len, 65536);
	WITH(type_len, UINT32_MAX);
	WITH(what_len, 1024);
	WITH(len, PUSH_PIPE_BODY_MAX + 1ull);
	WITH(len, UINT64_MAX);
	good[sizeof(h)] = '\n';
	assert_int_equal(next_of(good, len), -EPROTO);
	good[sizeof(h)] = '/';
	good[sizeof(h) + h.path_len] = '\r';
	assert_int_equal(next_of(good, len), -EPROTO);
	good[sizeof(h) + h.path_len] = 't';
	good[sizeof(h) + h.path_len + h.type_len] = '\x1b';
	assert_int_equal(next_of(good, len), -EPROTO);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
