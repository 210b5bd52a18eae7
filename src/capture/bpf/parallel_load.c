/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/parallel_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/quiet_thread.h"

/* Smaller programs take less time than a thread. */
#define LARGE_INSNS 2000

/* What libbpf's own handlers would know of these sections. */
static const struct section {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
	uint32_t flags;
	const char *target;		/* by BTF; raw tracepoints: their name */
} sections[] = {
	{ "perf_event", BPF_PROG_TYPE_PERF_EVENT, 0, 0, NULL },
	{ "iter.s/task", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, BPF_F_SLEEPABLE, "task" },
	{ "raw_tp/sched_switch", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0, "sched_switch" },
	{ "tp_btf/sched_switch", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, 0, "sched_switch" },
	{ "tp_btf/sched_waking", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, 0, "sched_waking" },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static _Thread_local struct parallel_load *loads_of_thread;

/* ---- A load ---- */

static int copy(const void **what, size_t bytes)
{
	void *p = bytes ? malloc(bytes) : NULL;

	if (bytes && !p)
		return -ENOMEM;
	if (bytes)
		memcpy(p, *what, bytes);
	*what = p;
	return 0;
}

static void release(struct loading *l)
{
	free(l->insns);
	free((void *)l->opts.func_info);
	free((void *)l->opts.line_info);
}

/* Copies all that the thread needs: libbpf may release what it has before the thread ends. */
static int take(struct loading *l, struct bpf_program *prog, const struct bpf_prog_load_opts *opts)
{
	const void *insns = bpf_program__insns(prog);
	size_t size = opts->sz < sizeof(l->opts) ? opts->sz : sizeof(l->opts);
	int err;

	*l = (struct loading){ .prog = prog, .nr = bpf_program__insn_cnt(prog) };
	memcpy(&l->opts, opts, size);
	l->opts.sz = sizeof(l->opts);
	l->opts.log_level = l->opts.log_size = 0;
	l->opts.log_buf = NULL;
	err = copy(&l->opts.func_info, (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	if (err)
		l->opts.line_info = NULL;
	else
		err = copy(&l->opts.line_info,
			   (size_t)opts->line_info_cnt * opts->line_info_rec_size);
	if (!err)
		err = copy(&insns, l->nr * sizeof(*l->insns));
	l->insns = err ? NULL : (struct bpf_insn *)insns;
	return err;
}

static void *load(void *arg)
{
	struct loading *l = arg;

	l->fd = bpf_prog_load(bpf_program__type(l->prog), bpf_program__name(l->prog), "GPL",
			      l->insns, l->nr, &l->opts);
	if (l->fd < 0)
		l->fd = -errno;
	return NULL;
}

static int stand_in(struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(prog, nothing, 2);
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	const struct section *s = (const struct section *)cookie;
	struct parallel_load *p = loads_of_thread;
	int err;

	opts->prog_flags |= s->flags;
	if (!p || !p->at_once || p->nr == PARALLEL_LOADS || opts->fd_array ||
	    bpf_program__insn_cnt(prog) < LARGE_INSNS)
		return 0;
	err = take(&p->v[p->nr], prog, opts);
	if (!err)
		err = quiet_thread_start(&p->v[p->nr].thread, load, &p->v[p->nr]);
	if (err) {
		release(&p->v[p->nr]);
		return err;
	}
	p->nr++;
	return stand_in(prog, opts);
}

/* ---- Handlers ---- */

static int attach(const struct bpf_program *prog, long cookie, struct bpf_link **link)
{
	const struct section *s = (const struct section *)cookie;

	*link = s->type == BPF_PROG_TYPE_RAW_TRACEPOINT
			? bpf_program__attach_raw_tracepoint(prog, s->target)
			: bpf_program__attach_trace(prog);
	return *link ? 0 : -errno;
}

static int registered;

static void register_all(void)
{
	for (size_t i = 0; i < SECTIONS && registered >= 0; i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)&sections[i],
			    .prog_prepare_load_fn = prepare, .prog_attach_fn = attach);

		registered = libbpf_register_prog_handler(sections[i].name, sections[i].type,
							  sections[i].attach_type, &opts);
	}
}

int parallel_load_handlers(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_all);
	return registered < 0 ? registered : 0;
}

int parallel_load_target(struct bpf_program *prog)
{
	const char *name = bpf_program__section_name(prog);

	for (size_t i = 0; i < SECTIONS; i++)
		if (sections[i].type == BPF_PROG_TYPE_TRACING &&
		    !strcmp(name + (*name == '?'), sections[i].name))
			return bpf_program__set_attach_target(prog, 0, sections[i].target);
	return 0;
}

/* ---- All of them ---- */

void parallel_load_begin(struct parallel_load *p, bool at_once)
{
	p->nr = 0;
	p->at_once = at_once;
	loads_of_thread = p;
}

static int put_in_place(struct loading *l)
{
	int err = l->fd < 0 ? l->fd : 0;

	if (!err && dup3(l->fd, bpf_program__fd(l->prog), O_CLOEXEC) < 0)
		err = -errno;
	if (l->fd >= 0)
		close(l->fd);
	return err;
}

int parallel_load_end(struct parallel_load *p, int loaded)
{
	loads_of_thread = NULL;
	for (size_t i = 0; i < p->nr; i++) {
		int err;

		pthread_join(p->v[i].thread, NULL);
		err = put_in_place(&p->v[i]);
		loaded = loaded ? loaded : err;
		release(&p->v[i]);
	}
	return loaded;
}
