/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of capture_bpf.h, for the files that implement it: capture_bpf.c loads, capture_maps.c
 * says how large the maps are, capture_access.c is what users reach.
 */
#pragma once

#include "bpf/knobs.h"
#include "bpf/rate_limit.h"
#include "bpf/wire.h"
#include "bpf/probee.skel.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/bpf/map_sizes.h"
#include "src/capture/bpf/slab_publisher.h"

#define CAPTURE_BPF_PROGRAMS \
	(sizeof(((struct probee_bpf *)0)->progs) / sizeof(struct bpf_program *))

struct capture_bpf {
	struct probee_bpf *skel;
	struct bpf_link *links[CAPTURE_BPF_PROGRAMS];	/* of programs that are attached at once */
	/* ONCPU_REQUEST_BYTES for each CPU, of which the first word is the request. */
	const volatile uint64_t *oncpu_requests;
	int nr_cpus;
	bool has_uprobe_multi;		/* on_uprobe is for uprobe_multi.h, else for perf events */
	struct slab_publisher publisher;
	struct map_sizes sizes;
	uint64_t slab_bytes;
};

/* Chooses the programs and maps of these kinds (CAPTURE_...). Before the load. */
void capture_bpf_choose(struct probee_bpf *skel, unsigned wanted);

/* Sets the sizes of all maps that depend on the machine or the options. Before the load. */
void capture_maps_size(struct capture_bpf *b, const struct capture_bpf_options *opts);
