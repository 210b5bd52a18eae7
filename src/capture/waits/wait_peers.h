/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the processes that hold the other ends of the pipes and sockets that threads wait for. A
 * BPF program looks at all open descriptors of the machine and reads nothing but the kernel's own
 * memory (bpf/holders.bpf.h). No file of /proc is opened, and no other process can delay the look.
 * Network and PID namespaces make one difference only: a holder outside of our PID namespace has no
 * number.
 *
 *	wait_peers_new(bpf, &p)
 *	wait_peers_find(p, questions, nr)	after a scan
 *	wait_peers_free(p)
 *
 * A look costs 1.2 ms with 110 processes, 0.13 us more for each open descriptor and 8 us for each
 * question (measured on a slow machine). It comes after the scan, never during it. After a look
 * there is none for 100 times as long as it took, so that looks take one percent of the time at
 * most: a machine with millions of descriptors is looked at less often.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

struct capture_bpf;
struct wait_peers;

#define PEERS_UNKNOWN UINT32_MAX

struct peer_question {
	struct peer_key key;
	/* The answer: */
	uint32_t holders;		/* number of processes that hold it, or PEERS_UNKNOWN */
	uint32_t tgid;			/* one of them; 0: none, or outside of our PID namespace */
};

int wait_peers_new(struct capture_bpf *bpf, struct wait_peers **pp);
void wait_peers_free(struct wait_peers *p);		/* NULL is fine */

/* 0: the questions have answers; 1: no look was taken, or it failed, and there are none. */
int wait_peers_find(struct wait_peers *p, struct peer_question *questions, size_t nr);
