#include "src/model/syscall_names.h"

#include <stddef.h>
#include <string.h>

/* arch/x86/entry/syscalls/syscall_64.tbl, to Linux 6.17 */
static const char *const x86_64[] = {
	[0] = "read", "write", "open", "close", "stat", "fstat", "lstat", "poll", "lseek", "mmap",
	[10] = "mprotect", "munmap", "brk", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "ioctl",
	[17] = "pread64", "pwrite64", "readv", "writev", "access", "pipe", "select", "sched_yield", "mremap",
	[26] = "msync", "mincore", "madvise", "shmget", "shmat", "shmctl", "dup", "dup2", "pause",
	[35] = "nanosleep", "getitimer", "alarm", "setitimer", "getpid", "sendfile", "socket", "connect",
	[43] = "accept", "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown", "bind", "listen",
	[51] = "getsockname", "getpeername", "socketpair", "setsockopt", "getsockopt", "clone", "fork",
	[58] = "vfork", "execve", "exit", "wait4", "kill", "uname", "semget", "semop", "semctl", "shmdt",
	[68] = "msgget", "msgsnd", "msgrcv", "msgctl", "fcntl", "flock", "fsync", "fdatasync", "truncate",
	[77] = "ftruncate", "getdents", "getcwd", "chdir", "fchdir", "rename", "mkdir", "rmdir", "creat",
	[86] = "link", "unlink", "symlink", "readlink", "chmod", "fchmod", "chown", "fchown", "lchown",
	[95] = "umask", "gettimeofday", "getrlimit", "getrusage", "sysinfo", "times", "ptrace", "getuid",
	[103] = "syslog", "getgid", "setuid", "setgid", "geteuid", "getegid", "setpgid", "getppid",
	[111] = "getpgrp", "setsid", "setreuid", "setregid", "getgroups", "setgroups", "setresuid",
	[118] = "getresuid", "setresgid", "getresgid", "getpgid", "setfsuid", "setfsgid", "getsid", "capget",
	[126] = "capset", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_sigsuspend",
	[131] = "sigaltstack", "utime", "mknod", "uselib", "personality", "ustat", "statfs", "fstatfs",
	[139] = "sysfs", "getpriority", "setpriority", "sched_setparam", "sched_getparam",
	[144] = "sched_setscheduler", "sched_getscheduler", "sched_get_priority_max",
	[147] = "sched_get_priority_min", "sched_rr_get_interval", "mlock", "munlock", "mlockall",
	[152] = "munlockall", "vhangup", "modify_ldt", "pivot_root", "_sysctl", "prctl", "arch_prctl",
	[159] = "adjtimex", "setrlimit", "chroot", "sync", "acct", "settimeofday", "mount", "umount2",
	[167] = "swapon", "swapoff", "reboot", "sethostname", "setdomainname", "iopl", "ioperm",
	[174] = "create_module", "init_module", "delete_module", "get_kernel_syms", "query_module",
	[179] = "quotactl", "nfsservctl", "getpmsg", "putpmsg", "afs_syscall", "tuxcall", "security",
	[186] = "gettid", "readahead", "setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr",
	[193] = "fgetxattr", "listxattr", "llistxattr", "flistxattr", "removexattr", "lremovexattr",
	[199] = "fremovexattr", "tkill", "time", "futex", "sched_setaffinity", "sched_getaffinity",
	[205] = "set_thread_area", "io_setup", "io_destroy", "io_getevents", "io_submit", "io_cancel",
	[211] = "get_thread_area", "lookup_dcookie", "epoll_create", "epoll_ctl_old", "epoll_wait_old",
	[216] = "remap_file_pages", "getdents64", "set_tid_address", "restart_syscall", "semtimedop",
	[221] = "fadvise64", "timer_create", "timer_settime", "timer_gettime", "timer_getoverrun",
	[226] = "timer_delete", "clock_settime", "clock_gettime", "clock_getres", "clock_nanosleep",
	[231] = "exit_group", "epoll_wait", "epoll_ctl", "tgkill", "utimes", "vserver", "mbind",
	[238] = "set_mempolicy", "get_mempolicy", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive",
	[244] = "mq_notify", "mq_getsetattr", "kexec_load", "waitid", "add_key", "request_key", "keyctl",
	[251] = "ioprio_set", "ioprio_get", "inotify_init", "inotify_add_watch", "inotify_rm_watch",
	[256] = "migrate_pages", "openat", "mkdirat", "mknodat", "fchownat", "futimesat", "newfstatat",
	[263] = "unlinkat", "renameat", "linkat", "symlinkat", "readlinkat", "fchmodat", "faccessat",
	[270] = "pselect6", "ppoll", "unshare", "set_robust_list", "get_robust_list", "splice", "tee",
	[277] = "sync_file_range", "vmsplice", "move_pages", "utimensat", "epoll_pwait", "signalfd",
	[283] = "timerfd_create", "eventfd", "fallocate", "timerfd_settime", "timerfd_gettime", "accept4",
	[289] = "signalfd4", "eventfd2", "epoll_create1", "dup3", "pipe2", "inotify_init1", "preadv",
	[296] = "pwritev", "rt_tgsigqueueinfo", "perf_event_open", "recvmmsg", "fanotify_init",
	[301] = "fanotify_mark", "prlimit64", "name_to_handle_at", "open_by_handle_at", "clock_adjtime",
	[306] = "syncfs", "sendmmsg", "setns", "getcpu", "process_vm_readv", "process_vm_writev", "kcmp",
	[313] = "finit_module", "sched_setattr", "sched_getattr", "renameat2", "seccomp", "getrandom",
	[319] = "memfd_create", "kexec_file_load", "bpf", "execveat", "userfaultfd", "membarrier", "mlock2",
	[326] = "copy_file_range", "preadv2", "pwritev2", "pkey_mprotect", "pkey_alloc", "pkey_free",
	[332] = "statx", "io_pgetevents", "rseq", [424] = "pidfd_send_signal", "io_uring_setup",
	[426] = "io_uring_enter", "io_uring_register", "open_tree", "move_mount", "fsopen", "fsconfig",
	[432] = "fsmount", "fspick", "pidfd_open", "clone3", "close_range", "openat2", "pidfd_getfd",
	[439] = "faccessat2", "process_madvise", "epoll_pwait2", "mount_setattr", "quotactl_fd",
	[444] = "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "memfd_secret",
	[448] = "process_mrelease", "futex_waitv", "set_mempolicy_home_node", "cachestat", "fchmodat2",
	[453] = "map_shadow_stack", "futex_wake", "futex_wait", "futex_requeue", "statmount", "listmount",
	[459] = "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal", "setxattrat",
	[464] = "getxattrat", "listxattrat", "removexattrat", "open_tree_attr", "file_getattr",
	[469] = "file_setattr",
};

