/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/file_limit.h"
#include "src/base/io.h"
#include "src/base/timed_reader.h"
#include "src/proc/map_at.h"

#define MAX_MAPS_BYTES (64u << 20)
#define MAX_CMDLINE_BYTES (1u << 20)
#define MAX_STAT_BYTES 65536
#define DELETED " (deleted)"

static uint64_t hex(const char **p)
{
	char *end;
	uint64_t v = strtoull(*p, &end, 16);

	*p = end;
	return v;
}

/* "start-end rwxp pgoff maj:min inode   path"; path: the rest of the line, "\012" for a newline. */
static bool parse_map(char *line, struct proc_map *m)
{
	const char *p = line;
	uint64_t major, minor;
	size_t len;
	char *path;

	memset(m, 0, sizeof(*m));
	m->start = hex(&p);
	if (*p++ != '-')
		return false;
	m->end = hex(&p);
	if (strlen(p) < 6 || p[3] != 'x')
		return false;
	m->prot = PROT_EXEC | (p[1] == 'r' ? PROT_READ : 0) | (p[2] == 'w' ? PROT_WRITE : 0);
	p += 6;
	m->pgoff_bytes = hex(&p);
	major = hex(&p);
	if (*p++ != ':')
		return false;
	minor = hex(&p);
	m->dev = major << 20 | minor;
	m->ino = strtoull(p, &path, 10);
	path += strspn(path, " ");
	len = strlen(path);
	if (m->ino && len > strlen(DELETED) && !strcmp(path + len - strlen(DELETED), DELETED)) {
		path[len - strlen(DELETED)] = 0;
		m->deleted = true;
	}
	m->path = path;
	return m->start < m->end;
}

/* Frees the text. */
static int each_map(char *text, int (*fn)(void *ctx, const struct proc_map *map), void *ctx)
{
	char *line, *next;
	struct proc_map m;
	int err = 0;

	for (line = text; *line && !err; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		if (parse_map(line, &m))
			err = fn(ctx, &m);
	}
	free(text);
	return err;
}

int procfs_maps(pid_t tid, int (*fn)(void *ctx, const struct proc_map *map), void *ctx)
{
	char path[64], *text;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	n = io_read_file(path, &text, MAX_MAPS_BYTES);
	return n < 0 ? (int)n : each_map(text, fn, ctx);
}

int procfs_maps_timed(struct timed_reader *reader, pid_t tid,
		      int (*fn)(void *ctx, const struct proc_map *map), void *ctx)
{
	char path[64], *text;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	n = timed_reader_get(reader, path, MAX_MAPS_BYTES, &text);
	return n < 0 ? (int)n : each_map(text, fn, ctx);
}

int procfs_map_at_timed(struct timed_reader *reader, pid_t tid, uint64_t addr,
			int (*fn)(void *ctx, const struct proc_map *map), void *ctx)
{
	char path[MAP_AT_PATH], *text;
	ssize_t n;

	map_at_path(path, tid, addr);
	n = timed_reader_get(reader, path, MAX_MAPS_BYTES, &text);
	return n < 0 ? (int)n : each_map(text, fn, ctx);
}

/*
 * One field of /proc/PID/stat by its number in proc(5). The fields are counted from the last ")",
 * which is behind field 2: the comm may hold any bytes.
 */
