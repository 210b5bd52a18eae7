/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/parallel_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/quiet_thread.h"
#include "src/capture/bpf/kernel_types.h"

/* Smaller programs take less time than a thread. */
#define LARGE_INSNS 2000
#define LOG_BYTES (16u << 20)

/*
 * What libbpf's own handlers would know of these sections. A program that is attached by a type of
 * the kernel is told to libbpf as one on a raw tracepoint: it would read all types for the others.
 */
static const struct section {
	const char *name;		/* with "/" at its end: all that begin with it */
	enum bpf_prog_type type, type_of_stand_in;
	enum bpf_attach_type attach_type;
	uint32_t flags;
	const char *raw_tracepoint;
} sections[] = {
	{ "perf_event", BPF_PROG_TYPE_PERF_EVENT, BPF_PROG_TYPE_PERF_EVENT, 0, 0, NULL },
	{ "raw_tp/sched_switch", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0,
	  "sched_switch" },
	{ "iter.s/", BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_ITER,
	  BPF_F_SLEEPABLE, NULL },
	{ "iter/", BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_ITER, 0, NULL },
	{ "tp_btf/", BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_RAW_TP, 0,
	  NULL },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static _Thread_local struct parallel_load *loads_of_thread;

/* ---- A load ---- */

/* *what is ours afterwards, or NULL: what was there is never released here. */
static int copy(const void **what, size_t bytes)
{
	const void *from = *what;
	void *p = bytes ? malloc(bytes) : NULL;

	*what = p;
	if (p)
		memcpy(p, from, bytes);
	return bytes && !p ? -ENOMEM : 0;
}

static void release(struct loading *l)
{
	free(l->insns);
	free((void *)l->opts.func_info);
	free((void *)l->opts.line_info);
}

/* Copies all that the load needs: libbpf may release what it has before a thread ends. */
static int take(struct loading *l, struct bpf_program *prog, const struct bpf_prog_load_opts *opts)
{
	const void *insns = bpf_program__insns(prog);
	size_t size = opts->sz < sizeof(l->opts) ? opts->sz : sizeof(l->opts);
	int err;

	*l = (struct loading){ .prog = prog, .nr = bpf_program__insn_cnt(prog), .fd = -1 };
	memcpy(&l->opts, opts, size);
	l->opts.sz = sizeof(l->opts);
	l->opts.log_level = l->opts.log_size = 0;
	l->opts.log_buf = NULL;
	err = copy(&l->opts.func_info, (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	if (err)
		l->opts.line_info = NULL;	/* it is not ours */
	else
		err = copy(&l->opts.line_info,
			   (size_t)opts->line_info_cnt * opts->line_info_rec_size);
	if (!err)
		err = copy(&insns, l->nr * sizeof(*l->insns));
	l->insns = err ? NULL : (struct bpf_insn *)insns;
	return err;
}

static int load(struct loading *l)
{
	l->fd = bpf_prog_load(l->section->type, bpf_program__name(l->prog), "GPL", l->insns, l->nr,
			      &l->opts);
	if (l->fd < 0)
		l->fd = -errno;
	return l->fd < 0 ? l->fd : 0;
}

static void *run(void *arg)
{
	load(arg);
	return NULL;
}

/* The end of what the verifier says, with -v only. */
static void say_why(struct loading *l)
{
	static const char counts[] = "processed ";
	char *log = calloc(1, LOG_BYTES), *line;

	l->opts.log_level = log ? 1 : 0;
	l->opts.log_buf = log;
	l->opts.log_size = log ? LOG_BYTES : 0;
	load(l);
	note_verbose("load %s: %s", bpf_program__name(l->prog), strerror(-l->fd));
	while (log && (line = strrchr(log, '\n')) && (!line[1] || !strncmp(line + 1, counts,
									 sizeof(counts) - 1)))
		*line = 0;
	if (log && *log)
		note_verbose("%s", line ? line + 1 : log);
	free(log);
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

static int load_now(const struct parallel_load *p, struct loading *l)
{
	int err = load(l);

	if (err && !p->at_once) {
		say_why(l);
		err = l->fd < 0 ? l->fd : 0;
	}
	return err;
}

static int begin(struct parallel_load *p, struct loading *l)
{
	int err;

	if (!p->at_once || l->nr < LARGE_INSNS)
		return load_now(p, l);
	err = quiet_thread_start(&l->thread, run, l);
	l->has_thread = !err;
	return err;
}

/* -ESRCH is what libbpf says, too, of a type that the kernel lacks. */
static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	const struct section *s = (const struct section *)cookie;
	struct parallel_load *p = loads_of_thread;
	struct loading *l;
	int err;

	if (!p || p->nr == PARALLEL_LOADS || opts->fd_array)
		return -EINVAL;
	l = &p->v[p->nr];
	err = take(l, prog, opts);
	p->nr++;		/* whatever it has is released at the end */
	if (err)
		return err;
	l->section = s;
	l->opts.prog_flags |= s->flags;
	l->opts.expected_attach_type = s->attach_type;
	if (s->type == BPF_PROG_TYPE_TRACING) {
		l->opts.attach_btf_id = kernel_types_target(p->types,
							    bpf_program__section_name(prog));
		if (!l->opts.attach_btf_id)
			return -ESRCH;
	}
	err = begin(p, l);
	return err ? err : stand_in(prog, opts);
}

/* ---- Handlers ---- */

static int attach(const struct bpf_program *prog, long cookie, struct bpf_link **link)
{
	const struct section *s = (const struct section *)cookie;

	*link = s->raw_tracepoint ? bpf_program__attach_raw_tracepoint(prog, s->raw_tracepoint)
				  : bpf_program__attach_trace(prog);
	return *link ? 0 : -errno;
}

static int registered;

static void register_all(void)
{
	for (size_t i = 0; i < SECTIONS && registered >= 0; i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)&sections[i],
			    .prog_prepare_load_fn = prepare, .prog_attach_fn = attach);

		registered = libbpf_register_prog_handler(
			sections[i].name, sections[i].type_of_stand_in, sections[i].attach_type,
			&opts);
	}
}

int parallel_load_handlers(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_all);
	return registered < 0 ? registered : 0;
}

/* ---- All of them ---- */

void parallel_load_begin(struct parallel_load *p, const struct kernel_types *types, bool at_once)
{
	p->nr = 0;
	p->types = types;
	p->at_once = at_once;
	loads_of_thread = p;
}

static int put_in_place(struct loading *l, int loaded)
{
	int err = loaded ? loaded : l->fd < 0 ? l->fd : 0;

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

		if (p->v[i].has_thread)
			pthread_join(p->v[i].thread, NULL);
		err = put_in_place(&p->v[i], loaded);
		loaded = loaded ? loaded : err;
		release(&p->v[i]);
	}
	return loaded;
}
