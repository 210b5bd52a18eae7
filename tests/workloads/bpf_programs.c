/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_programs MS NAME...: for each name in turn, loads a BPF program of that name, has the kernel
 * run it for so many milliseconds, and unloads it. It says "ready PID", and "go" on its standard
 * input begins. Exits with 77 if it may not load programs.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INSNS 3000
#define REPEAT 1000

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int load(const char *name)
{
	static struct bpf_insn insns[INSNS];
	union bpf_attr attr;

	for (size_t i = 0; i < INSNS; i++)	/* r0 = 0; r0 += 1; ... */
		insns[i] = (struct bpf_insn){ .code = BPF_ALU64 | (i ? BPF_ADD : BPF_MOV) | BPF_K,
					      .imm = i ? 1 : 0 };
	insns[INSNS - 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = INSNS;
	attr.license = (uintptr_t)"GPL";
	strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int run(int fd)
{
	char packet[64] = "";
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.data_in = (uintptr_t)packet;
	attr.test.data_size_in = sizeof(packet);
	attr.test.repeat = REPEAT;
	return (int)syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

	printf("ready %d\n", getpid());
	fflush(stdout);
	if (getchar() != 'g')
		return 1;
	for (int i = 2; i < argc; i++) {
		uint64_t until = now_ms() + ms;
		int fd = load(argv[i]);

		if (fd < 0)
			return errno == EPERM ? 77 : 1;
		while (now_ms() < until)
			if (run(fd))
				return 1;
		close(fd);
	}
	return 0;
}
