/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about live processes, read from /proc: executable mappings, names, the threads that exist.
 * All text there is foreign (names may hold any byte). No function here prints errors, because a
 * process may vanish at any moment.
 *
 * Some of these files wait for locks that a process can hold for ever (src/base/timed_reader.h).
 * These are read through a reader with a time limit, procfs_reader_new(): procfs_..._timed(),
 * -ETIMEDOUT. The functions without one are for processes of our own, or for files that do not
 * wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct timed_reader;

struct proc_map {
	uint64_t start, end, pgoff_bytes;
	uint8_t prot;			/* PROT_... */
	uint64_t dev, ino;		/* as in the kernel: major << 20 | minor */
	const char *path;		/* "" anonymous, "[vdso]"; borrowed for the call */
	bool deleted;			/* " (deleted)" was taken off the path */
};

/*
 * Calls fn for each executable mapping of tid's process, in order of address. 0, -errno, or what fn
 * returned. procfs_maps_timed() reads through the reader: the memory map of a foreign process may
 * be locked, and reading its maps then blocks.
 */
int procfs_maps(pid_t tid, int (*fn)(void *ctx, const struct proc_map *map), void *ctx);
int procfs_maps_timed(struct timed_reader *reader, pid_t tid,
		      int (*fn)(void *ctx, const struct proc_map *map), void *ctx);
/* Gives fn the one mapping that holds addr, if there is one (map_at.h). */
int procfs_map_at_timed(struct timed_reader *reader, pid_t tid, uint64_t addr,
			int (*fn)(void *ctx, const struct proc_map *map), void *ctx);

/*
 * /proc/TID/stat and /proc/TID/status hold different facts about a thread. Each costs 20 us or more
 * to read, so each has a function of its own.
 */
struct proc_stat {
	uint32_t ppid;
	uint64_t start_boottime_ns;	/* to 10 ms */
	char comm[16];
	bool kthread, is_dead;
	bool is_forked;			/* it has run no other program since it was forked */
};

struct proc_status {
	uint32_t tgid, uid;		/* the effective user */
	uint32_t real_uid;
	uint32_t gid;			/* the effective group */
	uint64_t caught_signals;	/* bit N - 1: signal N */
	uint32_t ns_tgid, ns_tid;	/* in its own PID namespace */
	uint32_t ns_depth;		/* levels from our namespace down to that one; 0: ours */
};

int procfs_stat(pid_t tid, struct proc_stat *out);
/*
 * The process that runs this program and from which this one was forked, maybe over others in
 * between: `probee top` forks its recorder. getpid() if there is none.
 */
pid_t procfs_own_root(void);
int procfs_stat_timed(struct timed_reader *reader, pid_t tid, struct proc_stat *out);
int procfs_status(pid_t tid, struct proc_status *out);

/*
 * true: /proc hides the processes of other users from this one (mounted with hidepid, and without
 * CAP_SYS_PTRACE).
 */
bool procfs_hides_others(void);

/* The directory in which a process writes names of the code it makes (jit_names.h). */
struct process_tmp {
	int dir;			/* its /tmp; -1: none */
	bool is_root;			/* dir is its root directory instead */
	uint32_t ns_tgid, uid;		/* its number in its own PID namespace; its user */
	uint32_t real_uid;
};

/*
 * Opens the /tmp of a process; the caller closes dir; -1: the process is gone, or few descriptors
 * are left. The root directory of the process would not do: when the process ends, the mounts below
 * it go with its mount namespace. dir is the root directory only where the kernel does not know the
 * way to /tmp without asking a file system, which might never answer.
 */
void procfs_tmp(pid_t pid, struct process_tmp *out);
int procfs_tmp_timed(struct timed_reader *reader, pid_t pid, struct process_tmp *out);
/* The reader for procfs_..._timed(); begin as in timed_reader.h. NULL: as timed_reader_new(). */
struct timed_reader *procfs_reader_new(int timeout_ms, void (*begin)(void));
/* The name of a process; "": unknown. */
void procfs_comm(pid_t pid, char *buf, size_t size);

/*
 * The command line of a process, its words joined by blanks, at most PROCFS_CMDLINE_MAX bytes; the
 * caller frees it. 0; -ENODATA: it has none (yet); or another -errno.
 */
#define PROCFS_CMDLINE_MAX 4096
int procfs_cmdline_timed(struct timed_reader *reader, pid_t pid, char **text);

/* Whether a word of the command line ends with this text: an option that takes no value. */
bool procfs_has_word(pid_t pid, const char *word);

/* Whether a process is in a PID namespace below ours, and a thread's number in its own one or 0. */
bool procfs_is_nested(pid_t pid);
uint32_t procfs_own_tid(pid_t tid);

/* Whether the process has this number in the namespace depth levels below ours. */
bool procfs_is_called(pid_t pid, uint32_t number, uint32_t depth);

/* The cgroup path of the process (unified hierarchy, else the longest path); "": unknown. */
void procfs_cgroup(pid_t pid, char *buf, size_t size);

/* Calls fn for each thread group of the machine. */
int procfs_each_process(int (*fn)(void *ctx, pid_t pid), void *ctx);
/* Our own vdso, which the kernel maps into every 64-bit process; NULL: there is none. */
const void *procfs_vdso(size_t *len);
bool procfs_exists(pid_t pid);
/*
 * true: no thread has this number. If another one has it by now, an earlier one counts as there
 * until that is gone, too. /proc is not asked.
 */
bool procfs_thread_is_gone(uint32_t tid);
uint32_t procfs_threads(pid_t pid);		/* number of threads; 0: pid is gone */
