/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_programs: loads each program of the BPF object by itself and prints what it cost: a line
 *
 *	NAME INSTRUCTIONS-VERIFIED JITED-BYTES MILLISECONDS
 *
 * for each, and again with NAME:pid_ns, as for probee inside a PID namespace. The time is that of
 * bpf_object__load() with maps and relocation. Exit 1 when one is refused; the verifier's log is on
 * standard error then.
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
#include "unwind/unwind_limits.h"

/* All that `record` can use is on, because the verifier does not look at code that is off. */
static const struct knobs everything = {
	.mode = UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS, .max_frames = UNWIND_MAX_FRAMES, .want_user = 1, .want_kernel = 1,
	.only_targets = 1, .only_tids = 1, .wakeup_bytes = 1 << 20, .ask = 1, .skip_same = 1, .audit = 100, .deferred = 1,
	.faults = FAULTS_ANON, .ring_room = 1 << 20, .limit_rate = 1, .part_pages = 32, .memos = 32,
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* 0, or -errno. */
static int load_one(const char *name, bool in_pid_ns)
{
	struct probee_bpf *skel = probee_bpf__open();
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	struct bpf_program *prog;
	double start;
	int err;

	prog = skel ? bpf_object__find_program_by_name(skel->obj, name) : NULL;
	if (!prog) {
		probee_bpf__destroy(skel);
		return -ENOENT;
	}
	memcpy((void *)&skel->rodata->knobs, &everything, sizeof(everything));
	((struct knobs *)&skel->rodata->knobs)->in_pid_ns = in_pid_ns;
	bpf_program__set_autoload(prog, true);
	start = now_ms();
	err = probee_bpf__load(skel);
	start = now_ms() - start;
	if (!err)
		err = bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size);
	if (!err)
		printf("%s%s %u %u %.0f\n", name, in_pid_ns ? ":pid_ns" : "", info.verified_insns, info.jited_prog_len, start);
	probee_bpf__destroy(skel);
	return err;
}

int main(void)
{
	struct probee_bpf *skel = probee_bpf__open();
	struct bpf_program *prog;
	int bad = 0;

	if (!skel) {
		fprintf(stderr, "open the BPF object: %s\n", strerror(errno));
		return 1;
	}
	bpf_object__for_each_program(prog, skel->obj) {
		int err = load_one(bpf_program__name(prog), false);

		if (!err)
			err = load_one(bpf_program__name(prog), true);
		if (err) {
			fprintf(stderr, "%s: %s\n", bpf_program__name(prog), strerror(-err));
			bad = 1;
		}
	}
	probee_bpf__destroy(skel);
	return bad;
}