static uint64_t stat_field(const char *stat, int number)
{
	const char *p = strrchr(stat, ')');

	for (int i = 2; p && i < number; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static uint32_t status_number(const char *status, const char *key)
{
	const char *p = strstr(status, key);

	return p ? (uint32_t)strtoul(p + strlen(key), NULL, 10) : 0;
}

static uint64_t status_mask(const char *status, const char *key)
{
	const char *p = strstr(status, key);

	return p ? strtoull(p + strlen(key), NULL, 16) : 0;
}

enum { REAL, EFFECTIVE };		/* columns of "Uid:" */

/*
 * The number in one column of a line such as "NSpid: ours ... its own"; 0: there are fewer columns.
 * Sets *last to the last column.
 */
static uint32_t number_at(const char *status, const char *key, uint32_t column, uint32_t *last)
{
	const char *p = strstr(status, key);
	uint32_t number = 0, nr = 0;

	p = p ? p + strlen(key) : "\n";
	for (;;) {
		p += strspn(p, " \t");
		if (!isdigit((unsigned char)*p))
			break;
		if (nr++ == column)
			number = (uint32_t)strtoul(p, NULL, 10);
		p += strcspn(p, " \t\n");
	}
	*last = nr ? nr - 1 : 0;
	return number;
}

static void parse_stat(const char *text, struct proc_stat *out)
{
	const char *open_paren, *close_paren;

	open_paren = strchr(text, '(');
	close_paren = strrchr(text, ')');
	if (open_paren && close_paren > open_paren) {
		size_t len = (size_t)(close_paren - open_paren - 1);

		memcpy(out->comm, open_paren + 1, len < 15 ? len : 15);
		out->is_dead = close_paren[1] && strchr("ZX", close_paren[2]);
	}
	out->ppid = (uint32_t)stat_field(text, 4);
	out->kthread = stat_field(text, 9) & 0x00200000;	/* PF_KTHREAD */
	out->is_forked = stat_field(text, 9) & 0x00000040;	/* PF_FORKNOEXEC */
	out->start_boottime_ns =
		stat_field(text, 22) * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* /proc/TID/stat would not do: it adds up the times of all threads of the process. */
static void stat_path(char path[64], pid_t tid)
{
	snprintf(path, 64, "/proc/%d/task/%d/stat", tid, tid);
}

int procfs_stat(pid_t tid, struct proc_stat *out)
{
	char path[64], *text;
	ssize_t n;

	memset(out, 0, sizeof(*out));
	stat_path(path, tid);
	n = io_read_file(path, &text, MAX_STAT_BYTES);
	if (n < 0)
		return (int)n;
	parse_stat(text, out);
	free(text);
	return 0;
}

static bool runs_our_program(uint32_t pid)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return !stat("/proc/self/exe", &ours) && !stat(path, &its) && ours.st_dev == its.st_dev &&
	       ours.st_ino == its.st_ino;
}

/* A process whose parent has ended is the child of another one, which runs something else. */
pid_t procfs_own_root(void)
{
	pid_t pid = getpid();
	struct proc_stat st;

	while (!procfs_stat(pid, &st) && st.is_forked && st.ppid && runs_our_program(st.ppid))
		pid = (pid_t)st.ppid;
	return pid;
}

int procfs_stat_timed(struct timed_reader *reader, pid_t tid, struct proc_stat *out)
{
	char path[64], *text;
	ssize_t n;

	memset(out, 0, sizeof(*out));
	stat_path(path, tid);
	n = timed_reader_get(reader, path, MAX_STAT_BYTES, &text);
	if (n < 0)
		return (int)n;
	parse_stat(text, out);
	free(text);
	return 0;
}

bool procfs_hides_others(void)
{
	char *text;
	ssize_t n = io_read_file("/proc/1/status", &text, 65536);	/* there always is one */

	if (n < 0)
		return n == -ENOENT || n == -EACCES || n == -EPERM;
	free(text);
	return false;
}

int procfs_status(pid_t tid, struct proc_status *out)
{
	char path[64], *text;
	uint32_t last;
	ssize_t n;

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	n = io_read_file(path, &text, 65536);
	if (n < 0)
		return (int)n;
	out->tgid = status_number(text, "\nTgid:");
	out->uid = number_at(text, "\nUid:", EFFECTIVE, &last);
	out->real_uid = number_at(text, "\nUid:", REAL, &last);
	out->gid = number_at(text, "\nGid:", EFFECTIVE, &last);
	out->caught_signals = status_mask(text, "\nSigCgt:");
	number_at(text, "\nNStgid:", 0, &out->ns_depth);
	out->ns_tgid = number_at(text, "\nNStgid:", out->ns_depth, &out->ns_depth);
	out->ns_tid = number_at(text, "\nNSpid:", out->ns_depth, &out->ns_depth);
	free(text);
	return 0;
}

void procfs_tmp(pid_t pid, struct process_tmp *out)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED,
	};
	struct proc_status status;
	char path[64];
	int root, tmp;

	*out = (struct process_tmp){ .dir = -1, .is_root = true };
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = procfs_status(pid, &status) ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return;
	out->ns_tgid = status.ns_tgid ? status.ns_tgid : (uint32_t)pid;
	out->uid = status.uid;
	out->real_uid = status.real_uid;
	out->dir = root;
	tmp = (int)syscall(SYS_openat2, root, "tmp", &how, sizeof(how));
	if (tmp < 0)
		return;
	close(root);
	out->dir = tmp;
	out->is_root = false;
}

/* The beginning of a file. *out ends with a NUL. */
static ssize_t read_beginning(const char *path, char **out, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -errno : 0;

	*out = n < 0 ? NULL : calloc(1, max + 1);
	if (*out)
		n = io_pread(fd, *out, max, 0);
	else if (!n)
		n = -ENOMEM;
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(*out);
		*out = NULL;
	}
	return n;
}

/* io_read_file(), or procfs_tmp() if the path is /proc/PID/root. */
static ssize_t read_or_open(const char *path, char **out, size_t max)
{
	struct process_tmp *tmp;
	const char *name = strrchr(path, '/');

	if (name && !strcmp(name, "/cmdline"))
		return read_beginning(path, out, max);
	if (map_at_is_path(path))
		return map_at_read(path, out, max);
	if (!name || strcmp(name, "/root"))
		return io_read_file(path, out, max);
	tmp = malloc(sizeof(*tmp));
	if (!tmp)
		return -ENOMEM;
	procfs_tmp((pid_t)strtol(path + strlen("/proc/"), NULL, 10), tmp);
	*out = (char *)tmp;
	return sizeof(*tmp);
}

