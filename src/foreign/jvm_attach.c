/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/jvm_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/foreign/foreign_file.h"
#include "src/proc/procfs.h"
#include "src/rights/capabilities.h"
#include "src/rights/recording_rights.h"

#define LANES 2				/* JVMs that are asked at once */
#define LIMIT_NS (5 * NSEC_PER_SEC)
#define LOOK_MS 20
#define START_SLACK_NS (20 * NSEC_PER_MSEC)	/* /proc/PID/stat counts in 10 ms */
#define MAX_ANSWER 4096
#define MAX_MESSAGE 4096

struct request {
	pid_t pid;
	uint64_t start_boottime_ns;
};

/* A JVM, as the process that asks it sees it. */
struct jvm {
	pid_t pid;
	int pidfd;
	struct proc_status status;
	uint64_t until_ns;
};

/* ---- in the helper ---- */

/* true: it was told not to answer; it would write all its stacks to its output instead. */
static bool refuses(pid_t pid)
{
	return procfs_has_word(pid, "-XX:+DisableAttachMechanism");
}

static bool are_near(uint64_t a, uint64_t b)
{
	return a < b + START_SLACK_NS && b < a + START_SLACK_NS;
}

/* Looks at the process, and takes hold of it: what is found out is of the one that pidfd is of. */
static int look_at(const struct request *r, struct jvm *j)
{
	struct proc_stat stat;

	j->pid = r->pid;
	j->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	if (j->pidfd < 0)
		return -errno;
	if (procfs_stat(r->pid, &stat) || procfs_status(r->pid, &j->status))
		return -ESRCH;
	if (r->start_boottime_ns && !are_near(stat.start_boottime_ns, r->start_boottime_ns))
		return -ESRCH;		/* another one has its number by now */
	if (!(j->status.caught_signals & 1ull << (SIGQUIT - 1)) || refuses(r->pid))
		return -ENOTSUP;
	return 0;
}

/* From here on this process can do what the user of the JVM can do, and no more. */
static int become_user(const struct jvm *j)
{
	uid_t uid = j->status.uid;
	gid_t gid = j->status.gid;

	if (geteuid() != uid || getegid() != gid) {
		if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
			return -EPERM;
	}
	return rights_drop_all();
}

