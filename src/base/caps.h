/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capabilities of this process, and the names of capabilities. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAP_BIT(cap) (1ull << (cap))	/* CAP_BIT(CAP_BPF), numbers from <linux/capability.h> */

/* The effective set. CAP_SYS_ADMIN implies CAP_BPF and CAP_PERFMON, so their bits are set too. */
uint64_t caps_effective(void);

/*
 * Whether this process is in a user namespace other than the initial one: capabilities held there
 * look like root's but give no rights outside of it.
 */
bool caps_in_user_namespace(void);

/*
 * "cap_bpf,cap_perfmon": the names of a set, as setcap(8) reads them. Returns how many there are.
 */
size_t caps_names(uint64_t caps, char *buf, size_t size);
