/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The three BPF objects: one skeleton for all, and the same sampler in all. Nothing is loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "bpf/wire.h"
#include "bpf/knobs.h"
#include "bpf/rate_limit.h"
#include "bpf/probee.skel.h"
#include "src/capture/bpf/bpf_object.h"
#include "src/capture/bpf/trusted_args.h"

#define LEAST 1000			/* instructions of a program that takes a stack */

static size_t insns(const struct bpf_program *prog)
{
	assert_non_null(prog);
	return bpf_program__insn_cnt(prog);
}

/* Every pointer of the skeleton but those of constants, which are behind all maps with a name. */
static void is_complete(const struct probee_bpf *skel)
{
	struct bpf_map *const *maps = (void *)&skel->maps;
	struct bpf_program *const *progs = (void *)&skel->progs;

	for (size_t i = 0; &maps[i] <= &skel->maps.bss; i++)
		assert_non_null(maps[i]);
	for (size_t i = 0; i < sizeof(skel->progs) / sizeof(*progs); i++)
		assert_non_null(progs[i]);
	assert_non_null(skel->rodata);
	assert_non_null(skel->bss);
}

static void without_scans_they_are_empty(void **state)
{
	struct probee_bpf *all = bpf_object_open(true, true, NULL), *sampler = bpf_object_open(false, false, NULL);

	(void)state;
	assert_non_null(all);
	assert_non_null(sampler);
	is_complete(all);
	is_complete(sampler);
	assert_true(insns(all->progs.on_task) > LEAST);
	assert_true(insns(all->progs.on_running) > LEAST / 4);
	assert_true(insns(sampler->progs.on_task) < 20);
	assert_true(insns(sampler->progs.on_running) < 20);
	assert_true(insns(sampler->progs.on_holder) < 20);
	assert_true(insns(all->progs.on_uprobe) > LEAST / 4);
	assert_true(insns(sampler->progs.on_uprobe) < 20);
	assert_true(insns(sampler->progs.on_switch) < 40);
	probee_bpf__destroy(all);
	probee_bpf__destroy(sampler);
}

/* Without probes there are the scans, and nothing else. */
static void scans_alone(void **state)
{
	struct probee_bpf *scans = bpf_object_open(true, false, NULL);

	(void)state;
	assert_non_null(scans);
	is_complete(scans);
	assert_true(insns(scans->progs.on_task) > LEAST);
	assert_true(insns(scans->progs.on_tick) > LEAST);
	assert_true(insns(scans->progs.on_raw_tracepoint) < 20);
	assert_true(insns(scans->progs.on_kprobe) < 20);
	assert_true(insns(scans->progs.on_switch) < 40);
	probee_bpf__destroy(scans);
}

static void the_others_are_the_same(void **state)
{
	struct probee_bpf *all = bpf_object_open(true, true, NULL), *sampler = bpf_object_open(false, false, NULL);

	(void)state;
	assert_true(insns(all->progs.on_tick) > LEAST / 4);
	assert_int_equal(insns(all->progs.on_tick), insns(sampler->progs.on_tick));
	assert_int_equal(insns(all->progs.on_fork), insns(sampler->progs.on_fork));
	assert_int_equal(insns(all->progs.on_exec), insns(sampler->progs.on_exec));
	assert_int_equal(insns(all->progs.on_exit), insns(sampler->progs.on_exit));
	assert_int_equal(insns(all->progs.on_self), insns(sampler->progs.on_self));
	probee_bpf__destroy(all);
	probee_bpf__destroy(sampler);
}

/* Counts the functions that get a task, and of these the static ones. */
static unsigned with_tasks(const struct probee_bpf *skel, unsigned *nr_static)
{
	const struct btf *btf = bpf_object__btf(skel->obj);
	unsigned nr = 0;

	*nr_static = 0;
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *function = btf__type_by_id(btf, id), *proto;

		if (!btf_is_func(function))
			continue;
		proto = btf__type_by_id(btf, function->type);
		for (uint16_t i = 0; i < btf_vlen(proto); i++) {
			const struct btf_type *arg = btf__type_by_id(btf, btf_params(proto)[i].type);
			const char *name = btf__name_by_offset(btf, function->name_off);

			/* Callbacks of the kernel's own, and programs, are not called by ours. */
			if (!btf_is_ptr(arg) || !strncmp(name, "on_", 3) || btf_vlen(function) == BTF_FUNC_EXTERN)
				continue;
			arg = btf__type_by_id(btf, arg->type);
			if (strcmp(btf__name_by_offset(btf, arg->name_off), "task_struct"))
				continue;
			nr++;
			*nr_static += btf_vlen(function) == BTF_FUNC_STATIC;
			break;
		}
	}
	return nr;
}

/* Old kernels take no global function that gets a task. */
static void no_global_one_gets_a_task(void **state)
{
	struct probee_bpf *all = bpf_object_open(true, true, NULL);
	unsigned before, nr, nr_static;

	(void)state;
	nr = with_tasks(all, &before);
	assert_true(before < nr);
	trusted_args_drop(all->obj);
	assert_int_equal(with_tasks(all, &nr_static), nr);
	assert_int_equal(nr_static, nr);
	probee_bpf__destroy(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_scans_they_are_empty),
		cmocka_unit_test(scans_alone),
		cmocka_unit_test(the_others_are_the_same),
		cmocka_unit_test(no_global_one_gets_a_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
