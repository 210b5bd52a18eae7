/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/hidden_tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"
#include "src/model/process.h"

#define MAX_NAMED 5

static bool is_asked_for(const struct hidden_scope *s, uint32_t tgid)
{
	bool all = !(s->pids && s->pids->nr) && !(s->tids && s->tids->nr);

	return all || (s->pids && id_list_has(s->pids, tgid)) ||
	       (s->tids && id_list_has(s->tids, tgid));
}

/*
 * true: p has lived since before the scan, is no kernel thread (scans leave out idle ones), and the
 * scan had no row of it.
 */
static bool is_hidden(const struct hidden_scope *s, const struct process *p, uint64_t begin_ns)
{
	uint32_t self = (uint32_t)getpid();

	if (p->died_ns != TIME_NEVER || p->born_ns >= begin_ns || p->tgid == self ||
	    p->parent_tgid == self || p->tgid == s->own_root || p->parent_tgid == s->own_root ||
	    s->was_met(s->ctx, p))
		return false;
	return p->scanned && !p->is_kthread && process_tasks_living((pid_t)p->tgid);
}

uint64_t hidden_tasks(const struct processes *ps, const struct hidden_scope *scope,
		      uint64_t begin_ns, char *text, size_t size)
{
	char named[256] = "";
	uint64_t threads = 0, processes = 0;
	size_t n = 0;

	for (const struct process *p = ps->all; p; p = p->next) {
		uint32_t nr = is_hidden(scope, p, begin_ns) && is_asked_for(scope, p->tgid)
				      ? procfs_threads((pid_t)p->tgid)
				      : 0;

		if (!nr)
			continue;
		threads += nr;
		if (processes++ < MAX_NAMED && n < sizeof(named))
			n += (size_t)snprintf(named + n, sizeof(named) - n, "%s%u (%.15s)",
					      processes > 1 ? ", " : "", p->tgid, p->comm);
	}
	snprintf(text, size,
		 "snapshots do not have %" PRIu64 " %s of %s %s%s: this kernel does not list them "
		 "for BPF programs. Samples have what they run; what they wait for is not seen",
		 threads, plural(threads, "thread", "threads"),
		 plural(processes, "process", "processes"), named,
		 processes > MAX_NAMED ? " and others" : "");
	return threads;
}
