/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare_uprobes FILE OFFSET:SEMAPHORE... -- COMMAND...: runs the command while uprobes are there whose BPF program does nothing. Numbers
 * are offsets in the file.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MULTI 48		/* BPF_TRACE_UPROBE_MULTI */
#define MAX 16

struct link_attr {		/* of Linux 6.6 */
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t nr, multi_flags, pid, pad;
};

static int program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_KPROBE };

	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = 2;
	attr.license = (uint64_t)(uintptr_t)"GPL";
	attr.expected_attach_type = MULTI;
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	uint64_t offsets[MAX], semaphores[MAX];
	struct link_attr attr = { .attach_type = MULTI };
	int i, prog = program(), status;

	for (i = 2; i < argc && strcmp(argv[i], "--") && attr.nr < MAX; i++, attr.nr++) {
		char *end;

		offsets[attr.nr] = strtoull(argv[i], &end, 0);
		semaphores[attr.nr] = *end ? strtoull(end + 1, NULL, 0) : 0;
	}
	if (i + 1 >= argc || !attr.nr)
		return 2;
	attr.prog_fd = (uint32_t)prog;
	attr.path = (uint64_t)(uintptr_t)argv[1];
	attr.offsets = (uint64_t)(uintptr_t)offsets;
	attr.semaphores = (uint64_t)(uintptr_t)semaphores;
	if (prog < 0 || syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0) {
		perror("bare_uprobes");
		return 77;
	}
	if (!fork()) {
		execvp(argv[i + 1], argv + i + 1);
		_exit(127);
	}
	return wait(&status) < 0 || status;
}
