/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/wait_calls.h"

#include <string.h>
#include <sys/syscall.h>

#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

static const struct {
	uint16_t nr;
	uint8_t call;			/* enum wait_call */
} rows[] = {
	{ SYS_futex, CALL_FUTEX },	  { SYS_futex_waitv, CALL_FUTEX },
	{ SYS_futex_wait, CALL_FUTEX },	  { SYS_wait4, CALL_WAIT4 },
	{ SYS_waitid, CALL_WAITID },	  { SYS_clone, CALL_CLONE },
	{ SYS_clone3, CALL_CLONE },	  { SYS_read, CALL_READ },
	{ SYS_readv, CALL_READ },	  { SYS_accept, CALL_READ },
	{ SYS_accept4, CALL_READ },	  { SYS_recvfrom, CALL_READ },
	{ SYS_recvmsg, CALL_READ },	  { SYS_recvmmsg, CALL_READ },
	{ SYS_splice, CALL_READ },	  { SYS_tee, CALL_READ },
	{ SYS_preadv2, CALL_READ },	  { SYS_write, CALL_WRITE },
	{ SYS_writev, CALL_WRITE },	  { SYS_sendto, CALL_WRITE },
	{ SYS_sendmsg, CALL_WRITE },	  { SYS_sendmmsg, CALL_WRITE },
	{ SYS_connect, CALL_WRITE },	  { SYS_pwritev2, CALL_WRITE },
	{ SYS_vmsplice, CALL_WRITE },	  { SYS_sendfile, CALL_WRITE },
	{ SYS_ppoll, CALL_POLL },	  { SYS_epoll_pwait, CALL_EPOLL },
	{ SYS_epoll_pwait2, CALL_EPOLL }, { SYS_flock, CALL_FILE_LOCK },
	{ SYS_fcntl, CALL_FILE_LOCK },	  { SYS_pread64, CALL_FD },
	{ SYS_pwrite64, CALL_FD },	  { SYS_preadv, CALL_FD },
	{ SYS_pwritev, CALL_FD },	  { SYS_fsync, CALL_FD },
	{ SYS_fdatasync, CALL_FD },	  { SYS_ioctl, CALL_FD },
	{ SYS_io_uring_enter, CALL_FD },  { SYS_getdents64, CALL_FD },
	{ SYS_ftruncate, CALL_FD },	  { SYS_fallocate, CALL_FD },
	{ SYS_fstat, CALL_FD },		  { SYS_fstatfs, CALL_FD },
	{ SYS_syncfs, CALL_FD },	  { SYS_fchdir, CALL_FD },
	{ SYS_lseek, CALL_FD },		  { SYS_close, CALL_FD },
	{ SYS_copy_file_range, CALL_FD }, { SYS_sync_file_range, CALL_FD },
	{ SYS_openat, CALL_PATH_AT },	  { SYS_newfstatat, CALL_PATH_AT },
	{ SYS_statx, CALL_PATH_AT },	  { SYS_mkdirat, CALL_PATH_AT },
	{ SYS_mknodat, CALL_PATH_AT },	  { SYS_unlinkat, CALL_PATH_AT },
	{ SYS_renameat2, CALL_PATH_AT },  { SYS_linkat, CALL_PATH_AT },
	{ SYS_readlinkat, CALL_PATH_AT }, { SYS_faccessat, CALL_PATH_AT },
	{ SYS_fchmodat, CALL_PATH_AT },	  { SYS_fchownat, CALL_PATH_AT },
	{ SYS_utimensat, CALL_PATH_AT },  { SYS_execveat, CALL_PATH_AT },
	{ SYS_openat2, CALL_PATH_AT },	  { SYS_faccessat2, CALL_PATH_AT },
	{ SYS_name_to_handle_at, CALL_PATH_AT },
	{ SYS_execve, CALL_PATH },	  { SYS_chdir, CALL_PATH },
	{ SYS_chroot, CALL_PATH },	  { SYS_statfs, CALL_PATH },
	{ SYS_truncate, CALL_PATH },	  { SYS_umount2, CALL_PATH },
	{ SYS_getxattr, CALL_PATH },	  { SYS_lgetxattr, CALL_PATH },
	{ SYS_setxattr, CALL_PATH },	  { SYS_listxattr, CALL_PATH },
	{ SYS_swapon, CALL_PATH },	  { SYS_swapoff, CALL_PATH },
#ifdef SYS_poll		/* calls that newer architectures do not have */
	{ SYS_poll, CALL_POLL },	  { SYS_epoll_wait, CALL_EPOLL },
	{ SYS_vfork, CALL_CLONE },	  { SYS_open, CALL_PATH },
	{ SYS_stat, CALL_PATH },	  { SYS_lstat, CALL_PATH },
	{ SYS_access, CALL_PATH },	  { SYS_creat, CALL_PATH },
	{ SYS_mkdir, CALL_PATH },	  { SYS_rmdir, CALL_PATH },
	{ SYS_unlink, CALL_PATH },	  { SYS_rename, CALL_PATH },
	{ SYS_link, CALL_PATH },	  { SYS_readlink, CALL_PATH },
	{ SYS_chmod, CALL_PATH },	  { SYS_chown, CALL_PATH },
	{ SYS_lchown, CALL_PATH },	  { SYS_utime, CALL_PATH },
	{ SYS_utimes, CALL_PATH },	  { SYS_mknod, CALL_PATH },
#endif
};

enum wait_call wait_call_of(uint32_t nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].nr == nr)
			return rows[i].call;
	return CALL_OTHER;
}

void wait_calls_fill(uint8_t calls[WAIT_CALLS])
{
	memset(calls, CALL_OTHER, WAIT_CALLS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		calls[rows[i].nr] = rows[i].call;
}
