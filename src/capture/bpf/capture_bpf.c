/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/capture_bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bpf/knobs.h"
#include "bpf/probee.skel.h"
#include "bpf/wire.h"
#include "src/rights/recording_rights.h"
#include "src/base/fail.h"
#include "src/capture/bpf/bpf_object.h"
#include "src/capture/bpf/capture_bpf_parts.h"
#include "src/capture/bpf/kernel_types.h"
#include "src/capture/bpf/load_errors.h"
#include "src/capture/bpf/map_sizes.h"
#include "src/capture/bpf/parallel_load.h"
#include "src/capture/bpf/slab_publisher.h"
#include "src/capture/bpf/trusted_args.h"
#include "src/capture/bpf/uprobe_multi.h"
#include "src/capture/bpf/wait_calls.h"
#include "src/base/memory_limit.h"

/* What the smaller objects lack (bpf_object.h), beside scans: all other kinds. */
#define BEYOND_SAMPLES (~(unsigned)(CAPTURE_SAMPLER | CAPTURE_TASKS))

#define PARALLEL_ROOM_BYTES (256ull << 20)

/* Values of program.when beside CAPTURE_... */
#define ALWAYS (~0u)
#define IN_PID_NS (1u << 31)

/* Every program of the object: when it is loaded, and whether it is then attached at once. */
static const struct program {
	size_t offset;			/* of its pointer in the skeleton */
	unsigned when;			/* any of CAPTURE_..., IN_PID_NS; ALWAYS; 0: never */
	bool attached;
} programs[] = {
#define PROGRAM(name, when, attached) { offsetof(struct probee_bpf, progs.name), when, attached },
#include "bpf/kinds.def"
};
#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

_Static_assert(NR_PROGRAMS ==
		       sizeof(((struct probee_bpf *)0)->progs) / sizeof(struct bpf_program *),
	       "a program of the BPF object has no row");

/* Maps that are made only for some kinds of capture. */
static const struct optional_map {
	size_t offset;
	unsigned when;
} optional_maps[] = {
#define MAP(name, when) { offsetof(struct probee_bpf, maps.name), when },
#include "bpf/kinds.def"
};

/* Messages of libbpf are shown with -v only. */
static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[512];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = 0;
	note_verbose("%s", line);
	return 0;
}

static struct bpf_program *program_of(const struct probee_bpf *skel, const struct program *p)
{
	return *(struct bpf_program *const *)((const char *)skel + p->offset);
}

void capture_bpf_choose(struct probee_bpf *skel, unsigned wanted)
{
	if (skel->rodata->knobs.in_pid_ns)
		wanted |= IN_PID_NS;
	for (size_t i = 0; i < NR_PROGRAMS; i++)
		bpf_program__set_autoload(program_of(skel, &programs[i]),
					  programs[i].when == ALWAYS || programs[i].when & wanted);
	for (size_t i = 0; i < sizeof(optional_maps) / sizeof(optional_maps[0]); i++)
		if (!(optional_maps[i].when & wanted))
			bpf_map__set_autocreate(*(struct bpf_map *const *)((const char *)skel +
									   optional_maps[i].offset),
						false);
}

/*
 * Inside a PID namespace the programs have to know which one it is: on_self runs in this process
 * and looks.
 */
static int find_own_pid_ns(struct capture_bpf *b)
{
	static const uint64_t no_arguments[1];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = no_arguments,
		    .ctx_size_in = sizeof(no_arguments));
	const struct own_pid_ns *own = &b->skel->bss->own_pid_ns;

	if (bpf_prog_test_run_opts(bpf_program__fd(b->skel->progs.on_self), &opts))
		return fail(-errno, "ask the kernel for the PID namespace of probee");
	if (!own->address || !own->level)
		return fail_why(-ENOTSUP,
				"the kernel does not say which PID namespace probee is in");
	return 0;
}

/* Maps the requests for threads on CPUs, which the programs write (bpf/running.bpf.h). */
static int map_requests(struct capture_bpf *b)
{
	size_t bytes = (size_t)b->nr_cpus * ONCPU_REQUEST_BYTES;
	void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED,
		       bpf_map__fd(b->skel->maps.oncpu_requests), 0);

	if (p == MAP_FAILED)
		return fail(-errno, "map the requests for threads on a CPU");
	b->oncpu_requests = p;
	return 0;
}

static int attach_programs(struct capture_bpf *b)
{
	for (size_t i = 0; i < NR_PROGRAMS; i++) {
		struct bpf_program *prog = program_of(b->skel, &programs[i]);

		if (!programs[i].attached || !bpf_program__autoload(prog))
			continue;
		b->links[i] = bpf_program__attach(prog);
		if (!b->links[i])
			return load_errors_explain(-errno);
	}
	return 0;
}

