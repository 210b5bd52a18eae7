/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large the maps of the BPF object are made, and which part of dump_scratch belongs to whom:
 * its slots are numbered, and each collector has those from a number of its own on.
 */
#include <bpf/libbpf.h>
#include <stdio.h>

#include "src/capture/bpf/capture_bpf_parts.h"

#define LARGEST_ROW (sizeof(struct wire_dump) + WIRE_DUMP_PAGES * UNWIND_MEMORY_PAGE)
/* The entry of a thread in last_scans is its tid modulo their number, and few shall share one. */
#define LAST_SCANS_EACH 8
/* Few of many CPUs have one of the largest rows at a time. */
#define ONCPU_RING_MOST (16u << 20)
/* More threads may come while the recording runs. */
#define OFF_CPU_THREADS_EACH 3

/*
 * A power of two with room for one of the largest rows of each CPU, and for common rows, of some
 * 200 bytes, of all threads that can be requested at their next switch.
 */
static uint32_t oncpu_ring_bytes(int nr_cpus)
{
	uint32_t bytes = SWITCH_REQUESTS * 256;

	while (bytes < (uint64_t)nr_cpus * LARGEST_ROW && bytes < ONCPU_RING_MOST)
		bytes *= 2;
	return bytes;
}

/* A power of two: so many times as many as there are threads, from 16,384 to 1 M. */
static uint32_t threads_times(unsigned times)
{
	unsigned threads = 0;
	uint32_t nr = 1 << 14;
	FILE *f = fopen("/proc/loadavg", "re");

	if (f && fscanf(f, "%*s %*s %*s %*u/%u", &threads) != 1)
		threads = 0;
	if (f)
		fclose(f);
	while (nr < (uint64_t)times * threads && nr < 1u << 20)
		nr *= 2;
	return nr;
}

static void size_mirrors(struct capture_bpf *b, struct knobs *knobs)
{
	struct bpf_map *states = b->skel->maps.delta_states;

	knobs->part_pages = map_sizes_part_pages(&b->sizes, (uint32_t)b->nr_cpus);
	bpf_map__set_max_entries(states, knobs->shared_slots);
	bpf_map__set_value_size(states, bpf_map__value_size(states) -
						WIRE_DELTA_SPARE(knobs->part_pages));
}

/* Those whose rows in kinds.def say how large they are. */
static void size_by_rows(struct capture_bpf *b)
{
	const uint32_t cpus = (uint32_t)b->nr_cpus;

#define MAP(name, when)
#define RING(name, when) bpf_map__set_max_entries(b->skel->maps.name, b->sizes.ring_bytes);
#define EACH_CPU(name, when, n) bpf_map__set_max_entries(b->skel->maps.name, (n) * cpus);
#include "bpf/kinds.def"
}

/* Those that all recordings have. */
static void size_processes(struct capture_bpf *b, const struct capture_bpf_options *opts)
{
	bpf_map__set_max_entries(b->skel->maps.mappings, b->sizes.mappings);
	bpf_map__set_max_entries(b->skel->maps.pages, b->sizes.pages);
	bpf_map__set_max_entries(b->skel->maps.processes, b->sizes.processes);
	bpf_map__set_max_entries(b->skel->maps.last_exec, b->sizes.processes);
	/* To make one takes 0.5 ms and 1.3 MiB, and without such a filter it stays empty. */
	bpf_map__set_max_entries(b->skel->maps.targets,
				 opts->knobs.only_targets ? b->sizes.processes : 1);
	bpf_map__set_max_entries(b->skel->maps.tids,
				 opts->knobs.only_tids ? b->sizes.processes : 1);
}

static void size_scans(struct capture_bpf *b, struct knobs *knobs)
{
	bpf_map__set_max_entries(b->skel->maps.oncpu_ring, oncpu_ring_bytes(b->nr_cpus));
	knobs->last_scans = threads_times(b->sizes.is_tight ? 1 : LAST_SCANS_EACH);
	bpf_map__set_max_entries(b->skel->maps.last_scans, knobs->last_scans);
}

static void size_stays(struct capture_bpf *b, struct knobs *knobs)
{
	knobs->leaving_sets = map_sizes_leaving_sets((uint32_t)b->nr_cpus);

	bpf_map__set_max_entries(b->skel->maps.off_cpu_threads,
				 threads_times(OFF_CPU_THREADS_EACH));
	bpf_map__set_max_entries(b->skel->maps.off_cpu_memos, knobs->memos ? knobs->memos : 1);
	bpf_map__set_max_entries(b->skel->maps.leaving_memos, knobs->leaving_sets);
}

