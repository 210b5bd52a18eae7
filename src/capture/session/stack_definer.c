/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/stack_definer.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/capture/processes/jit_names.h"
#include "src/capture/session/definitions.h"
#include "src/capture/session/kernel_trim.h"
#include "src/capture/session/runtime_names.h"
#include "src/capture/session/shadow_names.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "src/model/stacks.h"
#include "src/capture/session/vector_names.h"
#include "src/symbolize/kernel_code.h"
#include "src/symbolize/kernel_symbols.h"
#include "src/symbolize/symbolizer.h"
#include "unwind/unwind_limits.h"

struct region_binary {
	const struct kernel_region *region;
	const char *module;		/* of code made at run time, instead */
	uint32_t binary;		/* index */
};

void stack_definer_release(struct stack_definer *d)
{
	shadow_names_free(d->shadows);
	free(d->regions);
	free(d->made);
}

/* An error of the sink is not returned: it comes again with the next sample. */
static void emit(struct stack_definer *d, const struct record *rec)
{
	if (!definitions_error(d->deps.defs))
		d->deps.sink(d->deps.sink_ctx, rec);
}

static uint32_t define_frame(struct stack_definer *d, const struct stack_frame *f,
			     uint32_t binary_record, bool *is_new)
{
	struct record rec = { .tag = REC_FRAME };
	uint32_t id = stacks_frame(d->deps.stacks, f, is_new);

	if (!*is_new || !id)
		return id;
	rec.frame = (struct rec_frame){
		.id = id,
		.kind = f->kind,
		.flags = f->flags,
		.binary = binary_record,
		.addr = f->addr,
	};
	emit(d, &rec);
	return id;
}

/*
 * An address inside the instruction of a frame. A return address is behind its call, and the call
 * may be the last instruction of a function.
 */
static uint64_t instruction_of(uint64_t raw)
{
	uint64_t addr = raw & UNWIND_ADDRESS_MASK;

	return raw & UNWIND_RETURN_ADDRESS ? addr - 1 : addr;
}

/* A function of an interpreter, by what its probes have said of it. */
static uint32_t shadow_frame(struct stack_definer *d, uint64_t id, bool again)
{
	struct stack_frame f = { .addr = id & UNWIND_ADDRESS_MASK, .kind = FRAME_SYNTHETIC };
	struct record rec = { .tag = REC_SYMBOL, .symbol = { .status = SYMBOL_OK } };
	struct rec_line line = { 0 };
	struct shadow_name name;
	struct symbol_line l = { 0 };
	bool is_new;

	rec.symbol.frame = define_frame(d, &f, 0, &is_new);
	if (!rec.symbol.frame || (!is_new && !again) || !shadow_names_get(d->shadows, id, &name))
		return rec.symbol.frame;
	l.name = l.sysname = name.name;
	l.file = l.decl_file = *name.file ? name.file : NULL;
	l.line = l.decl_line = name.line;
	l.lang = shadow_name_lang(&name);
	if (l.lang)
		l.func_flags = TIER_INTERPRETED << FUNC_TIER_SHIFT;
	line.func = definitions_func(d->deps.defs, &l);
	line.line = name.line;
	rec.symbol.lines = &line;
	rec.symbol.nr_lines = 1;
	emit(d, &rec);
	return rec.symbol.frame;
}

void stack_definer_shadow(struct stack_definer *d, uint64_t id)
{
	shadow_frame(d, id, true);
}

/* The mapping that holds addr, its file read if that is possible; NULL: none is known. */
static const struct mapping *mapping_of(struct stack_definer *d, struct process *p, uint64_t addr,
					uint64_t time_ns)
{
	const struct mapping *m = p ? process_find_mapping(p, addr, time_ns) : NULL;

	if (m && d->deps.meet && d->deps.meet(d->deps.ctx, p, m, addr))
		m = process_find_mapping(p, addr, time_ns);
	return m && !m->is_unread ? m : NULL;
}

