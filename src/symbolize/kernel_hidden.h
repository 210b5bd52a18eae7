/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the kernel hides its addresses, and what helps. /proc/kallsyms shows 0 for every address
 * unless the kernel's kallsyms_show_value() (kernel/kallsyms.c) allows them. It checks in this
 * order:
 *
 *	kptr_restrict 2 or more?	hidden, from root too
 *	CAP_SYSLOG?			visible, unless it is a container's own
 *	kptr_restrict 1?		hidden
 *	kptr_restrict 0?		visible if perf_event_paranoid is 1 or less
 *
 *	kernel_hidden_look(&h)		reads both settings and the rights of this process, so
 *					before they are given up
 *	kernel_hidden_text(&h, ...)	"kptr_restrict is 1 and CAP_SYSLOG is missing", and the
 *					remedy for exactly that
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SETTING_UNKNOWN (-100)		/* no such file, or it is not readable */

struct kernel_hidden {
	int kptr_restrict;
	int perf_event_paranoid;
	bool has_syslog;		/* CAP_SYSLOG is in the effective set */
	bool in_user_ns;		/* in a user namespace other than the initial one */
};

void kernel_hidden_look(struct kernel_hidden *h);

/* Both texts are cut to their sizes, and neither has a full stop at its end. */
void kernel_hidden_text(const struct kernel_hidden *h, char *cause, size_t cause_size, char *remedy,
			size_t remedy_size);