/* Makes the JVM's /tmp the current directory: names of sockets are short. */
static int enter_tmp(int root)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root, "tmp", &how, sizeof(how));
	int err = fd < 0 || fchdir(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

/* The socket, connected; or -errno: there is none, or nobody listens. */
static int connect_to(const struct jvm *j)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, err;

	snprintf(at.sun_path, sizeof(at.sun_path), ".java_pid%u", j->status.ns_tgid);
	if (fstatat(AT_FDCWD, at.sun_path, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != j->status.uid)
		return -EACCES;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Has the JVM make its socket. Returns it, connected. */
static int wake(const struct jvm *j)
{
	char name[32];
	int fd, err = 0;

	snprintf(name, sizeof(name), ".attach_pid%u", j->status.ns_tgid);
	fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST)
		return -errno;
	if (fd >= 0)
		close(fd);
	if (syscall(SYS_pidfd_send_signal, j->pidfd, SIGQUIT, NULL, 0))
		err = -errno;
	for (fd = -ETIMEDOUT; !err && fd < 0 && now_ns() < j->until_ns; fd = connect_to(j))
		poll(NULL, 0, LOOK_MS);
	unlink(name);
	if (!err && fd == -ENOENT)
		err = -ETIMEDOUT;	/* it has not made its socket */
	return err ? err : fd;
}

/* Reads up to the end, or to size - 1. Looks now and then, so that it counts as alive. */
static ssize_t read_answer(const struct jvm *j, int fd, char *buf, size_t size)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < size - 1) {
		if (now_ns() >= j->until_ns)
			return -ETIMEDOUT;
		if (poll(&pfd, 1, LOOK_MS) <= 0)
			continue;
		n = read(fd, buf + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	buf[len] = 0;
	return n < 0 ? -errno : (ssize_t)len;
}

static int put_question(const struct jvm *j, int fd)
{
	static const char question[] = "1\0jcmd\0Compiler.perfmap\0\0";	/* ends with a third NUL */
	static char answer[MAX_ANSWER];
	ssize_t n;

	if (send(fd, question, sizeof(question), MSG_NOSIGNAL) != (ssize_t)sizeof(question))
		return -EPIPE;
	n = read_answer(j, fd, answer, sizeof(answer));
	if (n < 0)
		return (int)n;
	if (n >= 2 && !strncmp(answer, "0\n", 2))
		return 0;
	return strstr(answer, "Unknown diagnostic command") ? -ENOSYS : -EREMOTEIO;
}

static int ask_jvm(const struct request *r)
{
	struct jvm j = { .until_ns = now_ns() + LIMIT_NS };
	int err = look_at(r, &j), root, fd;

	if (err)
		return err;
	root = foreign_root(r->pid);
	if (root < 0)
		return root;
	err = become_user(&j);
	if (!err)
		err = enter_tmp(root);
	if (err)
		return err;
	fd = connect_to(&j);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		fd = wake(&j);
	return fd < 0 ? fd : put_question(&j, fd);
}

/* All that is open is closed by the end of the process. */
static void serve(void *state, struct helper_message *m, struct helper_message *answer)
{
	(void)state;
	answer->status = m->part[0].len == sizeof(struct request) ? ask_jvm(m->part[0].v) : -EINVAL;
}

static const struct helper_kind jvm_attach_kind = {
	.name = "probee-java",
	.serve = serve,
	.max_request = MAX_MESSAGE,
};

static void begin_keeper(void)
{
	recording_rights_keep(ROLE_JAVA);
	prctl(PR_SET_NAME, "probee-jvms");
}

/* ---- in probee ---- */

struct lane {
	pthread_mutex_t turn;
	struct helper *helper;
};

struct jvm_attach {
	struct helper_keeper *keeper;
	struct lane lanes[LANES];
};

int jvm_attach_new(struct helper_deaths *deaths, struct jvm_attach **ap)
{
	static const struct helper_kind *const kinds[] = { &jvm_attach_kind };
	const struct helper_keeper_options opts = { .kinds = kinds, .nr_kinds = 1,
						    .deaths = deaths,
						    .begin = begin_keeper };
	struct jvm_attach *a = calloc(1, sizeof(*a));
	int err = a ? helper_keeper_new(&opts, &a->keeper) : -ENOMEM;

	for (size_t i = 0; i < LANES && !err; i++) {
		pthread_mutex_init(&a->lanes[i].turn, NULL);
		err = helper_new(a->keeper, &jvm_attach_kind, &a->lanes[i].helper);
	}
	if (err)
		jvm_attach_free(a);
	else
		*ap = a;
	return err;
}

void jvm_attach_free(struct jvm_attach *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < LANES; i++) {
		helper_free(a->lanes[i].helper);
		pthread_mutex_destroy(&a->lanes[i].turn);
	}
	helper_keeper_free(a->keeper);
	free(a);
}

uint64_t jvm_attach_cpu_ns(const struct jvm_attach *a)
{
	return helper_keeper_cpu_ns(a->keeper);
}

/* A free lane, or else one by the number. */
static struct lane *take_lane(struct jvm_attach *a, pid_t pid)
{
	struct lane *l = &a->lanes[pid % LANES];

	for (size_t i = 0; i < LANES; i++)
		if (!pthread_mutex_trylock(&a->lanes[i].turn))
			return &a->lanes[i];
	pthread_mutex_lock(&l->turn);
	return l;
}

/* Who has become a user is no use for another one: each question has a process of its own. */
int jvm_attach_ask(struct jvm_attach *a, pid_t pid, uint64_t start_boottime_ns,
		   const struct helper_wait *wait)
{
	struct request r = { .pid = pid, .start_boottime_ns = start_boottime_ns };
	const struct helper_message m = { .part = { { &r, sizeof(r) } } };
	struct helper_message answer = { 0 };
	struct lane *l = take_lane(a, pid);
	struct helper_wait own = *wait;
	int err;

	if (!own.until_ns || own.until_ns > now_ns() + LIMIT_NS)
		own.until_ns = now_ns() + LIMIT_NS;
	err = helper_call(l->helper, &m, MAX_MESSAGE, &own, &answer);
	if (!err)
		err = answer.status > 0 ? -EPROTO : answer.status;
	helper_message_release(&answer);
	helper_restart(l->helper);
	pthread_mutex_unlock(&l->turn);
	return err;
}