/* Whether generated code is a trampoline: inner are the words of the frame that it has called. */
static bool is_trampoline(const struct stack_definer *d, const struct process *p,
			  const uint64_t *inner)
{
	return inner && *inner & UNWIND_RUNTIME && d->deps.runtimes &&
	       runtime_names_has_trampolines(d->deps.runtimes, p, inner);
}

/* inner: see is_trampoline(); NULL: it has called none. */
static uint32_t user_frame(struct stack_definer *d, struct process *p, uint64_t raw,
			   const uint64_t *inner, uint64_t time_ns)
{
	uint64_t addr = raw & UNWIND_ADDRESS_MASK, call = instruction_of(raw);
	struct stack_frame f = { .addr = addr, .kind = FRAME_USER };
	const struct mapping *m = mapping_of(d, p, call, time_ns);
	const struct binary *b = m ? binaries_get(d->deps.binaries, m->binary) : NULL;
	bool is_new;
	uint32_t id;

	if (raw & UNWIND_RETURN_ADDRESS)
		f.flags |= FRAME_RETURN_ADDRESS;
	if (raw & UNWIND_GUESSED)
		f.flags |= FRAME_GUESSED;
	if (!m) {
		f.flags |= FRAME_UNMAPPED;
	} else if (b && !jit_names_has(b)) {
		f.binary = m->binary;
		f.addr = addr + m->to_vaddr;
		if (d->deps.on_binary)
			d->deps.on_binary(d->deps.ctx, f.binary, time_ns);
	} else {
		f.kind = FRAME_JIT;
		f.binary = jit_names_binary(d->deps.jit, p, call, time_ns);
		if (is_trampoline(d, p, inner))
			f.flags |= FRAME_TRAMPOLINE;
	}
	id = define_frame(d, &f, f.binary ? definitions_binary(d->deps.defs, f.binary) : 0,
			  &is_new);
	if (!is_new || !id)
		return id;
	if (d->deps.no_names)
		d->unresolved++;
	else if (f.kind == FRAME_JIT)
		jit_names_request(d->deps.jit, p, id, call, time_ns);
	else if (f.binary)
		symbolizer_request(d->deps.symbolizer, f.binary, id, call + m->to_vaddr,
				   f.flags & FRAME_RETURN_ADDRESS);
	return id;
}

uint32_t stack_definer_variable(struct stack_definer *d, const struct process *p, uint64_t addr)
{
	const struct mapping *m = p ? process_mapping_before(p, addr) : NULL;
	const struct binary *b = m ? binaries_get(d->deps.binaries, m->binary) : NULL;
	struct stack_frame f = { .kind = FRAME_USER, .flags = FRAME_VARIABLE };
	bool is_new;
	uint32_t id;

	if (!b || !b->is_elf || addr < m->end || jit_names_has(b))
		return 0;
	f.binary = m->binary;
	f.addr = addr + m->to_vaddr;
	if (f.addr < b->vaddr_lo || f.addr >= b->vaddr_hi)
		return 0;
	id = define_frame(d, &f, definitions_binary(d->deps.defs, f.binary), &is_new);
	if (id && is_new && d->deps.no_names)
		d->unresolved++;
	else if (id && is_new)
		symbolizer_request_variable(d->deps.symbolizer, f.binary, id, f.addr);
	return id;
}

/* Where the kernel has debug information, the symbolizer looks its names up, with lines. */
static void add_kernel_file(struct stack_definer *d, const struct kernel_region *r, uint32_t binary)
{
	struct kernel_debug *debug = d->deps.kernel_debug;
	struct symbol_source src = { .kind = SOURCE_KERNEL, .data = d->deps.kernel,
				     .text_start = r->start };

	if (!debug || debug->fd < 0 || d->deps.no_names)
		return;
	src.fd = debug->fd;
	src.inode = debug->inode;
	src.owner = debug->inode.uid;
	debug->fd = -1;
	if (!symbolizer_add(d->deps.symbolizer, binary, &src))
		d->kernel_with_lines = binary;
}

