/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/rights/call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define BIT(kind) (1u << (kind))
#define WORKER BIT(SANDBOX_WORKER)
#define REPORT BIT(SANDBOX_REPORT)
#define ALL (WORKER | REPORT)

#define FILTER_ROOM (512u << 10)	/* bytes that making a filter takes at most */

/* Calls that pass whatever their arguments are. Each list ends with NULL. */
static const char *const harmless[] = {
	/* descriptors that it has */
	"read", "pread64", "readv", "preadv", "write", "pwrite64", "writev", "lseek", "_llseek",
	"fstat", "fstat64", "close", "dup", "dup3", "fadvise64", "poll", "ppoll", "recvmsg",
	"recvfrom", "shutdown",
	/* memory */
	"munmap", "mremap", "brk", "madvise", "msync",
	/* time, and waiting for it */
	"clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
	/* itself */
	"getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getrusage",
	"sched_yield", "sched_getaffinity", "sysinfo", "uname", "getrandom", "futex", "exit",
	"exit_group", "restart_syscall", "rt_sigreturn", "rt_sigaction", "rt_sigprocmask",
	"rt_sigpending", "sigaltstack", "set_robust_list", "rseq", NULL
};

/* A worker makes no files, in memory or elsewhere, and sends no descriptors. */
static const char *const of_a_command[] = {
	"ftruncate", "fallocate", "sendmsg", "mincore",
	"open", "openat", "openat2", "stat", "lstat", "newfstatat", "statx", "fstatfs", "statfs",
	"access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd",
	"unlink", "unlinkat", "rename", "renameat", "renameat2", "linkat", "fchmod", "fchown",
	"umask", "fsync", "fdatasync", "flock", "fgetxattr", "fcntl", "dup2", "pipe2",
	"signalfd4", "eventfd2", "select", "pselect6", "wait4", "waitid", "alarm", "setitimer",
	"pause", "rt_sigsuspend", "rt_sigtimedwait", NULL
};

/* Not of a sender, which may map code from files: it has no file in memory to write code into. */
static const char *const of_memory_files[] = { "memfd_create", NULL };

/* A server was given the socket that listens; it makes no connection by itself. */
static const char *const of_a_server[] = {
	"accept", "accept4", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
	"setsockopt", "getsockopt", "getsockname", "getpeername", "sendfile", "sendfile64", NULL
};

/* A sender makes connections, and asks resolver and kernel for addresses. It does not listen. */
static const char *const of_a_client[] = {
	"socket", "connect", "bind", "sendto", "sendmmsg", "recvmmsg", "setsockopt", "getsockopt",
	"getsockname", "getpeername", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
	"epoll_pwait2", NULL
};

/* No parser makes these. Whoever makes them has taken it over. */
static const char *const deadly[] = {
	/* other programs and processes */
	"execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
	"pidfd_getfd", "pidfd_send_signal", "kcmp", "kill", "tkill", "rt_sigqueueinfo",
	"rt_tgsigqueueinfo",
	/* the network, and other programs of this machine */
	"socket", "connect", "bind", "listen", "accept", "accept4",
	/* the kernel */
	"bpf", "perf_event_open", "init_module", "finit_module", "delete_module", "kexec_load",
	"kexec_file_load", "reboot", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"userfaultfd", "add_key", "keyctl", "request_key", "iopl", "ioperm", "modify_ldt",
	"syslog", "quotactl", "quotactl_fd", "acct", "swapon", "swapoff",
	/* files by another way than their path, and what is mounted */
	"open_by_handle_at", "name_to_handle_at", "mount", "umount2", "pivot_root", "chroot",
	"move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "fspick", "mount_setattr",
	"mknod", "mknodat",
	/* rights and namespaces */
	"setns", "unshare", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
	"setfsuid", "setfsgid", "setgroups", "capset", "personality",
	/* the clock and the names of the machine */
	"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname",
	"setdomainname", NULL
};

/* The C library looks for files of its own, and does without when they cannot be opened. */
static const char *const files[] = {
	"open", "openat", "openat2", "creat", "stat", "lstat", "access", "faccessat", "faccessat2",
	"readlink", "readlinkat", "statx", NULL
};

