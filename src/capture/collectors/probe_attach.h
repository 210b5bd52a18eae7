/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts one probe of the command line into the kernel.
 *
 *	probe_attach_find(&a, &scope)		where it goes; nothing is changed yet
 *	usdt_places_put(&a, bpf, &next)		of usdt and with --args: numbers for its places,
 *						from next on
 *	probe_conditions(&a, &f)		its conditions, as the BPF programs have them
 *	probe_attach(&a, bpf, event)		from here on it fires
 *	probe_attach_release(&a)		it is gone
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/knobs.h"
#include "src/capture/collectors/probe_list.h"
#include "src/probes/uprobe_points.h"

struct bpf_link;
struct capture_bpf;
struct traced_function;

struct probe_attach {
	const struct probe_request *request;	/* borrowed */
	int tracefs;			/* its directory; -1: not there. Borrowed */
	struct uprobe_points points;	/* of a uprobe */
	struct traced_function *traced;	/* of fentry and fexit */
	struct bpf_link **links;
	size_t nr_links, cap_links;
	int *raw_links;			/* descriptors of links that libbpf does not know */
	size_t nr_raw, cap_raw;
	size_t nr_refused;		/* places that the kernel has refused */
	bool by_raw_tracepoint;		/* a tracepoint without tracefs */
	uint32_t flags;			/* PROBE_SHADOW_...: are in the cookies, too */
	uint32_t first_place;		/* number of that of the first point; 0: it has none */
};

int probe_attach_find(struct probe_attach *a, const struct uprobe_scope *scope);
/* The arguments at a point, as usdt_arguments_parse() gives them; of a return, its result. */
size_t probe_arguments(const struct probe_attach *a, size_t point,
		       struct probe_argument out[USDT_ARGUMENTS]);
/* Tells the kernel side where the arguments are. 0 or -errno, explained. */
int usdt_places_put(struct probe_attach *a, struct capture_bpf *bpf, uint32_t *next);
int probe_conditions(const struct probe_attach *a, struct probe_filter *out);
int probe_attach(struct probe_attach *a, struct capture_bpf *bpf, uint16_t event);
/* How often the kernel has passed over its probes: probe_misses.h. */
uint64_t probe_attach_missed(const struct probe_attach *a);
/*
 * Takes its probes away. That may take as long as any program of BPF on the machine that may sleep
 * hangs, because the kernel waits for all of them.
 */
void probe_attach_release(struct probe_attach *a);