/* The binary that stands for a region of kernel text. */
static uint32_t region_binary(struct stack_definer *d, const struct kernel_region *r)
{
	static const struct file_id none;
	struct region_binary *place;
	struct binary *b;
	uint8_t kind;

	for (size_t i = 0; i < d->nr_regions; i++)
		if (d->regions[i].region == r)
			return d->regions[i].binary;
	kind = !strcmp(r->name, "vmlinux") ? BINARY_KERNEL
	       : !strcmp(r->name, "bpf")   ? BINARY_BPF
					   : BINARY_MODULE;
	b = binaries_add(d->deps.binaries, &none, r->name, kind);
	place = b ? array_push(&d->regions, &d->nr_regions, &d->cap_regions) : NULL;
	if (!place)
		return 0;
	memcpy(b->build_id, r->build_id, sizeof(r->build_id));
	b->build_id_len = r->build_id_len;
	b->size_bytes = r->end - r->start;
	*place = (struct region_binary){ .region = r, .binary = b->index };
	if (kind == BINARY_KERNEL)
		add_kernel_file(d, r, b->index);
	return b->index;
}

/* Kernel symbols are in memory, so a name alone is written at once, without the symbolizer. */
static void name_raw_frame(struct stack_definer *d, uint32_t id, uint64_t offset,
			   const char *name)
{
	struct record rec = { .tag = REC_SYMBOL, .symbol = { .frame = id, .status = SYMBOL_NONE } };
	struct rec_line line = { 0 };

	if (name) {
		struct symbol_line l = { .name = name, .sysname = name, .lang = LANG_C };

		line.func = definitions_func(d->deps.defs, &l);
		rec.symbol.status = SYMBOL_OK_SYMTAB;
		rec.symbol.offset = offset;
		rec.symbol.lines = &line;
		rec.symbol.nr_lines = 1;
	} else {
		d->unresolved++;
	}
	emit(d, &rec);
}

/* The binary that stands for all code of a module that was made at run time. */
static uint32_t made_binary(struct stack_definer *d, const char *module, uint8_t kind)
{
	static const struct file_id none;
	struct region_binary *place;
	struct binary *b;

	for (size_t i = 0; i < d->nr_made; i++)
		if (!strcmp(d->made[i].module, module))
			return d->made[i].binary;
	b = binaries_add(d->deps.binaries, &none, module, kind);
	place = b ? array_push(&d->made, &d->nr_made, &d->cap_made) : NULL;
	if (!place)
		return 0;
	*place = (struct region_binary){ .module = module, .binary = b->index };
	return b->index;
}

/* Its addresses are places of its own, because other code may have been there before. */
static uint32_t made_frame(struct stack_definer *d, const struct made_code *m, uint64_t addr,
			   bool exact)
{
	struct stack_frame f = { .addr = m->place + (addr - m->start),
				 .kind = m->is_bpf ? FRAME_BPF : FRAME_KERNEL,
				 .flags = exact ? 0 : FRAME_RETURN_ADDRESS };
	bool is_new;
	uint32_t id;

	f.binary = made_binary(d, kernel_code_module(m), m->is_bpf ? BINARY_BPF : BINARY_MODULE);
	id = define_frame(d, &f, f.binary ? definitions_binary(d->deps.defs, f.binary) : 0,
			  &is_new);
	if (is_new && id && d->deps.no_names)
		d->unresolved++;
	else if (is_new && id)
		name_raw_frame(d, id, addr - m->start, m->name);
	return id;
}