/* A call that passes if one of its arguments has, under a mask, a certain value. */
static const struct narrow_call {
	unsigned kinds;
	const char *name;
	unsigned argument;
	uint64_t mask, value;
} narrow_calls[] = {
	{ ALL, "mmap", 2, PROT_EXEC, 0 },
	{ ALL, "mmap2", 2, PROT_EXEC, 0 },
	{ ALL, "mprotect", 2, PROT_EXEC, 0 },
	/* fstat() of a newer C library. It can look at paths, too, but learns only metadata. */
	{ WORKER, "newfstatat", 3, AT_EMPTY_PATH, AT_EMPTY_PATH },
	/* send(): without an address it reaches only whom the socket is connected to. */
	{ ALL, "sendto", 4, UINT64_MAX, 0 },
	/* getrlimit(): reads. */
	{ ALL, "prlimit64", 2, UINT64_MAX, 0 },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_DUPFD },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_DUPFD_CLOEXEC },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_GETFD },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_SETFD },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_GETFL },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_SETFL },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_ADD_SEALS },
	{ WORKER, "fcntl", 1, UINT32_MAX, F_GET_SEALS },
	/* Threads, and no processes. */
	{ REPORT, "clone", 0, CLONE_THREAD, CLONE_THREAD },
	{ REPORT, "ioctl", 1, UINT32_MAX, TCGETS },
	{ REPORT, "ioctl", 1, UINT32_MAX, TIOCGWINSZ },
	{ REPORT, "ioctl", 1, UINT32_MAX, FIONREAD },
	{ REPORT, "ioctl", 1, UINT32_MAX, FIONBIO },
	/* How a terminal passes on what is typed. TIOCSTI, which types, does not pass. */
	{ REPORT, "ioctl", 1, UINT32_MAX, TCSETS },
	{ REPORT, "ioctl", 1, UINT32_MAX, TCSETSW },
	{ REPORT, "ioctl", 1, UINT32_MAX, TCSETSF },
	{ REPORT, "ioctl", 1, UINT32_MAX, TCFLSH },
};

static int add_names(scmp_filter_ctx ctx, uint32_t action, const char *const *names)
{
	int err = 0;

	for (; *names && !err; names++) {
		int call = seccomp_syscall_resolve_name(*names);

		if (call != __NR_SCMP_ERROR)
			err = seccomp_rule_add(ctx, action, call, 0);
	}
	return err;
}

static bool has_name(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* Those of deadly that the rules do not ask for. */
static int add_deadly(scmp_filter_ctx ctx, const struct sandbox_rules *rules)
{
	int err = 0;

	for (const char *const *n = deadly; *n && !err; n++) {
		const char *one[] = { *n, NULL };

		if (!(rules->serves && has_name(of_a_server, *n)) &&
		    !(rules->connects && has_name(of_a_client, *n)))
			err = add_names(ctx, SCMP_ACT_KILL_PROCESS, one);
	}
	return err;
}

static int add_narrow_calls(scmp_filter_ctx ctx, enum sandbox_kind kind)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(narrow_calls) / sizeof(narrow_calls[0]) && !err; i++) {
		const struct narrow_call *c = &narrow_calls[i];
		int call = seccomp_syscall_resolve_name(c->name);
		struct scmp_arg_cmp cmp = { c->argument, SCMP_CMP_MASKED_EQ, c->mask, c->value };

		if (c->kinds & BIT(kind) && call != __NR_SCMP_ERROR)
			err = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 1, &cmp);
	}
	return err;
}

/* abort() sends a signal to its own thread. */
static int add_own_signals(scmp_filter_ctx ctx)
{
	return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
}

/* A pair of unix sockets leads nowhere but to whom one of them is sent. */
static int add_pairs(scmp_filter_ctx ctx)
{
	return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1,
				SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
}

/* Code of a library is mapped from its file, as the C library does to resolve names. */
static int add_libraries(scmp_filter_ctx ctx)
{
	return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_WRITE | PROT_EXEC, PROT_EXEC),
				SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0));
}

/* fork(), without any new namespace. */
static int add_forks(scmp_filter_ctx ctx)
{
	const scmp_datum_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
					CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
					0x80 /* CLONE_NEWTIME */;

	return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces, 0));
}

static int fill(scmp_filter_ctx ctx, const struct sandbox_rules *rules)
{
	enum sandbox_kind kind = rules->kind;
	int err = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	/* Older ones do not know the attribute; the filter then is a list and not a tree. */
	(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!err)
		err = add_names(ctx, SCMP_ACT_ALLOW, harmless);
	if (!err && kind == SANDBOX_REPORT)
		err = add_names(ctx, SCMP_ACT_ALLOW, of_a_command);
	if (!err && kind == SANDBOX_REPORT && !rules->connects)
		err = add_names(ctx, SCMP_ACT_ALLOW, of_memory_files);
	if (!err && kind == SANDBOX_WORKER)
		err = add_names(ctx, SCMP_ACT_ERRNO(EACCES), files);
	if (!err)
		err = add_deadly(ctx, rules);
	if (!err && rules->serves)
		err = add_names(ctx, SCMP_ACT_ALLOW, of_a_server);
	if (!err && rules->connects)
		err = add_names(ctx, SCMP_ACT_ALLOW, of_a_client);
	if (!err && rules->connects)
		err = add_libraries(ctx);
	if (!err && rules->forks)
		err = add_forks(ctx);
	if (!err)
		err = add_narrow_calls(ctx, kind);
	if (!err && (rules->asks_helpers || rules->connects))
		err = add_pairs(ctx);
	return err ? err : add_own_signals(ctx);
}

/* libseccomp 2.5.4 ends by a signal where it gets no memory while it makes a filter. */
static bool has_room(void)
{
	void *room = malloc(FILTER_ROOM);

	free(room);
	return room;
}

int call_filter_load(const struct sandbox_rules *rules)
{
	scmp_filter_ctx ctx = has_room() ? seccomp_init(SCMP_ACT_ERRNO(ENOSYS)) : NULL;
	int err = ctx ? fill(ctx, rules) : -ENOMEM;

	if (!err)
		err = seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}
