/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/caps.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/io.h"

static const struct { int cap; const char *name; } names[] = {
	{ CAP_BPF, "cap_bpf" },
	{ CAP_PERFMON, "cap_perfmon" },
	{ CAP_SYS_PTRACE, "cap_sys_ptrace" },
	{ CAP_DAC_READ_SEARCH, "cap_dac_read_search" },
	{ CAP_SYSLOG, "cap_syslog" },
	{ CAP_CHECKPOINT_RESTORE, "cap_checkpoint_restore" },
	{ CAP_SYS_ADMIN, "cap_sys_admin" },
	{ CAP_IPC_LOCK, "cap_ipc_lock" },
	{ CAP_SYS_RESOURCE, "cap_sys_resource" },
};

uint64_t caps_effective(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	uint64_t caps;

	if (syscall(SYS_capget, &head, data))
		return 0;
	caps = (uint64_t)data[1].effective << 32 | data[0].effective;
	if (caps & CAP_BIT(CAP_SYS_ADMIN))
		caps |= CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON);
	return caps;
}

/* The initial user namespace maps every number to itself. */
bool caps_in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, count = 0;
	char *map = NULL;
	bool inner = false;

	if (io_read_file("/proc/self/uid_map", &map, 4096) > 0 &&
	    sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3)
		inner = outside != 0 || count != 4294967295ul;
	free(map);
	return inner;
}

size_t caps_names(uint64_t caps, char *buf, size_t size)
{
	size_t nr = 0, n = 0;

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(caps & CAP_BIT(names[i].cap)))
			continue;
		if (n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", nr ? "," : "",
					      names[i].name);
		nr++;
	}
	return nr;
}