static void drop_late(const char *path, char *answer)
{
	const char *name = strrchr(path, '/');
	struct process_tmp tmp;

	if (name && !strcmp(name, "/root")) {
		memcpy(&tmp, answer, sizeof(tmp));
		if (tmp.dir >= 0)
			close(tmp.dir);
	}
	free(answer);
}

struct timed_reader *procfs_reader_new(int timeout_ms, void (*begin)(void))
{
	return timed_reader_new_with(&(struct timed_reader_options){
		.read = read_or_open, .drop = drop_late, .begin = begin,
		.timeout_ms = timeout_ms });
}

int procfs_tmp_timed(struct timed_reader *reader, pid_t pid, struct process_tmp *out)
{
	char path[64], *answer;
	ssize_t n;

	*out = (struct process_tmp){ .dir = -1, .is_root = true };
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	n = timed_reader_get(reader, path, sizeof(*out), &answer);
	if (n < 0)
		return (int)n;
	memcpy(out, answer, sizeof(*out));
	free(answer);
	out->dir = file_limit_keep(out->dir);
	return 0;
}

int procfs_cmdline_timed(struct timed_reader *reader, pid_t pid, char **text)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	n = timed_reader_get(reader, path, PROCFS_CMDLINE_MAX, text);
	if (n < 0)
		return (int)n;
	while (n > 0 && !(*text)[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (!(*text)[i])
			(*text)[i] = ' ';
	if (n)
		return 0;
	free(*text);
	*text = NULL;
	return -ENODATA;
}

bool procfs_has_word(pid_t pid, const char *word)
{
	char path[64], *text;
	ssize_t n;
	bool has;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	n = io_read_file(path, &text, MAX_CMDLINE_BYTES);
	if (n < 0)
		return false;
	has = memmem(text, (size_t)n, word, strlen(word) + 1);
	free(text);
	return has;
}

bool procfs_is_nested(pid_t pid)
{
	struct proc_status status;

	return !procfs_status(pid, &status) && status.ns_depth;
}

uint32_t procfs_own_tid(pid_t tid)
{
	struct proc_status status;

	return procfs_status(tid, &status) ? 0 : status.ns_tid;
}

bool procfs_is_called(pid_t pid, uint32_t number, uint32_t depth)
{
	char path[64], *text;
	uint32_t last;
	bool is_it;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (io_read_file(path, &text, 65536) < 0)
		return false;
	is_it = number_at(text, "\nNStgid:", depth, &last) == number;
	free(text);
	return is_it;
}

void procfs_comm(pid_t pid, char *buf, size_t size)
{
	char path[64], *text;
	ssize_t n;

	buf[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	n = io_read_file(path, &text, MAX_STAT_BYTES);
	if (n < 0)
		return;
	if (n && text[n - 1] == '\n')
		text[n - 1] = 0;
	snprintf(buf, size, "%s", text);
	free(text);
}

void procfs_cgroup(pid_t pid, char *buf, size_t size)
{
	char path[64], *text, *line, *next;

	buf[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (io_read_file(path, &text, 65536) < 0)
		return;
	for (line = text; *line; line = next) {
		char *name = strchr(line, ':');

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		name = name ? strchr(name + 1, ':') : NULL;
		if (!name)
			continue;
		if (!strncmp(line, "0::", 3) ? name[2] != 0 : strlen(name + 1) > strlen(buf))
			snprintf(buf, size, "%s", name + 1);
	}
	free(text);
}

int procfs_each_process(int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (d = readdir(dir))) {
		if (isdigit((unsigned char)d->d_name[0]))
			err = fn(ctx, (pid_t)strtol(d->d_name, NULL, 10));
	}
	closedir(dir);
	return err;
}

bool procfs_thread_is_gone(uint32_t tid)
{
	return syscall(SYS_tkill, tid, 0) && errno == ESRCH;
}

bool procfs_exists(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return access(path, F_OK) == 0;
}

uint32_t procfs_threads(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &st) || st.st_nlink < 2 ? 0 : (uint32_t)st.st_nlink - 2;
}

/* Sets *len to the bytes mapped for the vdso, which does not say how long it is. */
static int find_vdso(void *ctx, const struct proc_map *map)
{
	size_t *len = ctx;

	if (!strcmp(map->path, "[vdso]"))
		*len = map->end - map->start;
	return 0;
}

const void *procfs_vdso(size_t *len)
{
	*len = 0;
	procfs_maps(getpid(), find_vdso, len);
	return *len ? (const void *)getauxval(AT_SYSINFO_EHDR) : NULL;
}
