/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/syscall_names.h"

#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * libseccomp searches its table for each name and returns it as memory of its own (0.34 us a name),
 * so all names are asked for once, in 0.2 ms. Linux 6.17 has 470 numbers and gains about ten a
 * year.
 */
enum { NR_NAMES = 640 };

struct syscall_names {
	char *of_library[NR_NAMES];
	bool is_known_arch;
};

/*
 * System calls up to Linux 6.17 that libseccomp 2.5.4 (Debian 12) does not know yet. From 424 on a
 * new system call has the same number on every architecture.
 */
static const char *const newer[NR_NAMES] = {
	[457] = "statmount",	     [458] = "listmount",	  [459] = "lsm_get_self_attr",
	[460] = "lsm_set_self_attr", [461] = "lsm_list_modules",  [462] = "mseal",
	[463] = "setxattrat",	     [464] = "getxattrat",	  [465] = "listxattrat",
	[466] = "removexattrat",     [467] = "open_tree_attr",	  [468] = "file_getattr",
	[469] = "file_setattr",
};

static const struct {
	const char *name;
	uint32_t token;
} arches[] = {
	{ "x86_64", SCMP_ARCH_X86_64 },
	{ "aarch64", SCMP_ARCH_AARCH64 },
};

struct syscall_names *syscall_names_new(const char *arch)
{
	struct syscall_names *names = calloc(1, sizeof(*names));

	for (size_t i = 0; names && i < sizeof(arches) / sizeof(arches[0]); i++) {
		if (strcmp(arches[i].name, arch))
			continue;
		names->is_known_arch = true;
		for (int nr = 0; nr < NR_NAMES; nr++)
			names->of_library[nr] =
				seccomp_syscall_resolve_num_arch(arches[i].token, nr);
	}
	return names;
}

void syscall_names_free(struct syscall_names *names)
{
	for (size_t i = 0; names && i < NR_NAMES; i++)
		free(names->of_library[i]);
	free(names);
}

const char *syscall_name(const struct syscall_names *names, uint32_t nr)
{
	if (!names->is_known_arch || nr >= NR_NAMES)
		return NULL;
	return names->of_library[nr] ? names->of_library[nr] : newer[nr];
}
