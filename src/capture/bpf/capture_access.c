/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the users of capture_bpf.h reach in the BPF object once it is loaded. */
#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf_parts.h"

_Static_assert(USER_RATES >= COST_NUMBERS, "each user who is slowed has room");

static int put_id(int map, uint32_t id)
{
	uint32_t one = 1;

	return bpf_map_update_elem(map, &id, &one, BPF_ANY)
		       ? fail(-errno, "watch process or thread %u", id)
		       : 0;
}

int capture_bpf_target(struct capture_bpf *b, uint32_t tgid)
{
	return put_id(bpf_map__fd(b->skel->maps.targets), tgid);
}

int capture_bpf_tid(struct capture_bpf *b, uint32_t tid)
{
	return put_id(bpf_map__fd(b->skel->maps.tids), tid);
}

bool capture_bpf_is_target(const struct capture_bpf *b, uint32_t tgid)
{
	uint32_t value;

	return !bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.targets), &tgid, &value);
}

bool capture_bpf_has_targets(const struct capture_bpf *b)
{
	uint32_t key;

	return !bpf_map_get_next_key(bpf_map__fd(b->skel->maps.targets), NULL, &key);
}

size_t capture_bpf_targets(const struct capture_bpf *b, uint32_t *tgids, size_t max)
{
	int map = bpf_map__fd(b->skel->maps.targets);
	uint32_t key, *last = NULL;
	size_t nr = 0;

	while (!bpf_map_get_next_key(map, last, &key)) {
		if (nr == max)
			return max + 1;
		tgids[nr] = key;
		last = &tgids[nr++];
	}
	return nr;
}

struct bpf_program *capture_bpf_sampler(struct capture_bpf *b)
{
	return b->skel->progs.on_tick;
}

struct bpf_program *capture_bpf_snapshot(struct capture_bpf *b)
{
	return b->skel->progs.on_task;
}

int capture_bpf_ring(const struct capture_bpf *b)
{
	return bpf_map__fd(b->skel->maps.ring);
}

unsigned capture_bpf_cpus(const struct capture_bpf *b)
{
	return (unsigned)b->nr_cpus;
}

int capture_bpf_oncpu_fd(const struct capture_bpf *b)
{
	return bpf_program__fd(b->skel->progs.on_running);
}

int capture_bpf_oncpu_ring(const struct capture_bpf *b)
{
	return bpf_map__fd(b->skel->maps.oncpu_ring);
}

bool capture_bpf_is_requested(const struct capture_bpf *b, uint32_t cpu)
{
	return b->oncpu_requests[(size_t)cpu * ONCPU_REQUEST_BYTES / sizeof(*b->oncpu_requests)];
}

struct switch_requests *capture_bpf_switch_requests(struct capture_bpf *b)
{
	return &b->skel->bss->switch_requests;
}

struct rate_limit *capture_bpf_rate_limit(struct capture_bpf *b)
{
	return &b->skel->bss->rate_limit;
}

/* Who has no room in the map is not slowed. */
void capture_bpf_slow_users(struct capture_bpf *b, const struct number_rate *v, size_t nr)
{
	int map = bpf_map__fd(b->skel->maps.user_rates);
	uint32_t number;

	while (!bpf_map_get_next_key(map, NULL, &number) && !bpf_map_delete_elem(map, &number))
		;
	for (size_t i = 0; i < nr; i++)
		bpf_map_update_elem(map, &v[i].number, &v[i].times, BPF_ANY);
	*(volatile uint32_t *)&b->skel->bss->nr_user_rates = (uint32_t)nr;
}

struct scan_totals *capture_bpf_totals(struct capture_bpf *b)
{
	return &b->skel->bss->totals;
}

struct scan_place *capture_bpf_scan_place(struct capture_bpf *b)
{
	return &b->skel->bss->place;
}

struct scan_control *capture_bpf_scan_control(struct capture_bpf *b)
{
	return &b->skel->bss->control;
}

int capture_bpf_holder_fd(const struct capture_bpf *b)
{
	return bpf_program__fd(b->skel->progs.on_holder);
}

int capture_bpf_holders(const struct capture_bpf *b)
{
	return bpf_map__fd(b->skel->maps.holders);
}

struct holder_scan *capture_bpf_holder_scan(struct capture_bpf *b)
{
	return &b->skel->bss->scan;
}

int capture_bpf_leave_alone(struct capture_bpf *b, uint64_t who)
{
	uint32_t one = 1;

	return bpf_map_update_elem(bpf_map__fd(b->skel->maps.hung), &who, &one, BPF_ANY)
		       ? fail(-errno, "leave the memory of a process alone")
		       : 0;
}

