/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/export_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/fd_message.h"
#include "src/base/helper_process.h"
#include "src/base/io.h"
#include "src/base/sudo_user.h"

enum {
	NEWS_MS = 500,
	LOOK_MS = 50,			/* whether the report is written */
	OUT = 3, TRACE, TEXT,		/* descriptors of the process that writes: helper_fork() */
};

/* A report of samples that is being written. */
struct job {
	pid_t pid;			/* 0: none */
	int out, text;			/* the file; what the process had to say */
	char name[EXPORT_NAME_MAX];
	uint64_t begin_ns, told_ns;
};

struct server {
	const struct export_from *from;
	bool has_trace;
	int made;			/* files so far */
	struct job job;
};

/* ---- files ---- */

static bool is_plain_name(const char *name)
{
	return name[0] && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/* A file of the user behind sudo is his. */
static int make_file(struct server *s, const char *name)
{
	uid_t uid;
	gid_t gid;
	int fd;

	if (!is_plain_name(name))
		return -EINVAL;
	if (s->made >= EXPORTS_MAX)
		return -EDQUOT;
	s->made++;
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (sudo_user(&uid, &gid) && fchown(fd, uid, gid))
		return fd;		/* it stays root's, which is no reason to do without it */
	return fd;
}

/* Unless another file has the name by now. */
static void take_away(const char *name, int fd)
{
	struct stat ours, there;

	if (!fstat(fd, &ours) && !lstat(name, &there) && ours.st_dev == there.st_dev &&
	    ours.st_ino == there.st_ino)
		unlink(name);
}

/* ---- answers ---- */

/* fd: goes with it; -1: none. */
static bool answer(const struct export_answer *a, int fd)
{
	struct fd_message m;

	fd_message_init(&m, (void *)a, sizeof(*a));
	fd_message_attach(&m, &fd, fd >= 0);
	return fd_message_send(EXPORT_SOCKET, &m, 0) == sizeof(*a);
}

static bool answer_made(int fd)
{
	bool ok = answer(&(struct export_answer){ .result = fd < 0 ? fd : 0 }, fd);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* ---- the process that writes ---- */

__attribute__((noreturn)) static void write_samples(const struct server *s,
						    const struct sample_wish *wish)
{
	int err = dup2(TEXT, STDERR_FILENO) < 0 ? -errno : 0;
	FILE *out;

	fail_set_verbosity(-1);
	if (!err && s->from->shut_in)
		err = s->from->shut_in();
	if (err)
		_exit(1);
	out = fdopen(OUT, "w");
	err = out ? sample_export(TRACE, s->from->name, wish, s->job.name, out)
		  : fail(-ENOMEM, "write %s", s->job.name);
	if (out && fclose(out) && !err)
		err = fail(-errno, "write %s", s->job.name);
	_exit(err ? 1 : 0);
}

static int start_job(struct server *s, const struct export_request *q)
{
	struct job *j = &s->job;
	struct sample_wish wish = q->wish;

	if (!s->has_trace)
		return -ENODATA;
	*j = (struct job){ .out = make_file(s, q->name), .text = -1, .begin_ns = now_ns() };
	if (j->out < 0)
		return j->out;
	memcpy(j->name, q->name, sizeof(j->name));
	wish.event[sizeof(wish.event) - 1] = 0;
	j->text = memfd_create("probee-text", MFD_CLOEXEC);
	j->pid = j->text < 0 ? -errno
			     : helper_fork((int[]){ j->out, EXPORT_TRACE, j->text }, 3);
	if (!j->pid)
		write_samples(s, &wish);
	if (j->pid > 0)
		return 0;
	take_away(j->name, j->out);
	close(j->out);
	if (j->text >= 0)
		close(j->text);
	return (int)j->pid;
}

/* ---- while it writes ---- */

/* The first line that it printed, without "probee: ". */
static void take_text(const struct job *j, char text[EXPORT_TEXT_MAX])
{
	char *line = text;
	ssize_t n = io_pread(j->text, text, EXPORT_TEXT_MAX - 1, 0);

	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	if (!strncmp(text, "probee: ", 8))
		line += 8;
	memmove(text, line, strlen(line) + 1);
}

static struct export_news news_of(const struct job *j)
{
	struct stat st;

	return (struct export_news){
		.bytes = !fstat(j->out, &st) ? (uint64_t)st.st_size : 0,
		.seconds = (unsigned)((now_ns() - j->begin_ns) / NSEC_PER_SEC),
	};
}

static bool end_job(struct server *s, int result)
{
	struct job *j = &s->job;
	struct export_answer a = { .is_news = true, .news = news_of(j) };

	a.news.is_over = true;
	a.news.result = result;
	if (result == -EIO)
		take_text(j, a.news.text);
	if (result)
		take_away(j->name, j->out);
	close(j->out);
	close(j->text);
	j->pid = 0;
	return answer(&a, -1);
}

static void kill_job(struct server *s)
{
	kill(s->job.pid, SIGKILL);
	waitpid(s->job.pid, NULL, 0);
}

/* Looks whether it has ended; now and then says how far it is. False: the view is gone. */
static bool look_at_job(struct server *s)
{
	struct job *j = &s->job;
	uint64_t now = now_ns();
	int status;

	if (waitpid(j->pid, &status, WNOHANG) > 0)
		return end_job(s, WIFEXITED(status) && !WEXITSTATUS(status) ? 0
				  : WIFEXITED(status)			    ? -EIO
									    : -ECHILD);
	if (now > j->begin_ns + EXPORT_SECONDS * NSEC_PER_SEC) {
		kill_job(s);
		return end_job(s, -ETIME);
	}
	if (now < j->told_ns + NEWS_MS * NSEC_PER_MSEC)
		return true;
	j->told_ns = now;
	return answer(&(struct export_answer){ .is_news = true, .news = news_of(j) }, -1);
}

/* ---- requests ---- */

static bool obey(struct server *s, const struct export_request *q)
{
	switch ((enum export_word)q->word) {
	case EXPORT_MAKE:
		return answer_made(s->job.pid ? -EBUSY : make_file(s, q->name));
	case EXPORT_SAMPLES: {
		struct export_answer a = { .result = s->job.pid ? -EBUSY : start_job(s, q) };

		return answer(&a, -1);
	}
	case EXPORT_CANCEL:
		if (!s->job.pid)
			return true;
		kill_job(s);
		return end_job(s, -ECANCELED);
	}
	return false;
}

void export_serve(const struct export_from *from, bool has_trace)
{
	struct server s = { .from = from, .has_trace = has_trace };
	struct pollfd p = { .fd = EXPORT_SOCKET, .events = POLLIN };
	struct export_request q;
	bool goes_on = true;

	while (goes_on) {
		int n = poll(&p, 1, s.job.pid ? LOOK_MS : -1);

		if (n > 0) {
			goes_on = recv(EXPORT_SOCKET, &q, sizeof(q), 0) == sizeof(q);
			q.name[sizeof(q.name) - 1] = 0;
			goes_on = goes_on && obey(&s, &q);
		}
		if (goes_on && s.job.pid)
			goes_on = look_at_job(&s);
	}
	if (s.job.pid) {
		kill_job(&s);
		take_away(s.job.name, s.job.out);
	}
	_exit(0);
}
