/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_programs: loads all programs of the BPF object at once and prints what each cost: a line
 *
 *	NAME INSTRUCTIONS-VERIFIED JITED-BYTES
 *
 * and again with NAME:pid_ns, as for probee inside a PID namespace; then the lines
 * "# trusted-arguments 0|1" (whether a global function may get a task: Linux 6.9) and "# ms MS", the
 * time of all. Exit 1 when one is refused: each is loaded by itself then, to find which. The
 * verifier's log is on standard error.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bpf/knobs.h"
#include "bpf/rate_limit.h"
#include "bpf/probee.skel.h"
#include "src/capture/bpf/trusted_args.h"
#include "unwind/unwind_limits.h"

/* All that `record` can use is on, because the verifier does not look at code that is off. */
static const struct knobs everything = {
	.mode = UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS, .max_frames = UNWIND_MAX_FRAMES, .want_user = 1, .want_kernel = 1,
	.only_targets = 1, .only_tids = 1, .wakeup_bytes = 1 << 20, .ask = 1, .skip_same = 1, .audit = 100, .deferred = 1,
	.faults = FAULTS_ANON, .ring_room = 1 << 20, .limit_rate = 1, .part_pages = 32, .shared_slots = 2, .memos = 32, .leaving_sets = 32, .shadow = 1, .runtimes = 1, .returns = 1,
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Whether a global function may get a task. The first load finds it out. */
static bool has_trusted_args = true;

static struct probee_bpf *open_object(bool in_pid_ns)
{
	struct probee_bpf *skel = probee_bpf__open();

	if (!skel)
		return NULL;
	if (!has_trusted_args)
		trusted_args_drop(skel->obj);
	memcpy((void *)&skel->rodata->knobs, &everything, sizeof(everything));
	((struct knobs *)&skel->rodata->knobs)->in_pid_ns = in_pid_ns;
	return skel;
}

/* Programs of one function alone have no target of their own. */
static void choose(struct bpf_program *prog, const char *name)
{
	const char *own = bpf_program__name(prog);
	bool wanted = !name || !strcmp(own, name);

	bpf_program__set_autoload(prog, wanted);
	if (wanted && (!strcmp(own, "on_fentry") || !strcmp(own, "on_fexit")))
		bpf_program__set_attach_target(prog, 0, "vfs_read");
}

static int print_cost(const struct bpf_program *prog, bool in_pid_ns)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int err = bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size);

	if (!err)
		printf("%s%s %u %u\n", bpf_program__name(prog), in_pid_ns ? ":pid_ns" : "",
		       info.verified_insns, info.jited_prog_len);
	return err;
}

/* name: only this program; NULL: all. 0, or -errno. */
static int load(const char *name, bool in_pid_ns)
{
	struct probee_bpf *skel = open_object(in_pid_ns);
	struct bpf_program *prog;
	int err;

	if (!skel)
		return -errno;
	bpf_object__for_each_program(prog, skel->obj)
		choose(prog, name);
	err = probee_bpf__load(skel);
	bpf_object__for_each_program(prog, skel->obj)
		if (!err && !name)
			err = print_cost(prog, in_pid_ns);
	probee_bpf__destroy(skel);
	return err;
}

/* Names those that are refused. */
static void load_each(bool in_pid_ns)
{
	struct probee_bpf *skel = open_object(in_pid_ns);
	struct bpf_program *prog;
	int err;

	bpf_object__for_each_program(prog, skel->obj) {
		err = load(bpf_program__name(prog), in_pid_ns);
		if (err)
			fprintf(stderr, "%s%s: %s\n", bpf_program__name(prog), in_pid_ns ? ":pid_ns" : "", strerror(-err));
	}
	probee_bpf__destroy(skel);
}

int main(void)
{
	double start = now_ms();
	int bad = 0;

	has_trusted_args = !load("on_task", false);
	for (int in_pid_ns = 0; in_pid_ns < 2; in_pid_ns++) {
		int err = load(NULL, in_pid_ns);

		if (!err)
			continue;
		fprintf(stderr, "all programs together: %s\n", strerror(-err));
		load_each(in_pid_ns);
		bad = 1;
	}
	printf("# trusted-arguments %d\n# ms %.0f\n", has_trusted_args, now_ms() - start);
	return bad;
}