static uint32_t kernel_frame(struct stack_definer *d, uint64_t addr, bool exact)
{
	uint64_t call = exact ? addr : addr - 1;
	const struct kernel_region *r =
		d->deps.kernel ? kernel_symbols_region(d->deps.kernel, call) : NULL;
	struct kernel_symbol ks;
	struct stack_frame f = { .addr = addr,
				 .kind = FRAME_KERNEL,
				 .flags = exact ? 0 : FRAME_RETURN_ADDRESS };
	bool is_new;
	uint32_t id;

	if (r) {
		f.binary = region_binary(d, r);
		f.addr = addr - r->start;
		if (!strcmp(r->name, "bpf"))
			f.kind = FRAME_BPF;
	} else {
		f.flags |= FRAME_UNMAPPED;
	}
	id = define_frame(d, &f, f.binary ? definitions_binary(d->deps.defs, f.binary) : 0,
			  &is_new);
	if (is_new && id && d->deps.no_names)
		d->unresolved++;
	else if (is_new && id && f.binary && f.binary == d->kernel_with_lines)
		symbolizer_request(d->deps.symbolizer, f.binary, id, call, !exact);
	else if (is_new && id && d->deps.kernel && !kernel_symbols_find(d->deps.kernel, call, &ks))
		name_raw_frame(d, id, addr - ks.addr, ks.name);
	else if (is_new && id && d->deps.kernel)
		name_raw_frame(d, id, 0, NULL);
	return id;
}

/* The frame that stands for an interrupt vector: it has a name and no code. */
static uint32_t vector_frame(struct stack_definer *d, uint64_t raw)
{
	struct stack_frame f = { .addr = (uint32_t)raw, .kind = FRAME_SYNTHETIC };
	char name[192];
	bool is_new;
	uint32_t id = define_frame(d, &f, 0, &is_new);

	if (is_new && id) {
		interrupt_name((uint32_t)raw, name, sizeof(name));
		name_raw_frame(d, id, 0, name);
	}
	return id;
}

/* Stands for frames of a runtime that are missing: it has a reason and no code. */
static uint32_t mark_frame(struct stack_definer *d, uint64_t why)
{
	static const char *const names[RUNTIME_FAILURES] = {
		[RUNTIME_FAILED_READ] = "[frames that could not be read]",
		[RUNTIME_FAILED_TURNS] = "[frames without end]",
		[RUNTIME_FAILED_PROGRAM] = "[frames of an unknown kind]",
		[RUNTIME_FAILED_STATE] = "[frames of an unknown thread]",
		[RUNTIME_FAILED_MANY] = "[frames of too many code objects]",
	};
	const char *name = why < RUNTIME_FAILURES && names[why] ? names[why] : names[1];
	struct stack_frame f = { .addr = FRAME_MISSING | why, .kind = FRAME_SYNTHETIC };
	bool is_new;
	uint32_t id = define_frame(d, &f, 0, &is_new);

	d->marks++;
	if (is_new && id)
		name_raw_frame(d, id, 0, name);
	return id;
}

static uint32_t runtime_frame(struct stack_definer *d, const struct process *p,
			      const uint64_t words[2])
{
	uint32_t kind = words[0] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS, id;
	enum runtime_failure why = RUNTIME_FAILED_PROGRAM;
	struct stack_frame f;
	bool is_new;

	if (kind == RUNTIME_FRAME_MARK)
		return mark_frame(d, words[1]);
	if (p && d->deps.runtimes)
		why = runtime_names_frame(d->deps.runtimes, p, words, &f);
	if (why)
		return mark_frame(d, why);
	id = define_frame(d, &f, definitions_binary(d->deps.defs, f.binary), &is_new);
	if (id && is_new && d->deps.no_names)
		d->unresolved++;
	else if (id && is_new)
		runtime_names_request(d->deps.runtimes, p, id, words);
	return id;
}

static uint32_t define_node(struct stack_definer *d, uint32_t parent, uint32_t frame)
{
	struct record rec = { .tag = REC_NODE };
	bool is_new;
	uint32_t id = frame ? stacks_node(d->deps.stacks, parent, frame, &is_new) : 0;

	if (!id || !is_new)
		return id;
	rec.node = (struct rec_node){ id, parent, frame };
	emit(d, &rec);
	return id;
}

