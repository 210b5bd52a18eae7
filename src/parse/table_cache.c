/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/table_cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/hash_index.h"
#include "src/base/io.h"
#include "src/parse/parse_protocol.h"
#include "src/runtimes/runtime.h"
#include "unwind/unwind_table.h"

#define MAGIC 0x31656c6261746270ull	/* "pbtable1" */
#define PARTS 5				/* of the answer */
#define LANES 4

/* It is written last. A file whose parts have another sum was not written to its end. */
struct kept_head {
	uint64_t magic, program;
	uint64_t len[PARTS];		/* bytes; the parts follow, one behind the other */
	uint64_t sum;
};

uint64_t table_cache_program(void)
{
	struct stat st;
	uint64_t v[5];

	if (stat("/proc/self/exe", &st))
		return 0;
	v[0] = st.st_dev;
	v[1] = st.st_ino;
	v[2] = (uint64_t)st.st_size;
	v[3] = (uint64_t)st.st_ctim.tv_sec;
	v[4] = (uint64_t)st.st_ctim.tv_nsec;
	return hash_bytes(1, v, sizeof(v)) | 1;
}

/* Several words at a time, because it is in the way of each recording. */
static uint64_t sum_of(uint64_t sum, const void *v, size_t len)
{
	uint64_t lanes[LANES] = { sum, 1, 2, 3 }, w[LANES];
	const uint8_t *p = v;

	for (; len >= sizeof(w); len -= sizeof(w), p += sizeof(w)) {
		memcpy(w, p, sizeof(w));
		for (int i = 0; i < LANES; i++) {
			lanes[i] = (lanes[i] ^ w[i]) * 0x9e3779b97f4a7c15ull;
			lanes[i] ^= lanes[i] >> 29;
		}
	}
	return hash_bytes(hash_bytes(7, lanes, sizeof(lanes)), p, len);
}

static uint64_t sum_of_parts(const struct message_part part[PARTS])
{
	uint64_t sum = 0;

	for (int i = 0; i < PARTS; i++)
		sum = sum_of(sum, part[i].v, part[i].len);
	return sum;
}

/* ---- reading ---- */

static int read_part(int fd, uint64_t at, size_t len, struct message_part *out)
{
	char *v = malloc(len + 1);

	if (!v)
		return -ENOMEM;
	out->v = v;
	out->len = len;
	v[len] = 0;			/* as helper_receive() does */
	return io_pread(fd, v, len, at) == (ssize_t)len ? 0 : -EIO;
}

static bool head_is_sound(const struct kept_head *h, uint64_t program)
{
	uint64_t left = PARSE_MAX_TABLE;

	for (int i = 0; i < PARTS; i++) {
		if (h->len[i] > left)
			return false;
		left -= h->len[i];
	}
	return h->magic == MAGIC && h->program == program;
}

static int read_answer(int fd, uint64_t program, struct helper_message *answer)
{
	struct kept_head h;
	uint64_t at = sizeof(h);
	int err = 0;

	if (io_pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || !head_is_sound(&h, program))
		return -ENOENT;
	for (int i = 0; i < PARTS && !err; at += h.len[i++])
		err = read_part(fd, at, h.len[i], &answer->part[i]);
	if (!err && sum_of_parts(answer->part) != h.sum)
		err = -EIO;
	return err;
}

int table_cache_get(struct cache_folder *c, const struct cache_key *key, uint64_t program,
		    struct helper_message *answer)
{
	int fd, err;

	*answer = (struct helper_message){ 0 };
	fd = program ? cache_folder_open(c, key, CACHE_TABLE) : -ENOENT;
	if (fd < 0)
		return fd;
	err = read_answer(fd, program, answer);
	close(fd);
	return err;
}

/* ---- writing ---- */

struct to_keep {
	struct kept_head head;
	struct message_part part[PARTS];
};

static int write_answer(int fd, const void *v, size_t len)
{
	const struct to_keep *k = v;
	struct kept_head none = { 0 };
	int err = ftruncate(fd, 0) ? -errno : io_write(fd, &none, sizeof(none), NULL);

	(void)len;
	for (int i = 0; i < PARTS && !err; i++)
		err = io_write(fd, k->part[i].v, k->part[i].len, NULL);
	if (!err && pwrite(fd, &k->head, sizeof(k->head), 0) != (ssize_t)sizeof(k->head))
		err = -EIO;
	return err;
}

void table_cache_put(struct cache_folder *c, const struct cache_key *key, uint64_t program,
		     const struct unwind_table *t, const struct runtime_image *runtime)
{
	struct table_head head;
	struct to_keep k = {
		.head = { .magic = MAGIC, .program = program },
		.part = { { &head, sizeof(head) },
			  { t->pages, t->nr_pages * sizeof(*t->pages) },
			  { t->rows, t->nr_rows * sizeof(*t->rows) },
			  { t->rules, t->nr_rules * sizeof(*t->rules) },
			  { (void *)(uintptr_t)runtime, sizeof(*runtime) } },
	};
	size_t len = sizeof(k.head);

	memset(&head, 0, sizeof(head));		/* also between its members */
	head.vaddr_lo = t->vaddr_lo;
	head.nr_pages = t->nr_pages;
	for (int i = 0; i < PARTS; i++)
		len += k.head.len[i] = k.part[i].len;
	if (!program || len - sizeof(k.head) > PARSE_MAX_TABLE)
		return;
	k.head.sum = sum_of_parts(k.part);
	cache_folder_write(c, key, CACHE_TABLE, write_answer, &k, len);
}
