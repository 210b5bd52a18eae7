/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose share of what all users have together something takes, and what each user costs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "src/capture/processes/binary_store.h"
#include "src/capture/recorder_parts.h"
#include "src/foreign/file_opener.h"
#include "src/foreign/wait_budget.h"
#include "src/parse/parsers.h"
#include "src/proc/procfs.h"
#include "unwind/unwind_limits.h"

/* Windows of generated code have one share together: code_shares.h divides it. */
uint32_t recorder_table_owner(void *ctx, uint32_t binary)
{
	const struct recorder *r = ctx;

	return binary < UNWIND_FIRST_WINDOW ? binary_store_user(r->store, binary)
					    : UNWIND_FIRST_WINDOW;
}

uint32_t recorder_process_owner(void *ctx, uint32_t tgid)
{
	const struct recorder *r = ctx;

	return file_opener_user(r->opener, (pid_t)tgid);
}

int recorder_process_users(void *ctx, uint32_t tgid, struct process_users *out)
{
	const struct recorder *r = ctx;
	struct proc_status status;

	if (procfs_status((pid_t)tgid, &status))
		return -ESRCH;
	out->number = wait_budget_number(status.real_uid, status.uid);
	out->user = file_opener_user_was(r->opener, status.real_uid, status.uid);
	return 0;
}

static void on_parser_cost(void *ctx, pid_t pid, uint32_t owner, uint64_t cpu_ns)
{
	const struct recorder *r = ctx;

	user_costs_add(r->costs, pid ? file_opener_user(r->opener, pid) : owner, cpu_ns);
}

int recorder_costs_open(struct recorder *r)
{
	struct user_costs_deps deps = { .rates = r->opts.rates, .processes = &r->processes,
					.users_of = recorder_process_users, .ctx = r };

	if (!r->opts.rates)
		return 0;
	parsers_tell_costs(r->parsers, on_parser_cost, r);
	return user_costs_new(&deps, &r->costs);
}

void recorder_divide_cost(struct recorder *r, uint64_t ns)
{
	user_costs_divide(r->costs, ns);
}

void recorder_slow_users(struct recorder *r, char *buf, size_t size)
{
	struct number_rate v[COST_NUMBERS];
	size_t nr = user_costs_rates(r->costs, v), n = 0;

	buf[0] = '\0';
	if (r->costs)
		capture_bpf_slow_users(r->bpf, v, nr);
	for (size_t i = 0; i < nr && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%" PRIu32 "=%" PRIu32, i ? " " : "",
				      v[i].number, v[i].times);
}
