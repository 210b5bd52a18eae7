/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes hold the other ends of the pipes and sockets that threads wait for: one look at
 * all open descriptors of the machine, by a BPF program that reads nothing but the kernel's own
 * memory (bpf/holders.bpf.h). No file of /proc is opened, no other process can delay it, and
 * network and PID namespaces make no difference, but that a holder outside of ours has no number.
 *
 *	wait_peers_new(bpf, &p)
 *	wait_peers_find(p, questions, nr)	after a walk
 *	wait_peers_free(p)
 *
 * A look costs 1.2 ms with 110 processes, 0.13 us for each open descriptor more and 8 us for each
 * question (measured on a slow machine). It comes behind the walk, never in it, and only after 100
 * times what the one before it took: one percent of the time at most, so a machine with millions of
 * descriptors is looked at less often.
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
	uint32_t holders;		/* processes that hold it; PEERS_UNKNOWN */
	uint32_t tgid;			/* one of them; 0: there is none, or it is outside of our
					   PID namespace */
};

int wait_peers_new(struct capture_bpf *bpf, struct wait_peers **pp);
void wait_peers_free(struct wait_peers *p);		/* NULL is fine */

/* 0: looked; 1: not now, there are no answers. */
int wait_peers_find(struct wait_peers *p, struct peer_question *questions, size_t nr);
