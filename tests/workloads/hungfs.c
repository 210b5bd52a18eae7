/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hungfs DIR [flush | slow MS FILE]: a FUSE file system on DIR that anybody may use, with two files: DIR/stack, 1 MiB that anybody
 * may map, and DIR/prog, an executable whose headers can be mapped but not read. The server answers whatever is asked
 * about the files and never a READ. After "ready PID" it serves until SIGTERM; its end lets go of all who wait.
 * With "flush" it does not answer a FLUSH either: who closes DIR/stack hangs.
 * With FILE, DIR/prog has that file's content, and every READ is answered MS milliseconds later.
 *
 * The protocol of include/uapi/linux/fuse.h is spoken by hand: no library is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "ready.h"

enum { ROOT = FUSE_ROOT_ID, STACK_FILE = 2, PROG_FILE = 3, STACK_BYTES = 1 << 20 };

static const char *dir;
static int dev, content = -1, slow_ms, holds_flush;
static char request[1 << 18];
static char answer[1 << 18];

static void unmount(int sig)
{
	(void)sig;
	umount2(dir, MNT_DETACH);
	_exit(0);
}

static void reply(const struct fuse_in_header *in, int err, size_t len)
{
	struct fuse_out_header *out = (void *)answer;

	out->len = (uint32_t)(sizeof(*out) + len);
	out->error = -err;
	out->unique = in->unique;
	if (write(dev, answer, out->len) < 0 && errno != ENOENT)
		perror("hungfs: write");
}

static void fill_attr(struct fuse_attr *a, uint64_t ino)
{
	struct stat st = { .st_size = STACK_BYTES };

	if (ino == PROG_FILE && content >= 0)
		fstat(content, &st);
	memset(a, 0, sizeof(*a));
	a->ino = ino;
	a->size = (uint64_t)st.st_size;
	a->blocks = (a->size + 511) / 512;
	a->mode = ino == ROOT ? S_IFDIR | 0755 : S_IFREG | (ino == PROG_FILE ? 0755 : 0666);
	a->nlink = ino == ROOT ? 2 : 1;
	a->blksize = 4096;
}

static void do_init(const struct fuse_in_header *in, const void *arg, void *out)
{
	const struct fuse_init_in *i = arg;
	struct fuse_init_out *o = out;

	*o = (struct fuse_init_out){ .major = 7, .minor = i->minor < 31 ? i->minor : 31, .max_readahead = i->max_readahead,
				     .max_write = 4096, .max_background = 16, .congestion_threshold = 12 };
	reply(in, 0, sizeof(*o));
}

static void do_lookup(const struct fuse_in_header *in, const void *arg, void *out)
{
	struct fuse_entry_out *o = out;
	uint64_t ino = !strcmp(arg, "stack") ? STACK_FILE : !strcmp(arg, "prog") ? PROG_FILE : 0;

	if (!ino) {
		reply(in, ENOENT, 0);
		return;
	}
	memset(o, 0, sizeof(*o));
	o->nodeid = ino;
	o->entry_valid = o->attr_valid = 1000;
	fill_attr(&o->attr, ino);
	reply(in, 0, sizeof(*o));
}

static void do_getattr(const struct fuse_in_header *in, const void *arg, void *out)
{
	struct fuse_attr_out *o = out;

	(void)arg;
	memset(o, 0, sizeof(*o));
	o->attr_valid = 1000;
	fill_attr(&o->attr, in->nodeid);
	reply(in, 0, sizeof(*o));
}

static void do_open(const struct fuse_in_header *in, const void *arg, void *out)
{
	(void)arg;
	memset(out, 0, sizeof(struct fuse_open_out));
	((struct fuse_open_out *)out)->fh = in->nodeid;
	reply(in, 0, sizeof(struct fuse_open_out));
}

static void do_read(const struct fuse_in_header *in, const void *arg, void *out)
{
	const struct fuse_read_in *r = arg;
	ssize_t n;

	if (content < 0 || in->nodeid != PROG_FILE)
		return;			/* never */
	usleep((useconds_t)slow_ms * 1000);
	n = pread(content, out, r->size < sizeof(answer) - 64 ? r->size : sizeof(answer) - 64, (off_t)r->offset);
	reply(in, n < 0 ? errno : 0, n < 0 ? 0 : (size_t)n);
}

static void do_nothing(const struct fuse_in_header *in, const void *arg, void *out)
{
	(void)arg;
	(void)out;
	reply(in, 0, 0);
}

static void do_statfs(const struct fuse_in_header *in, const void *arg, void *out)
{
	(void)arg;
	memset(out, 0, sizeof(struct fuse_statfs_out));
	reply(in, 0, sizeof(struct fuse_statfs_out));
}

static void do_flush(const struct fuse_in_header *in, const void *arg, void *out)
{
	if (!holds_flush)
		do_nothing(in, arg, out);
}

static void no_answer(const struct fuse_in_header *in, const void *arg, void *out)
{
	(void)in;
	(void)arg;
	(void)out;
}

static const struct {
	uint32_t opcode;
	void (*run)(const struct fuse_in_header *in, const void *arg, void *out);
} handlers[] = {
	{ FUSE_INIT, do_init }, { FUSE_LOOKUP, do_lookup }, { FUSE_GETATTR, do_getattr }, { FUSE_OPEN, do_open },
	{ FUSE_OPENDIR, do_open }, { FUSE_READ, do_read }, { FUSE_RELEASE, do_nothing }, { FUSE_RELEASEDIR, do_nothing },
	{ FUSE_FLUSH, do_flush }, { FUSE_ACCESS, do_nothing }, { FUSE_STATFS, do_statfs }, { FUSE_FORGET, no_answer },
	{ FUSE_BATCH_FORGET, no_answer }, { FUSE_INTERRUPT, no_answer },
};

static void serve(const struct fuse_in_header *in)
{
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		if (handlers[i].opcode == in->opcode) {
			handlers[i].run(in, in + 1, answer + sizeof(struct fuse_out_header));
			return;
		}
	}
	reply(in, ENOSYS, 0);
}

int main(int argc, char **argv)
{
	char options[128];

	dir = argc > 1 ? argv[1] : ".";
	holds_flush = argc == 3 && !strcmp(argv[2], "flush");
	if (argc > 4) {
		slow_ms = atoi(argv[3]);
		content = open(argv[4], O_RDONLY);
	}
	dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (dev < 0) {
		perror("hungfs: /dev/fuse");
		return 77;
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", dev);
	if (mount("hungfs", dir, "fuse.hungfs", MS_NOSUID | MS_NODEV, options)) {
		perror("hungfs: mount");
		return 77;
	}
	signal(SIGTERM, unmount);
	say_ready();
	signal(SIGALRM, unmount);
	while (read(dev, request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT)
		serve((void *)request);
	return 0;
}