static void size_probes(struct capture_bpf *b, struct knobs *knobs, unsigned programs)
{
	uint32_t slots = PROBE_SLOTS * (uint32_t)b->nr_cpus;

	if (programs & CAPTURE_USDT)
		bpf_map__set_max_entries(b->skel->maps.usdt_places, USDT_PLACES);
	if (programs & CAPTURE_TIMED_PROBES)
		bpf_map__set_max_entries(b->skel->maps.probe_entries, PROBE_ENTRIES);
	knobs->returns = programs & CAPTURE_RETURNS ? 1 : 0;
	if (knobs->memos)
		bpf_map__set_max_entries(b->skel->maps.probe_memos, PROBE_MEMOS + slots);
	bpf_map__set_max_entries(b->skel->maps.probe_ring, 2 * b->sizes.ring_bytes);
}

static void size_shadows(struct capture_bpf *b, struct knobs *knobs)
{
	knobs->shadow = 1;
	bpf_map__set_max_entries(b->skel->maps.shadow_frames, SHADOW_FRAMES);
	bpf_map__set_max_entries(b->skel->maps.shadow_known, SHADOW_KNOWN);
	bpf_map__set_max_entries(b->skel->maps.shadow_recent, SHADOW_RECENT);
	bpf_map__set_max_entries(b->skel->maps.shadow_slots, PROBE_SLOTS * (uint32_t)b->nr_cpus);
}

/* Gives each collector its slots of dump_scratch. */
static void share_dumps(struct capture_bpf *b, const struct capture_bpf_options *opts,
			struct knobs *knobs)
{
	uint32_t each = knobs->shared_slots;
	uint32_t next = opts->programs & CAPTURE_SAMPLER && opts->knobs.audit ? each : 0;

	knobs->snapshot_slot = next;
	next += SCAN_SLOTS;
	knobs->running_slot = next;
	next += opts->programs & CAPTURE_SNAPSHOT ? each : 0;
	knobs->off_cpu_slot = next;
	next += opts->programs & CAPTURE_OFF_CPU ? each : 0;
	knobs->probe_slot = next;
	next += opts->programs & CAPTURE_PROBES ? PROBE_SLOTS * each : 0;
	bpf_map__set_max_entries(b->skel->maps.dump_scratch, next);
}

/* The programs name these maps, but do not reach them (knobs.runtimes). */
static void size_without_runtimes(struct capture_bpf *b)
{
	bpf_map__set_max_entries(b->skel->maps.runtimes, 1);
	bpf_map__set_max_entries(b->skel->maps.frame_programs, 1);
}

void capture_maps_size(struct capture_bpf *b, const struct capture_bpf_options *opts)
{
	struct knobs *knobs = (struct knobs *)&b->skel->rodata->knobs;

	knobs->shared_slots = map_sizes_shared_slots((uint32_t)b->nr_cpus);
	size_by_rows(b);
	size_processes(b, opts);
	share_dumps(b, opts, knobs);
	size_mirrors(b, knobs);
	knobs->memos = map_sizes_memos(&b->sizes, (uint32_t)b->nr_cpus);
	/* A function that probes tell of would be there twice. */
	knobs->rare = !b->sizes.is_tight;
	knobs->runtimes = !b->sizes.is_tight && !(opts->programs & CAPTURE_USDT_STACKS);
	if (b->sizes.is_tight)
		size_without_runtimes(b);
	bpf_map__set_max_entries(b->skel->maps.memos, knobs->memos ? knobs->memos : 1);
	if (opts->programs & CAPTURE_PROBES)
		size_probes(b, knobs, opts->programs);
	if (opts->programs & (CAPTURE_USDT_STACKS | CAPTURE_VALUES))
		size_shadows(b, knobs);
	if (opts->programs & CAPTURE_TASKS)
		size_scans(b, knobs);
	if (opts->programs & CAPTURE_OFF_CPU)
		size_stays(b, knobs);
	knobs->wakeup_bytes = b->sizes.ring_bytes / 4;
	knobs->ring_room = b->sizes.ring_bytes / 2;
}
