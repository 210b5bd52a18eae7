/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace/trace_reader.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/hash_index.h"
#include "src/model/definition_store.h"
#include "src/verify/libdw_process.h"
#include "src/verify/past_files.h"
#include "src/verify/past_maps.h"

#include ARCH_HEADER

/* Processes prepared for libdw at a time: the samples of a few processes are mixed. */
#define PROCESSES 16

/* One recording in the trace. */
struct segment {
	struct definition_store *tables;
	struct past_maps maps;
	struct past_files *files;
};

struct prepared {
	struct libdw_process *process;
	uint32_t segment, id;
	uint64_t hash;			/* hash of its mappings */
};

struct verify {
	const char *path;
	struct trace_reader *reader;
	struct segment *segments;
	size_t nr_segments, cap_segments;
	struct prepared prepared[PROCESSES];
	uint32_t next_prepared;
	struct past_list list;
	struct libdw_module *modules;
	size_t nr_modules, cap_modules;
	struct verify_frame *ours;
	size_t nr_ours, cap_ours;
	struct verify_frame theirs[LIBDW_MAX_FRAMES];
	struct libdw_result result;
};

static struct segment *segment_of(struct verify *v, uint32_t nr)
{
	while (v->nr_segments <= nr) {
		struct segment *s = array_push(&v->segments, &v->nr_segments, &v->cap_segments);

		if (!s)
			return NULL;
		s->tables = definition_store_new();
		if (!s->tables)
			return NULL;
	}
	return &v->segments[nr];
}

static int tell_failure(const struct verify *v, int err)
{
	if (err != -E2BIG)
		return fail(err, "%s", v->path);
	return fail_why(err, "%s: it has more mappings, or more stacks in them, than a recording "
			"needs. Try: a shorter recording, or --audit 1/1000", v->path);
}

static int read_definitions(struct verify *v)
{
	struct record rec;
	int n, err = 0;

	while (!err && (n = trace_reader_next(v->reader, &rec)) > 0) {
		struct segment *s = segment_of(v, trace_reader_status(v->reader)->segment);

		err = s ? definition_store_record(s->tables, &rec) : -ENOMEM;
		if (!err)
			err = past_maps_record(&s->maps, &rec);
	}
	for (size_t i = 0; i < v->nr_segments && !err; i++)
		err = past_files_new(v->segments[i].tables, &v->segments[i].maps,
				     &v->segments[i].files);
	if (err)
		return tell_failure(v, err);
	return n < 0 ? n : 0;
}

int verify_open(int fd, const char *path, struct verify **vp)
{
	struct verify *v = calloc(1, sizeof(*v));
	int err;

	if (!v) {
		if (fd >= 0)
			close(fd);
		return fail(-ENOMEM, "%s", path);
	}
	v->path = path;
	err = fd >= 0 ? trace_reader_open_fd(fd, path, NULL, &v->reader)
		      : trace_reader_open(path, NULL, &v->reader);
	if (!err)
		err = read_definitions(v);
	if (err) {
		verify_close(v);
		return err;
	}
	*vp = v;
	return 0;
}

void verify_close(struct verify *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < PROCESSES; i++)
		libdw_process_free(v->prepared[i].process);
	for (size_t i = 0; i < v->nr_segments; i++) {
		past_files_free(v->segments[i].files);
		past_maps_release(&v->segments[i].maps);
		definition_store_free(v->segments[i].tables);
	}
	free(v->segments);
	free(v->list.v);
	free(v->modules);
	free(v->ours);
	trace_reader_close(v->reader);
	free(v);
}

void verify_bad_files(struct verify *v, void (*fn)(void *ctx, const char *path, bool changed),
		      void *ctx)
{
	for (size_t i = 0; i < v->nr_segments; i++) {
		const struct past_file *f;
		uint32_t binary = 0;

		while ((f = past_files_next_bad(v->segments[i].files, &binary)))
			fn(ctx, f->path, f->state == PAST_FILE_CHANGED);
	}
}

/* ---- the process for libdw ---- */

static uint64_t hash_maps(const struct past_list *list)
{
	uint64_t h = list->nr;

	for (size_t i = 0; i < list->nr; i++) {
		h = hash_u64(h, list->v[i].start);
		h = hash_u64(h, list->v[i].to_vaddr);
		h = hash_u64(h, list->v[i].binary);
	}
	return h;
}

/* A file may have several executable mappings, and libdw wants each place of a file once. */
static bool is_known(const struct verify *v, const char *name, uint64_t bias)
{
	for (size_t i = 0; i < v->nr_modules; i++)
		if (v->modules[i].bias == bias && !strcmp(v->modules[i].name, name))
			return true;
	return false;
}

