/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/uprobe_multi.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MULTI_RETURN 1		/* BPF_F_UPROBE_MULTI_RETURN */

/* The part of union bpf_attr for BPF_LINK_CREATE (include/uapi/linux/bpf.h of Linux 6.6). */
struct link_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t nr, multi_flags, pid, pad;
};

int uprobe_multi_link(int prog, const struct uprobe_multi *m)
{
	struct link_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = UPROBE_MULTI_TYPE,
		.path = (uint64_t)(uintptr_t)m->path,
		.offsets = (uint64_t)(uintptr_t)m->offsets,
		.ref_ctr_offsets = (uint64_t)(uintptr_t)m->semaphores,
		.cookies = (uint64_t)(uintptr_t)m->cookies,
		.nr = (uint32_t)m->nr,
		.multi_flags = m->returns ? MULTI_RETURN : 0,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

/* A kernel that has them says that a directory is no file for probes, others refuse all of it. */
bool uprobe_multi_is_there(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI_TYPE);
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "multi", "GPL", insns, 2, &opts), link;
	const uint64_t zero = 0;
	const struct uprobe_multi m = { .path = "/", .offsets = &zero, .cookies = &zero, .nr = 1 };

	if (prog < 0)
		return false;
	link = uprobe_multi_link(prog, &m);
	if (link >= 0)
		close(link);
	close(prog);
	return link == -EBADF;
}