/* include/uapi/asm-generic/unistd.h as arm64 uses it, to Linux 6.17 */
static const char *const aarch64[] = {
	[0] = "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "setxattr", "lsetxattr",
	[7] = "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
	[14] = "removexattr", "lremovexattr", "fremovexattr", "getcwd", "lookup_dcookie", "eventfd2",
	[20] = "epoll_create1", "epoll_ctl", "epoll_pwait", "dup", "dup3", "fcntl", "inotify_init1",
	[27] = "inotify_add_watch", "inotify_rm_watch", "ioctl", "ioprio_set", "ioprio_get", "flock",
	[33] = "mknodat", "mkdirat", "unlinkat", "symlinkat", "linkat", "renameat", "umount2", "mount",
	[41] = "pivot_root", "nfsservctl", "statfs", "fstatfs", "truncate", "ftruncate", "fallocate",
	[48] = "faccessat", "chdir", "fchdir", "chroot", "fchmod", "fchmodat", "fchownat", "fchown",
	[56] = "openat", "close", "vhangup", "pipe2", "quotactl", "getdents64", "lseek", "read", "write",
	[65] = "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "sendfile", "pselect6",
	[73] = "ppoll", "signalfd4", "vmsplice", "splice", "tee", "readlinkat", "newfstatat", "fstat",
	[81] = "sync", "fsync", "fdatasync", "sync_file_range", "timerfd_create", "timerfd_settime",
	[87] = "timerfd_gettime", "utimensat", "acct", "capget", "capset", "personality", "exit",
	[94] = "exit_group", "waitid", "set_tid_address", "unshare", "futex", "set_robust_list",
	[100] = "get_robust_list", "nanosleep", "getitimer", "setitimer", "kexec_load", "init_module",
	[106] = "delete_module", "timer_create", "timer_gettime", "timer_getoverrun", "timer_settime",
	[111] = "timer_delete", "clock_settime", "clock_gettime", "clock_getres", "clock_nanosleep",
	[116] = "syslog", "ptrace", "sched_setparam", "sched_setscheduler", "sched_getscheduler",
	[121] = "sched_getparam", "sched_setaffinity", "sched_getaffinity", "sched_yield",
	[125] = "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval",
	[128] = "restart_syscall", "kill", "tkill", "tgkill", "sigaltstack", "rt_sigsuspend", "rt_sigaction",
	[135] = "rt_sigprocmask", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_sigreturn",
	[140] = "setpriority", "getpriority", "reboot", "setregid", "setgid", "setreuid", "setuid",
	[147] = "setresuid", "getresuid", "setresgid", "getresgid", "setfsuid", "setfsgid", "times",
	[154] = "setpgid", "getpgid", "getsid", "setsid", "getgroups", "setgroups", "uname", "sethostname",
	[162] = "setdomainname", "getrlimit", "setrlimit", "getrusage", "umask", "prctl", "getcpu",
	[169] = "gettimeofday", "settimeofday", "adjtimex", "getpid", "getppid", "getuid", "geteuid",
	[176] = "getgid", "getegid", "gettid", "sysinfo", "mq_open", "mq_unlink", "mq_timedsend",
	[183] = "mq_timedreceive", "mq_notify", "mq_getsetattr", "msgget", "msgctl", "msgrcv", "msgsnd",
	[190] = "semget", "semctl", "semtimedop", "semop", "shmget", "shmctl", "shmat", "shmdt", "socket",
	[199] = "socketpair", "bind", "listen", "accept", "connect", "getsockname", "getpeername", "sendto",
	[207] = "recvfrom", "setsockopt", "getsockopt", "shutdown", "sendmsg", "recvmsg", "readahead", "brk",
	[215] = "munmap", "mremap", "add_key", "request_key", "keyctl", "clone", "execve", "mmap",
	[223] = "fadvise64", "swapon", "swapoff", "mprotect", "msync", "mlock", "munlock", "mlockall",
	[231] = "munlockall", "mincore", "madvise", "remap_file_pages", "mbind", "get_mempolicy",
	[237] = "set_mempolicy", "migrate_pages", "move_pages", "rt_tgsigqueueinfo", "perf_event_open",
	[242] = "accept4", "recvmmsg", [260] = "wait4", "prlimit64", "fanotify_init", "fanotify_mark",
	[264] = "name_to_handle_at", "open_by_handle_at", "clock_adjtime", "syncfs", "setns", "sendmmsg",
	[270] = "process_vm_readv", "process_vm_writev", "kcmp", "finit_module", "sched_setattr",
	[275] = "sched_getattr", "renameat2", "seccomp", "getrandom", "memfd_create", "bpf", "execveat",
	[282] = "userfaultfd", "membarrier", "mlock2", "copy_file_range", "preadv2", "pwritev2",
	[288] = "pkey_mprotect", "pkey_alloc", "pkey_free", "statx", "io_pgetevents", "rseq",
	[294] = "kexec_file_load", [424] = "pidfd_send_signal", "io_uring_setup", "io_uring_enter",
	[427] = "io_uring_register", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
	[434] = "pidfd_open", "clone3", "close_range", "openat2", "pidfd_getfd", "faccessat2",
	[440] = "process_madvise", "epoll_pwait2", "mount_setattr", "quotactl_fd", "landlock_create_ruleset",
	[445] = "landlock_add_rule", "landlock_restrict_self", "memfd_secret", "process_mrelease",
	[449] = "futex_waitv", "set_mempolicy_home_node", "cachestat", "fchmodat2", "map_shadow_stack",
	[454] = "futex_wake", "futex_wait", "futex_requeue", "statmount", "listmount", "lsm_get_self_attr",
	[460] = "lsm_set_self_attr", "lsm_list_modules", "mseal", "setxattrat", "getxattrat", "listxattrat",
	[466] = "removexattrat", "open_tree_attr", "file_getattr", "file_setattr",
};

#define NR_OF(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *arch;
	const char *const *names;
	size_t nr;
} arches[] = {
	{ "x86_64", x86_64, NR_OF(x86_64) },
	{ "aarch64", aarch64, NR_OF(aarch64) },
};

const char *syscall_name(const char *arch, uint32_t nr)
{
	for (size_t i = 0; i < NR_OF(arches); i++)
		if (!strcmp(arches[i].arch, arch))
			return nr < arches[i].nr ? arches[i].names[nr] : NULL;
	return NULL;
}
