/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/rights/capabilities.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/sudo_user.h"

#define PREFIX "cap_"
#define HIGHEST 63

/*
 * Reads the sets of the calling thread into the state that libcap-ng keeps for it. The number of
 * the thread is given each time: that of a process means its first thread, and after fork() it is
 * another one.
 */
static int look(void)
{
	capng_setpid((int)gettid());
	errno = 0;
	return capng_get_caps_process() ? (errno ? -errno : -EPERM) : 0;
}

static uint64_t set_of(capng_type_t type)
{
	uint64_t set = 0;

	for (unsigned cap = 0; cap <= HIGHEST; cap++)
		if (capng_capability_to_name(cap) && capng_have_capability(type, cap) == 1)
			set |= CAP_BIT(cap);
	return set;
}

int capabilities_held(struct capability_sets *out)
{
	int err = look();

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	out->effective = set_of(CAPNG_EFFECTIVE);
	out->permitted = set_of(CAPNG_PERMITTED);
	out->inheritable = set_of(CAPNG_INHERITABLE);
	out->ambient = set_of(CAPNG_AMBIENT);
	out->bounding = set_of(CAPNG_BOUNDING_SET);
	return 0;
}

uint64_t capabilities_effective(void)
{
	uint64_t caps = look() ? 0 : set_of(CAPNG_EFFECTIVE);

	if (caps & CAP_BIT(CAP_SYS_ADMIN))
		caps |= CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON);
	return caps;
}

/* The initial user namespace maps every number to itself. */
bool capabilities_in_user_namespace(void)
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

size_t capabilities_names(uint64_t caps, char *buf, size_t size)
{
	size_t nr = 0, n = 0;

	buf[0] = 0;
	for (int cap = HIGHEST; cap >= 0; cap--) {
		const char *name = caps & CAP_BIT(cap) ? capng_capability_to_name((unsigned)cap)
						       : NULL;

		if (!name)
			continue;
		if (n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s" PREFIX "%s", nr ? "," : "",
					      name);
		nr++;
	}
	return nr;
}

int capabilities_number(const char *name)
{
	int cap = -1;

	if (!strncasecmp(name, PREFIX, strlen(PREFIX)))
		cap = capng_name_to_capability(name + strlen(PREFIX));
	return cap < 0 ? -EINVAL : cap;
}

/*
 * The bounding set comes first, because emptying it needs a capability that is then given up. A
 * thread that is not allowed to empty it does not try, because libcap-ng would print a line of its
 * own. The ambient set is emptied by the kernel with the permitted one, but not if the same ones
 * are kept.
 */
static int apply(bool may_lower_bounds)
{
	if (may_lower_bounds && capng_apply(CAPNG_SELECT_BOUNDS))
		return -EPERM;
	if (capng_apply(CAPNG_SELECT_CAPS) || capng_apply(CAPNG_SELECT_AMBIENT))
		return -EPERM;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

int rights_keep(const int *caps, size_t nr)
{
	int err = look();
	uint64_t held = err ? 0 : set_of(CAPNG_PERMITTED), kept = 0;
	bool may_lower_bounds = !err && capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) == 1;

	if (err)
		return err;
	capng_clear(CAPNG_SELECT_ALL);
	for (size_t i = 0; i < nr; i++)
		kept |= held & CAP_BIT(caps[i]);
	for (unsigned cap = 0; cap <= HIGHEST; cap++)
		if (kept & CAP_BIT(cap))
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, cap);
	err = apply(may_lower_bounds);
	return kept == held ? 0 : err;
}

void rights_own_proc(void)
{
	struct capability_sets held;

	if (!capabilities_held(&held) && !held.permitted)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

int rights_drop_all(void)
{
	int err = rights_keep(NULL, 0);

	rights_own_proc();
	return err;
}

bool rights_are_of_root(void)
{
	return !getauxval(AT_SECURE) && getuid() == 0 && geteuid() == 0;
}

int rights_leave_root(void)
{
	uid_t uid = RIGHTS_NOBODY;
	gid_t gid = RIGHTS_NOBODY;

	if (geteuid())
		return 0;
	if (!sudo_user(&uid, &gid) || !uid) {
		uid = RIGHTS_NOBODY;
		gid = RIGHTS_NOBODY;
	}
	return setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid) ? -errno
										       : 0;
}