/* Whether a program on a raw tracepoint may ask for its cookie: the kernel lets one be loaded. */
static bool raw_tp_has_cookies(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_attach_cookie },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "cookie", "GPL", insns, 2, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int load_object(struct probee_bpf *skel, const struct kernel_types *types, bool at_once)
{
	struct parallel_load l;

	parallel_load_begin(&l, types, at_once);
	return parallel_load_end(&l, probee_bpf__load(skel));
}

static int load_once(struct capture_bpf *b, const struct capture_bpf_options *opts,
		     const struct kernel_types *types, bool trusted, bool at_once)
{
	int err = parallel_load_handlers();

	if (err)
		return err;
	b->skel = bpf_object_open(opts->programs & CAPTURE_TASKS, opts->programs & BEYOND_SAMPLES,
				  *types->path ? types->path : NULL);
	if (!b->skel)
		return -errno;
	if (!trusted)
		trusted_args_drop(b->skel->obj);
	memcpy((void *)&b->skel->rodata->knobs, &opts->knobs, sizeof(opts->knobs));
	((struct knobs *)&b->skel->rodata->knobs)->raw_tp_cookies =
		opts->programs & CAPTURE_RAW_TRACEPOINTS && raw_tp_has_cookies();
	wait_calls_fill((uint8_t *)b->skel->rodata->wait_calls);
	capture_bpf_choose(b->skel, opts->programs);
	b->has_uprobe_multi = opts->programs & CAPTURE_UPROBES && uprobe_multi_is_there();
	if (b->has_uprobe_multi)
		bpf_program__set_expected_attach_type(b->skel->progs.on_uprobe,
						      (enum bpf_attach_type)UPROBE_MULTI_TYPE);
	capture_maps_size(b, opts);
	err = load_object(b->skel, types, at_once);
	if (err) {
		probee_bpf__destroy(b->skel);
		b->skel = NULL;
	}
	return err;
}

/*
 * This comes before the load: a control group that runs out of memory meanwhile kills probee, and
 * then nothing more can be said.
 */
static void say_reduced(const struct capture_bpf *b, const struct memory_limit *m)
{
	char text[256], group[128] = "";

	map_sizes_text(&b->sizes, text, sizeof(text));
	if (m)
		snprintf(group, sizeof(group),
			 " (the control group may have %.1f MiB, %.1f MiB are used)",
			 (double)m->limit_bytes / (1 << 20), (double)m->used_bytes / (1 << 20));
	note("little memory%s: %s", group, text);
}

/* Whether several programs may be verified at a time, which takes some 15 MiB for each. */
static bool has_room(const struct memory_limit *m)
{
	return !m || (m->used_bytes < m->limit_bytes &&
		      m->limit_bytes - m->used_bytes > PARALLEL_ROOM_BYTES);
}

/*
 * Loads it with maps as large as memory allows. What fails first is tried again one program after
 * the other, and as old kernels want it (trusted_args.h).
 */
static int load_sized(struct capture_bpf *b, const struct capture_bpf_options *opts,
		      const struct kernel_types *types)
{
	struct memory_limit limit, *m = memory_limit_read("", &limit) ? &limit : NULL;
	const struct map_needs needs = {
		.samples_hz = opts->samples_hz,
		.nr_cpus = (uint32_t)b->nr_cpus,
		.has_scans = opts->programs & CAPTURE_TASKS,
		.only_samples = !(opts->programs & BEYOND_SAMPLES),
		.few_processes = opts->few_processes,
	};
	bool fits = map_sizes_init(&b->sizes, &needs, m), trusted = types->has_trusted_args;
	int err;

	if (!fits)
		return load_errors_memory(m);
	if (b->sizes.is_reduced)
		say_reduced(b, m);
	if (has_room(m) && !load_once(b, opts, types, trusted, true))
		return 0;
	for (;;) {
		err = load_once(b, opts, types, trusted, false);
		if (err == -ENOMEM && map_sizes_halve(&b->sizes))
			say_reduced(b, m);
		else if (err && err != -ENOMEM && trusted)
			trusted = false;
		else
			break;
	}
	if (!err)
		return 0;
	return err == -ENOMEM && m ? load_errors_memory(m) : load_errors_explain(err);
}

static int load(struct capture_bpf *b, const struct capture_bpf_options *opts)
{
	struct kernel_types types;
	size_t bytes;
	const void *elf = bpf_object_bytes(opts->programs & CAPTURE_TASKS,
					   opts->programs & BEYOND_SAMPLES, &bytes);
	int err = kernel_types_open(elf, bytes, &types);

	if (err)
		return load_errors_explain(err);
	err = load_sized(b, opts, &types);
	kernel_types_close(&types);
	return err;
}