static int find_modules(struct verify *v, struct segment *s)
{
	v->nr_modules = 0;
	for (size_t i = 0; i < v->list.nr; i++) {
		const struct past_map *m = &v->list.v[i];
		const struct past_file *f;
		struct libdw_module *mod;

		if (!m->binary)
			continue;
		f = past_files_get(s->files, m->binary);
		if (f->state != PAST_FILE_OK || is_known(v, f->path, -m->to_vaddr))
			continue;
		mod = array_push(&v->modules, &v->nr_modules, &v->cap_modules);
		if (!mod)
			return -ENOMEM;
		*mod = (struct libdw_module){ .name = f->path, .fd = f->fd, .bias = -m->to_vaddr };
	}
	return 0;
}

/* Prepares the process as it was when the stack was recorded; v->list holds its mappings. */
static int prepare(struct verify *v, uint32_t segment, uint32_t id, uint64_t time_ns,
		   struct libdw_process **pp)
{
	struct segment *s = &v->segments[segment];
	struct prepared *slot;
	uint64_t hash;
	int err = past_maps_at(&s->maps, id, time_ns, &v->list);

	if (err)
		return err;
	hash = hash_maps(&v->list);
	for (size_t i = 0; i < PROCESSES; i++) {
		slot = &v->prepared[i];
		if (slot->process && slot->segment == segment && slot->id == id &&
		    slot->hash == hash) {
			*pp = slot->process;
			return 0;
		}
	}
	slot = &v->prepared[v->next_prepared++ % PROCESSES];
	libdw_process_free(slot->process);
	*slot = (struct prepared){ .segment = segment, .id = id, .hash = hash };
	err = find_modules(v, s);
	if (!err)
		err = libdw_process_new(v->modules, v->nr_modules, &slot->process);
	*pp = slot->process;
	return err;
}

/* ---- frames ---- */

static int take_ours(struct verify *v, const struct definition_store *t, uint32_t node)
{
	const struct table_node *n;
	bool is_behind = false;

	v->nr_ours = 0;
	for (; (n = definition_store_find_node(t, node)); node = n->parent) {
		const struct rec_frame *f = definition_store_find_frame(t, n->frame);
		struct verify_frame *slot;

		/* No native frame: what an interpreter's probes have told (bpf/shadow.bpf.h). */
		if (f && (f->kind == FRAME_SYNTHETIC || f->flags & FRAME_RUNTIME)) {
			is_behind = true;
			continue;
		}
		slot = array_push(&v->ours, &v->nr_ours, &v->cap_ours);
		if (!slot)
			return -ENOMEM;
		slot->frame = n->frame;
		slot->is_behind_runtime = is_behind;
		is_behind = false;
		if (!f)
			continue;
		slot->binary = f->flags & FRAME_UNMAPPED || f->kind == FRAME_JIT ? 0 : f->binary;
		slot->addr = f->addr;
		slot->exact = !(f->flags & FRAME_RETURN_ADDRESS);
	}
	return 0;
}

static uint64_t instruction(const struct libdw_result *r, uint32_t i)
{
	return r->exact[i] ? r->pc[i] : r->pc[i] - 1;
}

static void take_theirs(struct verify *v)
{
	const struct libdw_result *r = &v->result;

	for (uint32_t i = 0; i < r->nr; i++) {
		const struct past_map *m = past_list_find(&v->list, instruction(r, i));

		v->theirs[i] = (struct verify_frame){
			.binary = m ? m->binary : 0,
			.addr = r->pc[i] + (m && m->binary ? m->to_vaddr : 0),
			.exact = r->exact[i],
		};
	}
}

/*
 * Frames of a runtime may stand for those of generated code, which probee does not show then: libdw
 * has their addresses, and guesses from there on.
 */
static bool any_step_guessed(struct verify *v, struct libdw_process *p, uint32_t at)
{
	if (at < v->nr_ours && at < v->result.nr && v->ours[at].is_behind_runtime)
		at++;
	for (uint32_t i = 0; i < at; i++)
		if (!libdw_process_has_cfi(p, instruction(&v->result, i)))
			return true;
	return false;
}

/*
 * True if the end says that something was unknown or missing. After any other end, further frames
 * found by libdw mean that probee is wrong.
 */
