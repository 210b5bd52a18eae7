/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ancestor_walk.bpf.c puts into its ring. */
#pragma once

#define ANCESTOR_FRAMES 127
#define ANCESTOR_KTHREAD 0x00200000	/* PF_KTHREAD */

struct ancestor_event {
	int pid, tgid;
	unsigned int state;
	int nr_user;
	long kernel_bytes;
	char comm[16];
	unsigned long long kernel[ANCESTOR_FRAMES];
	unsigned long long user[ANCESTOR_FRAMES];
};