int capture_bpf_open(const struct capture_bpf_options *opts, struct capture_bpf **bp)
{
	struct capture_bpf *b = calloc(1, sizeof(*b));
	struct rlimit lim = { RLIM_INFINITY, RLIM_INFINITY };
	int err;

	if (!b)
		return fail(-ENOMEM, "load BPF programs");
	libbpf_set_print(quiet);
	/* Only kernels before 5.11 count BPF memory here, so a refusal does not matter. */
	setrlimit(RLIMIT_MEMLOCK, &lim);
	b->nr_cpus = libbpf_num_possible_cpus();
	err = b->nr_cpus < 0 ? load_errors_cpus(b->nr_cpus) : load(b, opts);
	if (err)
		goto out;
	if (opts->knobs.in_pid_ns)
		err = find_own_pid_ns(b);
	if (!err && opts->programs & CAPTURE_SNAPSHOT)
		err = map_requests(b);
	if (!err)
		err = attach_programs(b);
	if (err)
		goto out;
	*bp = b;
	b = NULL;
out:
	capture_bpf_close(b);
	return err;
}

void capture_bpf_close(struct capture_bpf *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < NR_PROGRAMS; i++)
		bpf_link__destroy(b->links[i]);
	slab_publisher_release(&b->publisher);
	if (b->oncpu_requests)
		munmap((void *)b->oncpu_requests, (size_t)b->nr_cpus * ONCPU_REQUEST_BYTES);
	probee_bpf__destroy(b->skel);
	free(b);
}

bool capture_bpf_reduced(const struct capture_bpf *b, char *buf, size_t size)
{
	buf[0] = 0;
	if (b->sizes.is_reduced)
		map_sizes_text(&b->sizes, buf, size);
	return b->sizes.is_reduced;
}

void capture_bpf_fds(const struct capture_bpf *b, struct unwind_loader_fds *out)
{
	*out = (struct unwind_loader_fds){
		.pages = bpf_map__fd(b->skel->maps.pages),
		.rules = bpf_map__fd(b->skel->maps.rules),
		.mappings = bpf_map__fd(b->skel->maps.mappings),
		.binaries = bpf_map__fd(b->skel->maps.binaries),
		.rule_cache = bpf_map__fd(b->skel->maps.rule_cache),
		.processes = bpf_map__fd(b->skel->maps.processes),
		.nr_mappings = b->sizes.mappings,
		.nr_pages = b->sizes.pages,
	};
}

void capture_bpf_runtimes(const struct capture_bpf *b, int *programs_fd, int *runtimes_fd)
{
	*programs_fd = b->sizes.is_tight ? -1 : bpf_map__fd(b->skel->maps.frame_programs);
	*runtimes_fd = b->sizes.is_tight ? -1 : bpf_map__fd(b->skel->maps.runtimes);
}

static uint64_t map_bytes(int fd)
{
	char path[64], line[128];
	unsigned long long bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fd >= 0 ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	return bytes;
}

int capture_bpf_new_slab(struct capture_bpf *b, uint32_t key)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", 4, UNWIND_SLAB_ROWS * 4, 1, &opts), err;

	if (fd < 0)
		return fail(-errno, "create a slab for unwind rows");
	err = slab_publisher_show(&b->publisher, bpf_map__fd(b->skel->maps.slabs), key, fd);
	if (err) {
		close(fd);
		return err;
	}
	b->slab_bytes += map_bytes(fd);
	return fd;
}

uint64_t capture_bpf_table_bytes(const struct capture_bpf *b)
{
	const struct bpf_map *maps[] = {
		b->skel->maps.slabs,	 b->skel->maps.pages,	  b->skel->maps.rules,
		b->skel->maps.mappings,	 b->skel->maps.binaries,  b->skel->maps.rule_cache,
		b->skel->maps.processes, b->skel->maps.last_exec,
	};
	uint64_t bytes = b->slab_bytes;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		bytes += map_bytes(bpf_map__fd(maps[i]));
	return bytes;
}

/* map: of struct gather, one for each CPU. */
static int sum_counters(const struct capture_bpf *b, const struct bpf_map *map,
			uint64_t out[COUNTERS])
{
	size_t size = (bpf_map__value_size(map) + 7) & ~(size_t)7;	/* of one value */
	uint32_t zero = 0;
	uint8_t *values;
	int err;

	memset(out, 0, COUNTERS * sizeof(*out));
	if (bpf_map__fd(map) < 0)
		return 0;	/* there is no such collector */
	values = calloc((size_t)b->nr_cpus, size);
	if (!values)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(map), &zero, values) ? -errno : 0;
	for (int cpu = 0; cpu < b->nr_cpus && !err; cpu++) {
		uint64_t counters[COUNTERS];	/* the first member of struct gather */

		memcpy(counters, values + (size_t)cpu * size, sizeof(counters));
		for (int i = 0; i < COUNTERS; i++)
			out[i] += counters[i];
	}
	free(values);
	return err;
}

int capture_bpf_counters(const struct capture_bpf *b, uint64_t out[COUNTERS])
{
	return sum_counters(b, b->skel->maps.sample_scratch, out);
}

int capture_bpf_counters_of(const struct capture_bpf *b, const char *map, uint64_t out[COUNTERS])
{
	return sum_counters(b, bpf_object__find_map_by_name(b->skel->obj, map), out);
}
