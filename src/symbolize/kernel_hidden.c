/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/kernel_hidden.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/rights/capabilities.h"
#include "src/base/io.h"

static int read_setting(const char *path)
{
	char *text = NULL, *end;
	int value = SETTING_UNKNOWN;
	long v;

	if (io_read_file(path, &text, 64) <= 0) {
		free(text);
		return value;
	}
	v = strtol(text, &end, 10);
	if (end != text && v > SETTING_UNKNOWN && v < 100)
		value = (int)v;
	free(text);
	return value;
}

void kernel_hidden_look(struct kernel_hidden *h)
{
	h->kptr_restrict = read_setting("/proc/sys/kernel/kptr_restrict");
	h->perf_event_paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid");
	h->has_syslog = capabilities_effective() & CAP_BIT(CAP_SYSLOG);
	h->in_user_ns = capabilities_in_user_namespace();
}

static void put_cause(const struct kernel_hidden *h, char *cause, size_t size)
{
	if (h->kptr_restrict > 1)
		snprintf(cause, size, "kptr_restrict is %d, which hides them from root as well",
			 h->kptr_restrict);
	else if (h->has_syslog && h->in_user_ns)
		snprintf(cause, size, "CAP_SYSLOG of a user namespace does not count for them");
	else if (h->has_syslog)
		snprintf(cause, size, "something other than kptr_restrict hides them");
	else if (h->kptr_restrict == 1)
		snprintf(cause, size, "kptr_restrict is 1 and CAP_SYSLOG is missing");
	else if (h->perf_event_paranoid > 1)
		snprintf(cause, size, "perf_event_paranoid is %d and CAP_SYSLOG is missing",
			 h->perf_event_paranoid);
	else
		snprintf(cause, size, "CAP_SYSLOG is missing");
}

/* Being root helps with kptr_restrict 0 and 1, because root has CAP_SYSLOG. */
static void put_remedy(const struct kernel_hidden *h, char *remedy, size_t size)
{
	if (h->kptr_restrict > 1)
		snprintf(remedy, size, "sudo sysctl kernel.kptr_restrict=1%s",
			 h->has_syslog ? "" : ", and run it as root");
	else if (h->has_syslog)
		snprintf(remedy, size, "run it outside the container");
	else if (h->kptr_restrict == 0 && h->perf_event_paranoid > 1)
		snprintf(remedy, size, "run it as root or with cap_syslog, or: "
				       "sudo sysctl kernel.perf_event_paranoid=1");
	else
		snprintf(remedy, size, "run it as root or with cap_syslog");
}

void kernel_hidden_text(const struct kernel_hidden *h, char *cause, size_t cause_size, char *remedy,
			size_t remedy_size)
{
	put_cause(h, cause, cause_size);
	put_remedy(h, remedy, remedy_size);
}
