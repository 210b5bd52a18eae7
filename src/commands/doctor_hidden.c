/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether this kernel lists all threads for BPF programs. Some virtual machines have a kernel that
 * leaves out the first process. A program that writes one byte for each thread is run over that
 * process alone: nothing comes of it if the kernel does not list it.
 */
#include "src/commands/doctor.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "src/commands/doctor_finding.h"

#define FIRST_PROCESS 1

/* struct bpf_iter__task begins with meta, which begins with seq, and task. */
static const struct bpf_insn one_byte[] = {
	{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1 },
	{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_1,
	  .off = 8 },
	{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_2, .off = 6 },
	{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6 },
	{ .code = BPF_ST | BPF_MEM | BPF_B, .dst_reg = BPF_REG_10, .off = -1, .imm = 1 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10 },
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -1 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 1 },
	{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_seq_write },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int load(void)
{
	int btf_id = libbpf_find_vmlinux_btf_id("task", BPF_TRACE_ITER);
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_ITER,
		    .attach_btf_id = (unsigned)btf_id, .prog_flags = BPF_F_SLEEPABLE);

	return btf_id < 0 ? btf_id
			  : bpf_prog_load(BPF_PROG_TYPE_TRACING, "probee_doctor", "GPL", one_byte,
					  sizeof(one_byte) / sizeof(one_byte[0]), &o);
}

/* The number of threads that the kernel lists of the first process, up to 8; or -errno. */
static int count_first(int prog)
{
	union bpf_iter_link_info info = { .task = { .pid = FIRST_PROCESS } };
	LIBBPF_OPTS(bpf_link_create_opts, o, .iter_info = &info, .iter_info_len = sizeof(info));
	int link = bpf_link_create(prog, 0, BPF_TRACE_ITER, &o), file, n;
	char bytes[8];

	if (link < 0)
		return link;
	file = bpf_iter_create(link);
	n = file < 0 ? file : (int)read(file, bytes, sizeof(bytes));
	if (file >= 0)
		close(file);
	close(link);
	return n;
}

void doctor_look_hidden(struct finding *f)
{
	int prog = load(), n = prog < 0 ? prog : count_first(prog);
	char name[32];

	if (prog >= 0)
		close(prog);
	doctor_first_line("/proc/1/comm", name, sizeof(name));
	if (n < 0)
		finding_set(f, FOUND_WARN, "not known: %s", strerror(-n));
	else if (n || !name[0])
		finding_set(f, FOUND_OK, "all that this kernel has");
	else
		finding_set(f, FOUND_WARN, "this kernel does not list process 1 (%s) for BPF "
					   "programs: samples have what it runs, but snapshots do "
					   "not have it, nor what it waits for", name);
}
