/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/rights/landlock.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset	/* the same numbers on all processors */
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif
#define ASK_VERSION 1u

/* struct landlock_ruleset_attr; a kernel that knows less of it takes the rest if it is 0. */
struct ruleset {
	uint64_t files, network, scope;
};

#define READS (1u << 2 | 1u << 3)	/* a file, a directory */

/* What each version of the interface added. */
static const struct {
	int abi;
	unsigned part;
	struct ruleset adds;
} additions[] = {
	{ 1, LANDLOCK_FILES, { .files = (1u << 13) - 1 } },	/* execute ... make symbolic link */
	{ 1, LANDLOCK_WRITES, { .files = ((1u << 13) - 1) & ~READS } },
	/* link or rename into another directory */
	{ 2, LANDLOCK_FILES | LANDLOCK_WRITES, { .files = 1u << 13 } },
	{ 3, LANDLOCK_FILES | LANDLOCK_WRITES, { .files = 1u << 14 } },	/* truncate */
	{ 4, LANDLOCK_NETWORK, { .network = 3 } },	/* bind, connect */
	{ 5, LANDLOCK_FILES, { .files = 1u << 15 } },	/* ioctl on devices */
	{ 6, LANDLOCK_SCOPE, { .scope = 3 } },		/* abstract sockets, signals */
};

/* Fills in what the kernel can do of what is wanted; the parts that it can do. */
static unsigned choose(int abi, unsigned wanted, struct ruleset *r)
{
	unsigned parts = 0;

	for (size_t i = 0; i < sizeof(additions) / sizeof(additions[0]); i++) {
		if (additions[i].abi > abi || !(additions[i].part & wanted))
			continue;
		r->files |= additions[i].adds.files;
		r->network |= additions[i].adds.network;
		r->scope |= additions[i].adds.scope;
		parts |= additions[i].part & wanted;
	}
	return parts;
}

unsigned landlock_enter(unsigned wanted)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION), fd;
	struct ruleset r = { 0 };
	unsigned parts = choose(abi, wanted, &r);

	if (!parts)
		return 0;
	/* A set of rules without exceptions: what it handles is forbidden. */
	fd = (int)syscall(SYS_landlock_create_ruleset, &r, sizeof(r), 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0))
		parts = 0;
	if (fd >= 0)
		close(fd);
	return parts;
}
