/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/rights/sandbox.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/rights/call_filter.h"
#include "src/rights/capabilities.h"
#include "src/rights/landlock.h"

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

static const struct {
	enum sandbox_part part;
	const char *words;
} parts_words[] = {
	{ SANDBOX_RIGHTS, "capabilities" },
	{ SANDBOX_LIMITS, "limits" },
	{ SANDBOX_FILES, "files" },
	{ SANDBOX_WRITES, "writing files" },
	{ SANDBOX_NETWORK, "network" },
	{ SANDBOX_SCOPE, "signals" },
	{ SANDBOX_CALLS, "system calls" },
};

unsigned sandbox_parts_of(const struct sandbox_rules *rules)
{
	unsigned all = SANDBOX_RIGHTS | SANDBOX_LIMITS | SANDBOX_NETWORK | SANDBOX_SCOPE |
		       SANDBOX_CALLS;

	if (rules->kind == SANDBOX_REPORT && IS_SANITIZED)
		return SANDBOX_RIGHTS;
	if (rules->sees_processes)
		return all & ~(unsigned)(SANDBOX_NETWORK | SANDBOX_SCOPE);
	if (rules->connects)
		return (all & ~(unsigned)SANDBOX_NETWORK) | SANDBOX_WRITES;
	if (rules->kind == SANDBOX_WORKER || rules->opens_nothing)
		return all | SANDBOX_FILES;
	return all | SANDBOX_WRITES;
}

void sandbox_text(unsigned parts, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(parts_words) / sizeof(parts_words[0]); i++)
		if (parts & parts_words[i].part && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
					      parts_words[i].words);
}

/* Lowers a limit; false: it could not be set. */
static bool lower_to(__rlimit_resource_t which, uint64_t soft, uint64_t hard)
{
	struct rlimit l;

	if (getrlimit(which, &l))
		return false;
	if (soft < l.rlim_cur)
		l.rlim_cur = soft;
	if (hard < l.rlim_max)
		l.rlim_max = hard;
	return !setrlimit(which, &l);
}

static bool lower(__rlimit_resource_t which, uint64_t value)
{
	return lower_to(which, value, value);
}

/* The signal of the lower limit tells whoever waits for the process what ended it. */
static bool limit_cpu(uint64_t seconds)
{
	return lower_to(RLIMIT_CPU, seconds, seconds + 1);
}

enum { STATM_SIZE, STATM_DATA = 5 };	/* proc_pid_statm(5) */

/* A number of /proc/self/statm, which counts pages, in bytes. */
static uint64_t statm(int field)
{
	uint64_t pages = 0;
	char *text, *at;

	if (io_read_file("/proc/self/statm", &text, 4096) < 0)
		return 0;
	at = text;
	for (int i = 0; i <= field; i++)
		pages = strtoull(at, &at, 10);
	free(text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * A file in memory takes no address space while it is not mapped, so a worker may not write to
 * files at all: it answers through a socket. Nobody of the same user may look into it, or leave its
 * memory in a core file.
 */
static bool limit(const struct sandbox_rules *rules)
{
	uint64_t bytes = rules->memory_bytes;
	bool all = lower(RLIMIT_CORE, 0);

	if (bytes && !IS_SANITIZED)
		all &= lower(RLIMIT_AS, statm(STATM_SIZE) + bytes);
	if (rules->data_bytes && !IS_SANITIZED)
		all &= lower(RLIMIT_DATA, statm(STATM_DATA) + rules->data_bytes);
	if (rules->kind == SANDBOX_REPORT)
		return all;
	all &= lower(RLIMIT_FSIZE, 0);
	if (rules->cpu_seconds)
		all &= limit_cpu(rules->cpu_seconds);
	return !prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) && all;
}

static unsigned enter_landlock(unsigned wanted)
{
	unsigned got = landlock_enter((wanted & SANDBOX_FILES ? LANDLOCK_FILES : 0) |
				      (wanted & SANDBOX_WRITES ? LANDLOCK_WRITES : 0) |
				      (wanted & SANDBOX_NETWORK ? LANDLOCK_NETWORK : 0) |
				      (wanted & SANDBOX_SCOPE ? LANDLOCK_SCOPE : 0));

	return (got & LANDLOCK_FILES ? SANDBOX_FILES : 0) |
	       (got & LANDLOCK_WRITES ? SANDBOX_WRITES : 0) |
	       (got & LANDLOCK_NETWORK ? SANDBOX_NETWORK : 0) |
	       (got & LANDLOCK_SCOPE ? SANDBOX_SCOPE : 0);
}

static int keep(uint64_t kept)
{
	int caps[64];
	size_t nr = 0;

	for (int cap = 0; cap < 64; cap++)
		if (kept & CAP_BIT(cap))
			caps[nr++] = cap;
	return rights_keep(caps, nr);
}

/* Each part must still be allowed to set up the next one, so the filter of calls is the last. */
int sandbox_enter(const struct sandbox_rules *rules)
{
	unsigned wanted = sandbox_parts_of(rules), parts = SANDBOX_RIGHTS;
	int err = keep(rules->kept);

	if (err)
		return err;
	if (wanted & SANDBOX_LIMITS && limit(rules))
		parts |= SANDBOX_LIMITS;
	parts |= enter_landlock(wanted);
	if (wanted & SANDBOX_CALLS && !call_filter_load(rules))
		parts |= SANDBOX_CALLS;
	return (int)parts;
}