static bool end_explains(uint8_t end)
{
	static const bool explains[STACK_ENDS] = {
		[END_UNKNOWN] = true,	 [END_TRUNCATED] = true, [END_NO_PROCESS] = true,
		[END_NO_MAPPING] = true, [END_JIT] = true,	 [END_NO_TABLE] = true,
		[END_BUSY] = true,	 [END_RUNNING] = true,	 [END_TORN] = true,
		[END_COMPAT32] = true,	 [END_KTHREAD] = true,	 [END_NO_MM] = true,
		[END_FP_END] = true,	 [END_EXEC] = true,
	};

	return end >= STACK_ENDS || explains[end];
}

static bool rule_of(struct verify *v, struct segment *s, uint32_t i, struct verdict *out)
{
	const struct verify_frame *f = &v->ours[i];

	return f->binary && past_files_rule(s->files, f->binary, f->exact ? f->addr : f->addr - 1,
					    &out->rule, &out->machine);
}

static bool any_step_to_handler(struct verify *v, struct segment *s, uint32_t at,
				struct verdict *out)
{
	for (uint32_t i = 0; i < at; i++)
		if (rule_of(v, s, i, out) && out->rule.cfa == CFA_EH_RETURN)
			return true;
	return false;
}

static void judge(struct verify *v, struct segment *s, struct libdw_process *p, struct verdict *out)
{
	uint32_t i = 0, ours = (uint32_t)v->nr_ours, theirs = v->result.nr;

	while (i < ours && i < theirs && v->ours[i].binary == v->theirs[i].binary &&
	       v->ours[i].addr == v->theirs[i].addr)
		i++;
	out->at = i;
	/*
	 * Where libdw gave up and probee found more, nothing shows that probee is wrong. Where
	 * probee gave up, its end must say why.
	 */
	if (i == ours && i == theirs)
		out->kind = VERDICT_EQUAL;
	else if (i == theirs && out->why)
		out->kind = VERDICT_LIBDW_SHORTER;
	else if (i == ours && end_explains(out->raw->end))
		out->kind = VERDICT_PROBEE_SHORTER;
	else if (any_step_guessed(v, p, i))
		out->kind = VERDICT_GUESS;
	else if (any_step_to_handler(v, s, i, out))
		out->kind = VERDICT_HANDLER;
	else
		out->kind = VERDICT_DIFFERENT;
}

/* Fills what a reader wants to know about the first difference. */
static void explain(struct verify *v, struct segment *s, struct libdw_process *p,
		    struct verdict *out)
{
	if (out->at < v->result.nr) {
		struct verify_frame *at = &v->theirs[out->at];

		at->symbol = libdw_process_symbol(p, instruction(&v->result, out->at),
						  &at->symbol_offset);
	}
	out->has_rule = out->at && rule_of(v, s, out->at - 1, out);
}

static int judge_record(struct verify *v, uint32_t segment, const struct rec_rawstack *raw,
			struct verdict *out)
{
	struct segment *s = &v->segments[segment];
	const struct rec_thread *thread = definition_store_find_thread(s->tables, raw->thread);
	uint64_t regs[ARCH_NR_REGS];
	struct libdw_stack stack = {
		.regs = regs, .start = raw->start, .bytes = raw->bytes, .len = raw->len
	};
	struct libdw_process *p;
	int err;

	*out = (struct verdict){ .kind = VERDICT_UNFIT, .raw = raw, .tables = s->tables };
	if (!thread || !thread->process || raw->regs_len != sizeof(regs))
		return 0;
	memcpy(regs, raw->regs, sizeof(regs));
	err = prepare(v, segment, thread->process, raw->time_ns, &p);
	if (!err)
		err = take_ours(v, s->tables, raw->ustack);
	if (err)
		return err;
	libdw_process_unwind(p, &stack, &v->result);
	take_theirs(v);
	out->ours = v->ours;
	out->nr_ours = (uint32_t)v->nr_ours;
	out->theirs = v->theirs;
	out->nr_theirs = v->result.nr;
	out->why =
		v->result.out_of_memory_image ? "the memory it needs was not kept" : v->result.why;
	judge(v, s, p, out);
	if (out->kind != VERDICT_EQUAL)
		explain(v, s, p, out);
	return 0;
}

int verify_run(struct verify *v, verdict_fn fn, void *ctx)
{
	struct verdict verdict;
	struct record rec;
	int n, err = trace_reader_rewind(v->reader);

	while (!err && (n = trace_reader_next(v->reader, &rec)) > 0) {
		if (rec.tag != REC_RAWSTACK)
			continue;
		err = judge_record(v, trace_reader_status(v->reader)->segment, &rec.rawstack,
				   &verdict);
		if (err)
			return tell_failure(v, err);
		err = fn(ctx, &verdict);
	}
	return err ? err : n < 0 ? n : 0;
}
