/*
 * Which processes hold the other ends of the pipes and sockets that threads wait for: one look at all open descriptors of
 * the machine, by a BPF program that reads nothing but the kernel's own memory (bpf/holders.bpf.h). No file of /proc is
 * opened, no other process can delay it, and network and pid namespaces make no difference.
 *
 *	wait_peers_new(bpf, &p)
 *	wait_peers_find(p, questions, nr)	after a walk
 *	wait_peers_free(p)
 *
 * A look costs by the descriptors and threads of the machine, whoever waits: docs/ARCHITECTURE.md has figures. It is left out
 * while the looks before have taken more than one percent of the time, so that a machine with millions of descriptors
 * is looked at less often, and is never in the walk itself.
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
	uint32_t tgid;			/* one of them; 0: there is none */
};

int wait_peers_new(struct capture_bpf *bpf, struct wait_peers **pp);
void wait_peers_free(struct wait_peers *p);		/* NULL is fine */

/* 0: looked; 1: not now, there are no answers. */
int wait_peers_find(struct wait_peers *p, struct peer_question *questions, size_t nr);
