/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/probe_misses.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

uint64_t probe_misses_of_program(int prog_fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &len) ? 0 : info.recursion_misses;
}

/*
 * struct bpf_link_info of Linux 6.7 for a link of a perf event (include/uapi/linux/bpf.h), which
 * older headers do not have whole.
 */
struct perf_link_info {
	uint32_t link_type, id, prog_id, pad0;
	uint32_t type, pad1;		/* BPF_PERF_EVENT_KPROBE is 3, _KRETPROBE 4 */
	uint64_t name;
	uint32_t name_len, offset;
	uint64_t address, missed;
	uint8_t rest[64];
};

uint64_t probe_misses_of_link(int link_fd)
{
	struct perf_link_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(link_fd, &info, &len))
		return 0;
	return info.type == 3 || info.type == 4 ? info.missed : 0;
}
