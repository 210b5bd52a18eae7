/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/cmdlines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/fail.h"
#include "src/base/timed_reader.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "src/proc/procfs.h"

#define LIMIT_MS 100			/* it takes 0.05 ms normally */

struct asked {
	uint64_t serial;
	bool hangs;			/* it did not answer, and is not asked again */
};

struct cmdlines {
	struct timed_reader *reader;
	struct per_process asked;	/* struct asked */
};

int cmdlines_new(void (*begin_thread)(void), struct cmdlines **cp)
{
	struct cmdlines *c = calloc(1, sizeof(*c));

	if (c)
		c->reader = procfs_reader_new(LIMIT_MS, begin_thread);
	if (!c || !c->reader) {
		free(c);
		return fail(-ENOMEM, "start a thread that reads command lines");
	}
	c->asked.size = sizeof(struct asked);
	*cp = c;
	return 0;
}

void cmdlines_free(struct cmdlines *c)
{
	if (!c)
		return;
	timed_reader_free(c->reader);
	per_process_release(&c->asked);
	free(c);
}

void cmdlines_read(struct cmdlines *c, struct process *p)
{
	struct asked *own;

	if (!c || p->cmdline || p->is_kthread || p->died_ns != TIME_NEVER)
		return;
	own = per_process_at(&c->asked, p);
	if (own && !own->hangs)
		own->hangs = procfs_cmdline_timed(c->reader, (pid_t)p->tgid, &p->cmdline) ==
			     -ETIMEDOUT;
}
