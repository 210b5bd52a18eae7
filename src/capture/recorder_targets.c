/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes are recorded: those that were named, and those that join them. */
#include <errno.h>
#include <stdbool.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/recorder_parts.h"
#include "src/capture/session/session.h"
#include "src/proc/procfs.h"
#include "src/proc/target_rules.h"

bool recorder_wants_process(void *ctx, uint32_t tgid)
{
	const struct recorder *r = ctx;

	return r->is_naming || capture_bpf_is_target(r->bpf, tgid);
}

/* A process that has begun to run a program, or has another name, may be a target from now on. */
bool recorder_lets_join(void *ctx, uint32_t tgid)
{
	const struct recorder *r = ctx;

	return r->opts.rules && target_rules_fit(r->opts.rules, (pid_t)tgid) &&
	       !capture_bpf_target(r->bpf, tgid);
}

int recorder_add_targets(struct recorder *r)
{
	const struct id_list *pids = r->opts.pids, *tids = r->opts.tids;
	struct proc_status status;
	int err = 0;

	for (size_t i = 0; pids && i < pids->nr && !err; i++) {
		/* It has ended since it was found: the others are recorded. */
		if (procfs_status((pid_t)pids->v[i], &status) && pids->nr > 1)
			continue;
		if (procfs_status((pid_t)pids->v[i], &status))
			return fail_try(-ESRCH, "ps -e", "process %u", pids->v[i]);
		if (status.tgid != pids->v[i])
			return fail_why(-ESRCH,
					"process %u: is a thread of process %u. Try: -p %u, or "
					"snapshot -t %u",
					pids->v[i], status.tgid, status.tgid, pids->v[i]);
		err = capture_bpf_target(r->bpf, pids->v[i]);
	}
	for (size_t i = 0; tids && i < tids->nr && !err; i++) {
		if (procfs_status((pid_t)tids->v[i], &status))
			return fail_try(-ESRCH, "ps -eL", "thread %u", tids->v[i]);
		err = capture_bpf_tid(r->bpf, tids->v[i]);
		if (!err)
			err = capture_bpf_target(r->bpf, status.tgid);
	}
	return err;
}

void recorder_forget_process(void *recorder, const struct process *p)
{
	struct recorder *r = recorder;

	if (r->session)
		session_forget_process(r->session, p);
}
