/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define OLD_SUFFIX ".old"
#define TEMP_FORMAT ".%.*s.%016" PRIx64 ".tmp"
#define TEMP_REST 22		/* bytes of a temporary name besides those of the name */
#define TEMP_TRIES 16
#define OPEN_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* What stands under a name. */
struct standing {
	bool exists;
	bool is_earlier;		/* an earlier output of the kind, with contents */
	struct stat st;
};

/* A file that is being opened. */
struct opening {
	struct output_file *f;
	const struct output_user *user;
	struct output_refusal *no;
	struct standing now;
};

static int refuse(struct opening *o, enum output_why why, int err)
{
	*o->no = (struct output_refusal){ why, o->now.st.st_uid };
	return err;
}

/* Opens what st describes; -ESTALE: meanwhile something else stands there. */
static int open_same(int dir, const char *name, int flags, const struct stat *st)
{
	int fd = openat(dir, name, flags | OPEN_FLAGS);
	struct stat is;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &is) && is.st_dev == st->st_dev && is.st_ino == st->st_ino &&
	    is.st_mode == st->st_mode)
		return fd;
	close(fd);
	return -ESTALE;
}

/* What cannot be read cannot be told from a stranger's file. */
static enum output_seen look(const struct output_file *f, const char *name, const struct stat *st)
{
	int fd = open_same(f->place.dir, name, O_RDONLY, st);
	enum output_seen seen;

	if (fd < 0)
		return OUTPUT_SEEN_OTHER;
	seen = f->kind->look(fd);
	close(fd);
	return seen;
}

static bool is_at(const char *path, const struct stat *st)
{
	struct stat in;

	return path && !stat(path, &in) && in.st_dev == st->st_dev && in.st_ino == st->st_ino;
}

static bool is_input(const struct output_file *f, const struct stat *st)
{
	return is_at(f->input, st) || is_at(f->other_input, st);
}

/* NAME.old, which an earlier trace is to become. It must not destroy anything else. */
static int check_old(struct opening *o)
{
	const struct output_file *f = o->f;
	char old[NAME_MAX + sizeof(OLD_SUFFIX)];
	struct stat st;

	snprintf(old, sizeof(old), "%s" OLD_SUFFIX, f->place.name);
	if (fstatat(f->place.dir, old, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISREG(st.st_mode) && output_user_owns(o->user, st.st_uid) &&
	    (!st.st_size || f->force || look(f, old, &st) == OUTPUT_SEEN_OWN))
		return 0;
	return refuse(o, OUTPUT_OLD_OTHER, -EEXIST);
}

static int check_contents(struct opening *o)
{
	enum output_seen seen = look(o->f, o->f->place.name, &o->now.st);

	if (seen == OUTPUT_SEEN_BUSY)
		return refuse(o, OUTPUT_BUSY, -EBUSY);
	o->now.is_earlier = seen == OUTPUT_SEEN_OWN;
	if (!o->now.is_earlier && !o->f->force)
		return refuse(o, OUTPUT_OTHER, -EEXIST);
	return o->now.is_earlier && o->f->kind->keeps_old ? check_old(o) : 0;
}

/*
 * Whether chattr(1) lets nothing be renamed: to this name, or ("") in dir. A rename would fail only
 * when all is recorded.
 */
static bool is_fixed(int dir, const char *name)
{
	struct statx x;

	return !statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, 0, &x) &&
	       x.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND);
}

static int check_regular(struct opening *o)
{
	const struct stat *st = &o->now.st;

	if (is_input(o->f, st))
		return refuse(o, OUTPUT_ITSELF, -EINVAL);
	if (!output_user_owns(o->user, st->st_uid))
		return refuse(o, OUTPUT_OWNER, -EEXIST);
	if (st->st_nlink > 1)
		return refuse(o, OUTPUT_HARD_LINKS, -EEXIST);
	if (is_fixed(o->f->place.dir, o->f->place.name))
		return refuse(o, OUTPUT_FIXED, -EEXIST);
	return st->st_size ? check_contents(o) : 0;
}

/* FIFOs and devices are written to themselves, now without O_NONBLOCK. */
static int open_standing(struct opening *o)
{
	int fd = open_same(o->f->place.dir, o->f->place.name, O_WRONLY, &o->now.st);

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK)) {
		close(fd);
		return -EIO;
	}
	o->f->fd = fd;
	return 0;
}

static int open_fifo(struct opening *o)
{
	int err;

	if (!output_user_owns(o->user, o->now.st.st_uid))
		return refuse(o, OUTPUT_OWNER, -EEXIST);
	err = open_standing(o);
	return err == -ENXIO ? refuse(o, OUTPUT_FIFO_UNREAD, err) : err;
}

/*
 * Devices whose opening does nothing. The numbers are those of the kernel's
 * Documentation/admin-guide/devices.txt.
 */
static bool is_memory(dev_t dev)
{
	return dev == makedev(1, 3) || dev == makedev(1, 7);		/* null, full */
}

static bool is_terminal(dev_t dev)
{
	unsigned n = major(dev);

	return dev == makedev(5, 0) || dev == makedev(5, 1) || (n == 4 && minor(dev) < 64) ||
	       (n >= 136 && n <= 143);
}

static int open_device(struct opening *o)
{
	dev_t dev = o->now.st.st_rdev;

	if (!is_memory(dev) && !is_terminal(dev))
		return refuse(o, OUTPUT_IS_DEVICE, -ENXIO);
	if (is_terminal(dev) && o->f->kind->no_terminal)
		return refuse(o, OUTPUT_IS_TERMINAL, -EINVAL);
	return open_standing(o);
}