void capture_bpf_read_again(struct capture_bpf *b, uint64_t who)
{
	bpf_map_delete_elem(bpf_map__fd(b->skel->maps.hung), &who);
}

struct bpf_program *capture_bpf_probe(struct capture_bpf *b, unsigned capture)
{
	switch (capture) {
	case CAPTURE_UPROBES: return b->skel->progs.on_uprobe;
	case CAPTURE_KPROBES: return b->skel->progs.on_kprobe;
	case CAPTURE_TRACEPOINTS: return b->skel->progs.on_tracepoint;
	}
	return b->skel->progs.on_raw_tracepoint;
}

int capture_bpf_probe_ring(const struct capture_bpf *b)
{
	return bpf_map__fd(b->skel->maps.probe_ring);
}

int capture_bpf_probe_sums(const struct capture_bpf *b)
{
	return bpf_map__fd(b->skel->maps.probe_sums);
}

int capture_bpf_usdt_place(struct capture_bpf *b, uint32_t number, const struct usdt_place *p)
{
	return bpf_map_update_elem(bpf_map__fd(b->skel->maps.usdt_places), &number, p, BPF_ANY)
		       ? fail(-errno, "tell the kernel side of a USDT probe")
		       : 0;
}

int capture_bpf_probe_filter(struct capture_bpf *b, uint32_t event, const struct probe_filter *f)
{
	return bpf_map_update_elem(bpf_map__fd(b->skel->maps.probe_filters), &event, f, BPF_ANY)
		       ? fail(-errno, "set the conditions of a probe")
		       : 0;
}

/* Sums up the words of an entry, of which each CPU has its own. */
static int sum_of_cpus(const struct capture_bpf *b, const struct bpf_map *map, uint32_t key,
		       uint64_t *out, size_t words)
{
	uint64_t *v = calloc((size_t)b->nr_cpus * words, sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	memset(out, 0, words * sizeof(*out));
	if (!err && bpf_map_lookup_elem(bpf_map__fd(map), &key, v))
		err = -errno;
	for (size_t i = 0; i < (size_t)b->nr_cpus * words && !err; i++)
		out[i % words] += v[i];
	free(v);
	return err;
}

int capture_bpf_probe_counts(const struct capture_bpf *b, uint32_t event, struct probe_counts *out)
{
	return sum_of_cpus(b, b->skel->maps.probe_counters, event, out->v, PROBE_COUNTERS);
}

int capture_bpf_shadow_frames(const struct capture_bpf *b)
{
	return bpf_map__fd(b->skel->maps.shadow_frames);
}

int capture_bpf_shadow_counts(const struct capture_bpf *b, struct shadow_counts *out)
{
	return sum_of_cpus(b, b->skel->maps.shadow_counters, 0, out->v, SHADOW_COUNTERS);
}

struct probe_control *capture_bpf_probe_control(struct capture_bpf *b)
{
	return &b->skel->bss->probe_control;
}

bool capture_bpf_has_raw_cookies(const struct capture_bpf *b)
{
	return b->skel->rodata->knobs.raw_tp_cookies;
}

bool capture_bpf_has_uprobe_multi(const struct capture_bpf *b)
{
	return b->has_uprobe_multi;
}

/* ---- by name ---- */

struct bpf_program *capture_bpf_program(const struct capture_bpf *b, const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(b->skel->obj, name);

	assert(prog);
	return prog;
}

int capture_bpf_map(const struct capture_bpf *b, const char *name)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(b->skel->obj, name);

	assert(map);
	return bpf_map__fd(map);
}

void *capture_bpf_variable(const struct capture_bpf *b, const char *name, size_t size)
{
	const struct btf *btf = bpf_object__btf(b->skel->obj);
	const struct btf_type *section =
		btf__type_by_id(btf, (uint32_t)btf__find_by_name_kind(btf, ".bss",
								      BTF_KIND_DATASEC));
	const struct btf_var_secinfo *v = btf_var_secinfos(section);

	for (uint32_t i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *t = btf__type_by_id(btf, v[i].type);

		if (strcmp(btf__name_by_offset(btf, t->name_off), name))
			continue;
		assert(v[i].size == size);
		return (char *)b->skel->bss + v[i].offset;
	}
	assert(!"a variable of the BPF object");
	return NULL;
}

int capture_bpf_sums(const struct capture_bpf *b, const char *map, uint32_t key, uint64_t *out,
		     size_t words)
{
	return sum_of_cpus(b, bpf_object__find_map_by_name(b->skel->obj, map), key, out, words);
}
