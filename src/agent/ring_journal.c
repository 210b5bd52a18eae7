/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/ring_journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/trace/crc32c.h"
#include "src/base/io.h"
#include "src/base/own_file.h"

#define RING_MAGIC 0x6a627072u		/* "rpbj" */

struct slot {
	uint32_t magic;
	uint32_t crc;			/* of all that follows */
	uint64_t number;
	uint32_t len, unused;
	uint8_t state[RING_STATE_MAX];
};
_Static_assert(sizeof(struct slot) == RING_SLOT_BYTES, "slots are sectors");
_Static_assert(offsetof(struct slot, state) == RING_HEAD_BYTES, "without padding");

static uint32_t crc_of(const struct slot *s)
{
	return crc32c(&s->number, sizeof(*s) - offsetof(struct slot, number));
}

/* The file has its full size, and its blocks. */
static int make_room(int dir, int fd)
{
	static const uint8_t zeros[RING_SLOT_BYTES];
	struct stat st;
	int err = 0;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size >= RING_SLOTS * RING_SLOT_BYTES)
		return 0;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	for (int i = 0; i < RING_SLOTS && !err; i++)
		err = io_write(fd, zeros, sizeof(zeros), NULL);
	if (!err && (fsync(fd) || fsync(dir)))
		err = -errno;
	return err;
}

static int read_last(struct ring_journal *j, void *state)
{
	for (int i = 0; i < RING_SLOTS; i++) {
		struct slot s;
		ssize_t n = io_pread(j->fd, &s, sizeof(s), (uint64_t)i * sizeof(s));

		if (n < 0)
			return (int)n;
		if (n != (ssize_t)sizeof(s) || s.magic != RING_MAGIC || s.len != j->len ||
		    s.crc != crc_of(&s) || s.number <= j->number)
			continue;
		j->number = s.number;
		memcpy(state, s.state, j->len);
	}
	return 0;
}

int ring_journal_open(int dir, const char *name, void *state, size_t len, struct ring_journal *j)
{
	enum own_verdict v;
	int err;

	assert(len <= RING_STATE_MAX);
	*j = (struct ring_journal){ .len = len };
	j->fd = openat(dir, name, O_RDWR | O_CREAT | OWN_FILE_FLAGS, 0600);
	if (j->fd < 0)
		return -errno;
	err = own_file_check(j->fd, &v);
	if (!err)
		err = read_last(j, state);
	/* A file that was cut short while it was made holds no state yet. */
	if (!err && !j->number)
		err = make_room(dir, j->fd);
	if (err)
		ring_journal_close(j);
	return err;
}

int ring_journal_put(struct ring_journal *j, const void *state)
{
	struct slot s = { .magic = RING_MAGIC, .number = j->number + 1, .len = (uint32_t)j->len };
	off_t at = (off_t)(s.number % RING_SLOTS) * RING_SLOT_BYTES;
	ssize_t n;

	assert(j->len <= RING_STATE_MAX);
	memcpy(s.state, state, j->len);
	s.crc = crc_of(&s);
	n = pwrite(j->fd, &s, sizeof(s), at);
	if (n < 0)
		return -errno;
	if (n != (ssize_t)sizeof(s))
		return -EIO;
	/* A slot that may be on the disk is not used again, even if that is not certain. */
	j->number = s.number;
	return fdatasync(j->fd) ? -errno : 0;
}

void ring_journal_close(struct ring_journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}