/*
 * The number of frames that can be trusted. The mappings that the kernel side uses are a moment
 * old. If a frame is in a mapping that was newer, the kernel side may have used the rules of
 * another file for it, so the frames behind it may be wrong.
 */
static size_t trusted_frames(const struct process *p, const struct wire_stack *w)
{
	uint64_t time_ns = w->head->time_ns;

	for (size_t i = 0; p && !w->deferred && i < w->head->nr_user; i++) {
		const struct mapping *m;

		if (w->user[i] & UNWIND_RUNTIME) {
			i++;
			continue;
		}
		if (w->user[i] & UNWIND_SHADOW)
			continue;
		m = process_find_mapping(p, instruction_of(w->user[i]), time_ns);
		if (m && !process_knew(p, m, time_ns))
			return i + 1;
	}
	return w->head->nr_user;
}

/* What the addresses of p mean depends on its mappings, and on the code that it has replaced. */
static uint64_t meaning_of(const struct stack_definer *d, const struct process *p,
			   uint64_t time_ns)
{
	uint64_t h = hash_u64(p->serial, p->generation);
	uint32_t changes = jit_names_changes(d->deps.jit, p, time_ns);

	return changes ? hash_u64(h, changes) : h;
}

/* Writes the frames' places among the words, and returns their number. */
static size_t find_frames(const uint64_t *words, size_t nr, uint16_t places[UNWIND_MAX_FRAMES])
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		assert(n < UNWIND_MAX_FRAMES);
		places[n++] = (uint16_t)i;
		i += !!(words[i] & UNWIND_RUNTIME);
	}
	return n;
}

/*
 * The frame that begins with this word; in that of a runtime UNWIND_SHADOW is a bit of its kind.
 * inner: where the frame begins that it has called, or NULL.
 */
static uint32_t frame_of_word(struct stack_definer *d, struct process *p, const uint64_t *word,
			      const uint64_t *inner, uint64_t time_ns)
{
	if (*word & UNWIND_RUNTIME)
		return runtime_frame(d, p, word);
	if (*word & UNWIND_SHADOW)
		return shadow_frame(d, *word, false);
	return user_frame(d, p, *word, inner, time_ns);
}

static uint32_t define_user(struct stack_definer *d, struct process *p, const struct wire_stack *w,
			    size_t nr)
{
	uint64_t shifted[UNWIND_MAX_FRAMES];
	uint16_t places[UNWIND_MAX_FRAMES];
	const uint64_t *words = w->user;
	uint32_t node = 0;

	if (p && d->deps.runtimes && stack_end_is_root(w->end) && nr == w->head->nr_user &&
	    runtime_names_shift(d->deps.runtimes, p, words, nr, shifted))
		words = shifted;
	for (size_t i = find_frames(words, nr, places); i-- > 0;) {
		const uint64_t *inner = i ? &words[places[i - 1]] : NULL;

		node = define_node(d, node, frame_of_word(d, p, &words[places[i]], inner,
							  w->head->time_ns));
	}
	return node;
}

uint32_t stack_definer_user(struct stack_definer *d, struct process *p, const struct wire_stack *w,
			   uint8_t *end)
{
	size_t nr = w->head->nr_user;
	struct stack_hash h;
	uint32_t node;

	*end = w->end;
	if (!nr)
		return 0;
	d->rewound += w->deferred && d->shadows;
	stack_hash_init(&h, p ? meaning_of(d, p, w->head->time_ns) : w->head->tgid);
	stack_hash_add(&h, w->user, nr);
	node = stacks_cached(d->deps.stacks, &h);
	if (node != UINT32_MAX)
		return node;
	nr = trusted_frames(p, w);
	assert(nr && nr <= w->head->nr_user);
	node = define_user(d, p, w, nr);
	if (nr < w->head->nr_user)
		*end = END_NO_MAPPING;
	else
		stacks_remember(d->deps.stacks, &h, node);
	return node;
}