/* What stands under the name, by its type: it is opened, or may be replaced, or is refused. */
static const struct {
	mode_t type;
	int (*open)(struct opening *o);
	enum output_why why;		/* if there is no function */
	int err;
} types[] = {
	{ .type = S_IFREG, .open = check_regular },
	{ .type = S_IFIFO, .open = open_fifo },
	{ .type = S_IFCHR, .open = open_device },
	{ .type = S_IFLNK, .why = OUTPUT_IS_LINK, .err = -ELOOP },
	{ .type = S_IFDIR, .why = OUTPUT_IS_DIR, .err = -EISDIR },
	{ .type = S_IFSOCK, .why = OUTPUT_IS_SOCKET, .err = -ENXIO },
	{ .type = S_IFBLK, .why = OUTPUT_IS_DEVICE, .err = -ENXIO },
};

static int stand(struct opening *o)
{
	const struct output_place *p = &o->f->place;

	o->now = (struct standing){ 0 };
	if (fstatat(p->dir, p->name, &o->now.st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	o->now.exists = true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == (o->now.st.st_mode & S_IFMT))
			return types[i].open ? types[i].open(o)
					     : refuse(o, types[i].why, types[i].err);
	return refuse(o, OUTPUT_IS_DEVICE, -ENXIO);
}

static int make_temp(struct output_file *f)
{
	mode_t mode = f->kind->is_private ? 0600 : 0666;
	uint64_t random;

	for (int i = 0; i < TEMP_TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -errno;
		snprintf(f->temp, sizeof(f->temp), TEMP_FORMAT, NAME_MAX - TEMP_REST, f->place.name,
			 random);
		f->fd = openat(f->place.dir, f->temp, O_RDWR | O_CREAT | O_EXCL | OPEN_FLAGS, mode);
		if (f->fd >= 0 || errno != EEXIST)
			break;
	}
	return f->fd < 0 ? -errno : 0;
}

/*
 * A report keeps the mode of the one that it replaces. Some file systems know no owners; the file
 * then stays with whom the kernel gave it to.
 */
static int own_temp(struct opening *o)
{
	struct output_file *f = o->f;
	struct stat st;

	if (fstat(f->fd, &st))
		return -errno;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->is_file = true;
	if (o->now.exists && !f->kind->is_private && fchmod(f->fd, o->now.st.st_mode & 0777))
		return -errno;
	if (o->user->has_sudo && fchown(f->fd, o->user->uid, o->user->gid) && errno != EPERM &&
	    errno != EINVAL && errno != ENOTSUP)
		return -errno;
	return 0;
}

int output_file_open(struct output_file *f, const struct output_user *user,
		     struct output_refusal *no)
{
	struct opening o = { .f = f, .user = user, .no = no };
	int err;

	output_file_drop(f);
	err = output_place_open(f->path, user, &f->place, no);
	if (!err)
		err = stand(&o);
	if (!err && f->fd < 0)
		err = is_fixed(f->place.dir, "") ? refuse(&o, OUTPUT_FIXED_DIR, -EEXIST)
						 : make_temp(f);
	if (!err && f->temp[0])
		err = own_temp(&o);
	if (err)
		output_file_drop(f);
	return err;
}

static bool is_own_temp(const struct output_file *f)
{
	struct stat st;

	return !fstatat(f->place.dir, f->temp, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == f->dev &&
	       st.st_ino == f->ino;
}

static int keep_old(const struct output_file *f, char old[NAME_MAX + 1])
{
	if (strlen(f->place.name) + strlen(OLD_SUFFIX) > NAME_MAX)
		return -ENAMETOOLONG;
	sprintf(old, "%s" OLD_SUFFIX, f->place.name);
	return renameat(f->place.dir, f->place.name, f->place.dir, old) ? -errno : 0;
}

/* Once more, what stands under the name: hours may have passed. */
static int check_again(struct opening *o)
{
	const struct output_place *p = &o->f->place;

	if (fstatat(p->dir, p->name, &o->now.st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(o->now.st.st_mode))
		return refuse(o, OUTPUT_MOVED, -EEXIST);
	return check_regular(o);
}

static int take_place(struct opening *o)
{
	const struct output_file *f = o->f;
	char old[NAME_MAX + 1] = "";
	int err = 0;

	if (o->now.is_earlier && f->kind->keeps_old)
		err = keep_old(f, old);
	if (err || !renameat(f->place.dir, f->temp, f->place.dir, f->place.name))
		return err;
	err = -errno;
	if (old[0])
		renameat(f->place.dir, old, f->place.dir, f->place.name);
	return err;
}

int output_file_publish(struct output_file *f, const struct output_user *user,
			struct output_refusal *no)
{
	struct opening o = { .f = f, .user = user, .no = no };
	int err;

	*no = (struct output_refusal){ OUTPUT_FAILED, 0 };
	if (!f->is_file || f->is_published)
		return 0;
	err = is_own_temp(f) ? check_again(&o) : refuse(&o, OUTPUT_MOVED, -ESTALE);
	if (!err)
		err = take_place(&o);
	f->is_published = !err;
	return err;
}

void output_file_drop(struct output_file *f)
{
	if (f->temp[0] && !f->is_published)
		unlinkat(f->place.dir, f->temp, 0);
	if (f->fd >= 0)
		close(f->fd);
	output_place_close(&f->place);
	f->fd = -1;
	f->temp[0] = 0;
	f->is_file = f->is_published = false;
}

bool output_file_same(const struct output_file *a, const struct output_file *b)
{
	struct stat dir_a, dir_b;

	return a->is_file && b->is_file && !strcmp(a->place.name, b->place.name) &&
	       !fstat(a->place.dir, &dir_a) && !fstat(b->place.dir, &dir_b) &&
	       dir_a.st_dev == dir_b.st_dev && dir_a.st_ino == dir_b.st_ino;
}
