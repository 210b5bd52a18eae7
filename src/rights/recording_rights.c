/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/rights/recording_rights.h"

#include <linux/capability.h>
#include <stdio.h>

#include "src/rights/capabilities.h"

#define NR_CAPS 64

/* Measured on Linux 6.18 by the tracepoint capability:cap_capable. */
static const struct recording_right table[] = {
	{ CAP_BPF, NEED_STACKS, ROLE_START | ROLE_MAIN | ROLE_READER, 0,
	  "BPF programs and maps; maps for unwind tables while it records; any bpf(2) on Linux "
	  "5.18" },
	{ CAP_PERFMON, NEED_STACKS, ROLE_START | ROLE_MAIN, 0,
	  "perf events, also of CPUs that come back; programs that read memory; memory maps of "
	  "others since Linux 6.15" },
	{ CAP_SYS_PTRACE, NEED_NAMES,
	  ROLE_START | ROLE_MAIN | ROLE_MEMORY | ROLE_OPENER | ROLE_JAVA, 0,
	  "memory maps, memory, programs and descriptors of others; processes that hidepid hides" },
	{ CAP_DAC_READ_SEARCH, NEED_NAMES, ROLE_START | ROLE_MAIN | ROLE_OPENER, 0,
	  "programs, debug files and perf maps that only their owner may read; /proc/PID/fd" },
	{ CAP_CHECKPOINT_RESTORE, NEED_NAMES, ROLE_START | ROLE_OPENER, 0,
	  "the very file that is mapped, also when it was deleted or is in a container" },
	{ CAP_SYSLOG, NEED_NAMES, ROLE_START, 0, "names of kernel functions: /proc/kallsyms" },
	{ CAP_SYS_ADMIN, NEED_COMFORT, ROLE_START | ROLE_MAIN | ROLE_READER | ROLE_OPENER,
	  CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_CHECKPOINT_RESTORE),
	  "perf events where kernel.perf_event_paranoid is 3 (Debian); after the start only in "
	  "place of cap_bpf, cap_perfmon or cap_checkpoint_restore" },
	{ CAP_KILL, NEED_COMFORT, ROLE_COMMAND | ROLE_JAVA, 0,
	  "to end the command after --, if that runs as another user; and who asks JVMs" },
	{ CAP_SETUID, NEED_COMFORT, ROLE_JAVA, 0,
	  "to ask a JVM as its own user (--java-perf-map)" },
	{ CAP_SETGID, NEED_COMFORT, ROLE_JAVA, 0, "the same, with its group" },
	{ CAP_DAC_OVERRIDE, NEED_COMFORT, ROLE_OUTPUTS, 0,
	  "files in directories of the user behind sudo" },
	{ CAP_FOWNER, NEED_COMFORT, ROLE_OUTPUTS, 0, "to replace files of that user" },
	{ CAP_CHOWN, NEED_COMFORT, ROLE_OUTPUTS, 0, "to give files to that user" },
	{ CAP_SYS_NICE, NEED_COMFORT, ROLE_START, 0, "priority over what it records" },
	{ CAP_NET_ADMIN, NEED_COMFORT, ROLE_START, 0,
	  "a large channel from the reader of the tasks" },
};

uint64_t recording_rights_needed(enum recording_need need)
{
	uint64_t caps = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].need == need)
			caps |= CAP_BIT(table[i].cap);
	return caps;
}

const struct recording_right *recording_rights(size_t *nr)
{
	*nr = sizeof(table) / sizeof(table[0]);
	return table;
}

uint64_t recording_rights_of(unsigned roles, uint64_t held)
{
	uint64_t own = 0, substitutes = 0;

	if (roles & ROLE_START)
		return held;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].roles & roles && !table[i].in_place_of)
			own |= CAP_BIT(table[i].cap);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].roles & roles && table[i].in_place_of & own & ~held)
			substitutes |= CAP_BIT(table[i].cap);
	return (own | substitutes) & held;
}

int recording_rights_keep(unsigned roles)
{
	struct capability_sets held;
	int caps[NR_CAPS], err = capabilities_held(&held);
	uint64_t kept = recording_rights_of(roles, held.permitted);
	size_t nr = 0;

	for (int cap = 0; cap < NR_CAPS; cap++)
		if (kept & CAP_BIT(cap))
			caps[nr++] = cap;
	return err ? err : rights_keep(caps, nr);
}

void recording_roles_text(unsigned roles, char *buf, size_t size)
{
	static const char *const names[] = { "start", "main", "reader", "memory", "opener",
					     "command", "outputs", "java" };
	size_t n = 0;

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (roles & 1u << i && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? "," : "", names[i]);
}