static bool is_generated(const struct stack_definer *d, const struct process *p, uint64_t raw,
			 uint64_t time_ns)
{
	const struct mapping *m = process_find_mapping(p, instruction_of(raw), time_ns);
	const struct binary *b = m ? binaries_get(d->deps.binaries, m->binary) : NULL;

	return m && (!b || jit_names_has(b));
}

/* Whether generated code that the stack went through may still get another name. */
static bool waits_for_names(const struct stack_definer *d, const struct process *p,
			    const struct wire_stack *w)
{
	const uint64_t time_ns = w->head->time_ns;

	for (size_t i = 0; jit_names_has_code(d->deps.jit, p) && i < w->head->nr_user; i++) {
		if (w->user[i] & UNWIND_RUNTIME)
			i++;
		else if (!(w->user[i] & UNWIND_SHADOW) && is_generated(d, p, w->user[i], time_ns))
			return jit_names_must_wait(d->deps.jit, p, time_ns);
	}
	return false;
}

bool stack_definer_must_wait(const struct stack_definer *d, const struct process *p,
			     const struct wire_stack *w)
{
	if (!waits_for_names(d, p, w))
		return false;
	for (size_t i = 0; d->deps.runtimes && i + 1 < w->head->nr_user; i++)
		if (w->user[i] & UNWIND_RUNTIME) {
			runtime_names_meet(d->deps.runtimes, p, &w->user[i]);
			i++;
		}
	return true;
}

/* The code at frame i that was made while recording. */
static const struct made_code *made_at(const struct stack_definer *d, const struct wire_stack *w,
				       size_t i, bool exact)
{
	uint64_t call = exact ? w->kernel[i] : w->kernel[i] - 1;

	return d->deps.kernel_code ? kernel_code_find(d->deps.kernel_code, call, w->head->time_ns)
				   : NULL;
}

/* Such code has other code's addresses at other times. */
static void hash_made_code(const struct stack_definer *d, const struct wire_stack *w, size_t first,
			   size_t nr, bool exact, struct stack_hash *h)
{
	for (size_t i = first; i < nr; i++) {
		const struct made_code *m = made_at(d, w, i, exact && i == first);

		if (m)
			stack_hash_add(h, &m->place, 1);
	}
}

uint32_t stack_definer_kernel(struct stack_definer *d, const struct wire_stack *w)
{
	bool exact = w->head->flags & WIRE_IN_KERNEL;
	size_t nr = w->head->nr_kernel, first = 0;
	uint64_t vector = nr && WIRE_IS_VECTOR(w->kernel[nr - 1]) ? w->kernel[--nr] : 0;
	struct stack_hash h;
	uint32_t node;

	if (vector)
		nr = kernel_trim_handler(d->deps.kernel, w->kernel, nr);
	else if (w->head->flags & WIRE_ON_ITS_CPU)
		first = kernel_trim(d->deps.kernel, w->kernel, nr, &exact);
	else if (w->head->flags & WIRE_INTERRUPT)
		kernel_trim_interrupted(d->deps.kernel, w->kernel, &nr);
	if (first == nr && !vector)
		return 0;
	stack_hash_init(&h, exact);
	stack_hash_add(&h, &vector, 1);
	stack_hash_add(&h, w->kernel + first, nr - first);
	hash_made_code(d, w, first, nr, exact, &h);
	node = stacks_cached(d->deps.stacks, &h);
	if (node != UINT32_MAX)
		return node;
	node = vector ? define_node(d, 0, vector_frame(d, vector)) : 0;
	for (size_t i = nr; i-- > first;) {
		bool is_exact = exact && i == first;
		const struct made_code *m = made_at(d, w, i, is_exact);

		node = define_node(d, node, m ? made_frame(d, m, w->kernel[i], is_exact)
					      : kernel_frame(d, w->kernel[i], is_exact));
	}
	stacks_remember(d->deps.stacks, &h, node);
	return node;
}
