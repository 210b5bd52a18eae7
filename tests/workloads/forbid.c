/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forbid CALL[,CALL...] COMMAND...: runs COMMAND under a seccomp filter that answers these system calls with EPERM, as the
 * filters of containers do. CALL: perf_event_open, bpf. Exit code 77: no filter can be set.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned nr;
} calls[] = { { "perf_event_open", SYS_perf_event_open }, { "bpf", SYS_bpf } };

static int forbid(unsigned nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ","))
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			if (!strcmp(name, calls[i].name) && forbid(calls[i].nr))
				return 77;
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
