/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_bytes CPUS...: the memory that the BPF maps of a recording take on a machine with so many
 * possible CPUs, in MiB, as their types and sizes say: nothing is loaded, and the machine that this
 * runs on has no say. A line for each kind of recording: its name, then a number for each CPUS.
 *
 * What the kernel adds is in the numbers of maps by hash alone (48 bytes and a bucket for an
 * entry), because those of the other kinds are small beside their values.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/capture/bpf/bpf_object.h"
#include "src/capture/bpf/capture_bpf_parts.h"

#define HASH_ENTRY 64
#define MIB (1024.0 * 1024)

static const struct {
	const char *name;
	unsigned programs;
	double hz;
} rows[] = {
	{ "sample -a, 99 Hz", CAPTURE_SAMPLER, 99 },
	{ "sample -a, 999 Hz", CAPTURE_SAMPLER, 999 },
	{ "snapshot -a", CAPTURE_SNAPSHOT, 0 },
	{ "record -a, 99 Hz", CAPTURE_SAMPLER | CAPTURE_SNAPSHOT, 99 },
	{ "off-CPU", CAPTURE_SAMPLER | CAPTURE_OFF_CPU, 99 },
	{ "uprobes", CAPTURE_UPROBES, 0 },
};

static double bytes_of(const struct bpf_map *map, unsigned cpus)
{
	double value = (bpf_map__value_size(map) + 7) / 8 * 8, nr = bpf_map__max_entries(map);

	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_RINGBUF: return nr;
	case BPF_MAP_TYPE_PERCPU_ARRAY: return nr * value * cpus;
	case BPF_MAP_TYPE_HASH: return nr * (value + bpf_map__key_size(map) + HASH_ENTRY);
	default: return nr * value;
	}
}

static int measure(size_t row, unsigned cpus, double *mib)
{
	struct capture_bpf b = { .nr_cpus = (int)cpus };
	const struct capture_bpf_options opts = {
		.programs = rows[row].programs, .samples_hz = rows[row].hz,
		.knobs = { .want_user = 1, .want_kernel = 1, .deferred = 1 },
	};
	const struct map_needs needs = {
		.samples_hz = opts.samples_hz, .nr_cpus = cpus,
		.has_scans = opts.programs & CAPTURE_TASKS,
	};
	struct bpf_map *map;

	b.skel = bpf_object_open(true, true, NULL);
	if (!b.skel)
		return 1;
	map_sizes_init(&b.sizes, &needs, NULL);
	capture_bpf_choose(b.skel, opts.programs);
	capture_maps_size(&b, &opts);
	*mib = 0;
	bpf_object__for_each_map(map, b.skel->obj)
		if (bpf_map__autocreate(map))
			*mib += bytes_of(map, cpus) / MIB;
	probee_bpf__destroy(b.skel);
	return 0;
}

int main(int argc, char **argv)
{
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		printf("%s", rows[row].name);
		for (int i = 1; i < argc; i++) {
			double mib;

			if (measure(row, (unsigned)strtoul(argv[i], NULL, 10), &mib))
				return 1;
			printf("\t%.1f", mib);
		}
		printf("\n");
	}
	return 0;
}
