/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/late_names/late_lookup.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/patience.h"
#include "src/elf/elf_image.h"
#include "src/late_names/late_files.h"
#include "src/late_names/late_names.h"
#include "src/proc/procfs.h"
#include "src/symbolize/kernel_symbols.h"
#include "src/symbolize/symbol_batch.h"
#include "src/symbolize/symbolizer.h"

/*
 * Questions that wait at a time: a parser has 20 s for those of one file, and 64 MiB for its names.
 */
#define MAX_WAITING 20000
#define MAX_FILES 64			/* open at a time */
/* Whose files are looked for. Recordings have hundreds; a hostile trace may name a million. */
#define MAX_BINARIES 65536

struct lookup {
	struct late_names *n;
	const struct late_sources *src;
	struct symbolizer *symbolizer;
	size_t waiting, files;
};

static enum late_cause cause_of(uint8_t status)
{
	switch ((enum symbol_status)status) {
	case SYMBOL_OK:
	case SYMBOL_OK_SYMTAB:
	case SYMBOL_STATUSES: return LATE_OK;
	case SYMBOL_NONE:
	case SYMBOL_STRIPPED: return LATE_STRIPPED;
	case SYMBOL_UNREADABLE: return LATE_UNREADABLE;
	case SYMBOL_GONE: return LATE_NO_FILE;
	case SYMBOL_UNANSWERED:
	case SYMBOL_LIMITED: return LATE_LIMITED;
	case SYMBOL_ENDED: return LATE_NO_FILE;
	}
	return LATE_UNREADABLE;
}

static struct late_binary *binary_of(struct late_names *n, const struct late_question *q)
{
	const struct late_segment *s = &n->segments[q->segment];
	const struct rec_frame *f = late_names_frame(n, q);

	return &n->binaries[f->binary < s->cap_binaries ? s->binaries[f->binary] : 0];
}

/* ---- functions of the kernel by lists of its symbols ---- */

/*
 * The function at an offset in a region, or at an absolute address: region "". out->addr becomes
 * the offset of addr in it, which does not depend on where the kernel was put.
 */
static bool find_in(const struct kernel_symbols *k, const char *region, uint64_t addr,
		    struct kernel_symbol *out)
{
	const struct kernel_region *r = *region ? kernel_symbols_region_named(k, region) : NULL;

	if (*region && (!r || addr >= r->end - r->start))
		return false;
	addr += r ? r->start : 0;
	if (kernel_symbols_find(k, addr, out))
		return false;
	out->addr = addr - out->addr;
	return true;
}

static bool is_this_kernel(const struct late_kernel *k, const struct late_segment *s,
			   const struct late_binary *b, bool is_absolute)
{
	const struct kernel_region *r =
		k->here ? kernel_symbols_region_named(k->here, b->path) : NULL;

	if (*s->boot_id && !strcmp(s->boot_id, k->boot_id))
		return true;
	return !is_absolute && r && b->build_id_len && r->build_id_len == b->build_id_len &&
	       !memcmp(r->build_id, b->build_id, b->build_id_len);
}

/*
 * BPF programs come and go, and their regions begin where the first one is: an offset says nothing
 * later. Nor does that in a module whose place the list does not tell.
 */
static bool find_kernel_name(const struct lookup *l, const struct late_question *q,
			     const struct late_binary *b, struct kernel_symbol *out)
{
	const struct late_kernel *k = &l->src->kernel;
	const struct rec_frame *f = late_names_frame(l->n, q);
	bool is_absolute = !f->binary || f->flags & FRAME_UNMAPPED;
	const char *region = is_absolute ? "" : b->path;
	uint64_t addr = late_names_address(f);

	if (!is_absolute && b->kind == BINARY_BPF)
		return false;
	for (unsigned i = 0; i < k->nr_given; i++)
		if ((is_absolute || b->kind == BINARY_KERNEL) &&
		    find_in(k->given[i], region, addr, out))
			return true;
	return k->here && is_this_kernel(k, &l->n->segments[q->segment], b, is_absolute) &&
	       find_in(k->here, region, addr, out);
}

/* ---- files ---- */

static int add_line(struct late_names *n, struct late_question *q, const struct symbol_line *line)
{
	const struct rec_func func = {
		.name = late_names_text(n, line->name),
		.sysname = late_names_text(n, line->sysname ? line->sysname : line->name),
		.file = late_names_text(n, line->decl_file ? line->decl_file : line->file),
		.start_line = line->decl_line, .lang = line->lang, .flags = line->func_flags,
	};
	struct rec_line place = { 0, line->line, line->column, 0 };

	if (line->line && !symbol_line_is_in_file(line))
		place.file = late_names_text(n, line->file);
	return late_names_add_line(n, q, &func, &place);
}

/* A function of the kernel has the name of its own list, where there is one. true: there is. */
static bool name_by_list(const struct lookup *l, struct late_question *q,
			 struct symbol_line v[SYMBOL_MAX_DEPTH], size_t *nr)
{
	const struct late_binary *b = binary_of(l->n, q);
	const struct rec_frame *f = late_names_frame(l->n, q);
	struct kernel_symbol ks;

	if (b->kind != BINARY_KERNEL || !find_kernel_name(l, q, b, &ks))
		return false;
	if (!*nr)
		v[(*nr)++] = (struct symbol_line){ .lang = LANG_C };
	v[*nr - 1].name = v[*nr - 1].sysname = ks.name;
	q->has_offset = true;
	q->offset = ks.addr + !!(f->flags & FRAME_RETURN_ADDRESS);
	return true;
}

static int on_answer(void *ctx, uint32_t cookie, uint64_t addr, const struct symbol *sym)
{
	struct lookup *l = ctx;
	struct late_question *q = &l->n->questions[cookie];
	const struct rec_frame *f = late_names_frame(l->n, q);
	const struct symbol_line *lines;
	struct symbol_line only, v[SYMBOL_MAX_DEPTH];
	size_t nr = symbol_functions(sym, &only, &lines);
	uint8_t status = sym->status;
	int err = 0;

	assert(cookie < l->n->nr_questions && l->waiting);
	l->waiting--;
	q->has_offset = sym->has_func_addr;
	if (sym->has_func_addr)
		q->offset = addr - sym->func_addr + !!(f->flags & FRAME_RETURN_ADDRESS);
	l->n->nr_lines_lost += sym->are_lines_lost;
	lines_lack_add(&l->n->lack, sym->lack, binary_of(l->n, q)->path);
	l->n->segments[q->segment].nr_lines_lost += sym->are_lines_lost;
	memcpy(v, lines, nr * sizeof(*v));
	if (name_by_list(l, q, v, &nr) && status > SYMBOL_OK_SYMTAB)
		status = SYMBOL_OK_SYMTAB;
	for (size_t i = 0; i < nr && !err; i++)
		err = add_line(l->n, q, &v[i]);
	late_names_answer(l->n, binary_of(l->n, q), q, status, cause_of(status));
	return err;
}

static int collect(struct lookup *l)
{
	struct patience for_ever = { 0 };

	return symbolizer_collect(l->symbolizer, on_answer, l, &for_ever);
}

/* Waits for all answers, and closes all files. */
static int begin_anew(struct lookup *l)
{
	const struct symbolizer_options opts = {
		.max_depth = SYMBOL_MAX_DEPTH, .look_up = parse_names, .look_up_lines = parse_lines,
		.ctx = l->src->files->parsers,
	};
	int err = l->symbolizer ? collect(l) : 0;

	symbolizer_free(l->symbolizer);
	l->symbolizer = symbolizer_new(l->src->pool, &opts);
	l->files = 0;
	return err ? err : l->symbolizer ? 0 : -ENOMEM;
}

/* The address in the file of a frame that only has its offset. false: that is not in its code. */
static bool address_at_offset(const struct elf_identity *elf, uint64_t *addr)
{
	for (uint32_t i = 0; i < elf->nr_segments; i++) {
		const struct rec_segment *s = &elf->segments[i];

		if (*addr < s->offset || *addr - s->offset >= s->filesz)
			continue;
		*addr += s->vaddr - s->offset;
		return true;
	}
	return false;
}

/* elf: of the file, if the frames of b have its offsets for addresses; else NULL. */
static int request(struct lookup *l, uint32_t binary, const struct elf_identity *elf)
{
	struct late_binary *b = &l->n->binaries[binary];
	int err = 0;

	for (uint32_t at = b->first; at && !err; at = l->n->questions[at - 1].next) {
		struct late_question *q = &l->n->questions[at - 1];
		const struct rec_frame *f = late_names_frame(l->n, q);
		uint64_t addr = late_names_address(f);

		if (elf && !address_at_offset(elf, &addr)) {
			late_names_answer(l->n, b, q, SYMBOL_UNREADABLE, LATE_OTHER_FILE);
			continue;
		}
		err = f->flags & FRAME_VARIABLE
			      ? symbolizer_request_variable(l->symbolizer, binary, at - 1, addr)
			      : symbolizer_request(l->symbolizer, binary, at - 1, addr,
						   f->flags & FRAME_RETURN_ADDRESS);
		if (!err && ++l->waiting >= MAX_WAITING)
			err = collect(l);
	}
	return err;
}

static void answer_all(struct late_names *n, struct late_binary *b, uint8_t status,
		       enum late_cause cause)
{
	for (uint32_t at = b->first; at; at = n->questions[at - 1].next)
		late_names_answer(n, b, &n->questions[at - 1], status, cause);
}

static uint8_t status_of(enum late_cause cause)
{
	return cause == LATE_LIMITED ? SYMBOL_LIMITED
	       : cause == LATE_UNREADABLE ? SYMBOL_UNREADABLE : SYMBOL_GONE;
}

static void set_source(struct symbol_source *source, const struct late_found *found)
{
	source->fd = found->fd;
	source->path = found->path;
	source->inode = (struct symbol_inode){ found->st.st_dev, found->st.st_ino,
					       found->st.st_uid, found->st.st_ctim };
	source->owner = found->st.st_uid;
	if (found->debug_fd >= 0)
		source->debug_fds[source->nr_debug_fds++] = found->debug_fd;
}

static int look_in_file(struct lookup *l, uint32_t binary)
{
	struct late_binary *b = &l->n->binaries[binary];
	struct symbol_source source = { .kind = SOURCE_ELF };
	struct late_found found;
	enum late_cause cause = late_files_find(l->src->files, b, &found);
	int err;

	if (cause != LATE_OK) {
		answer_all(l->n, b, status_of(cause), cause);
		return 0;
	}
	set_source(&source, &found);
	err = symbolizer_add(l->symbolizer, binary, &source);
	if (!err)
		err = request(l, binary, b->has_segments ? NULL : &found.elf);
	free(found.elf.segments);
	return !err && ++l->files >= MAX_FILES ? begin_anew(l) : err;
}

/* The vdso has no file. Ours is taken, if it is the same. */
static int look_in_vdso(struct lookup *l, uint32_t binary)
{
	struct late_binary *b = &l->n->binaries[binary];
	struct symbol_source source = { .kind = SOURCE_MEMORY, .fd = -1 };
	struct elf_image *img = NULL;
	bool same;

	source.data = procfs_vdso(&source.len);
	same = source.data && !elf_image_open_memory(source.data, source.len, &img) &&
	       img->build_id_len && img->build_id_len == b->build_id_len &&
	       !memcmp(img->build_id, b->build_id, b->build_id_len);
	elf_image_close(img);
	if (!same) {
		answer_all(l->n, b, SYMBOL_GONE, LATE_OTHER_KERNEL);
		return 0;
	}
	return symbolizer_add(l->symbolizer, binary, &source) ?: request(l, binary, NULL);
}

/* ---- the kernel ---- */

static int answer_kernel(struct lookup *l, struct late_binary *b, struct late_question *q)
{
	const struct rec_frame *f = late_names_frame(l->n, q);
	struct rec_func func = { .lang = LANG_C };
	struct kernel_symbol ks;
	enum late_cause cause = LATE_OTHER_KERNEL;
	int err;

	if (!find_kernel_name(l, q, b, &ks)) {
		if (b->kind == BINARY_BPF)
			cause = LATE_GENERATED;
		else if (l->src->kernel.is_hidden &&
			 is_this_kernel(&l->src->kernel, &l->n->segments[q->segment], b, true))
			cause = LATE_HIDDEN_KERNEL;
		late_names_answer(l->n, b, q, SYMBOL_UNREADABLE, cause);
		return 0;
	}
	func.name = func.sysname = late_names_text(l->n, ks.name);
	err = late_names_add_line(l->n, q, &func, &(struct rec_line){ 0 });
	q->has_offset = true;
	q->offset = ks.addr + !!(f->flags & FRAME_RETURN_ADDRESS);
	late_names_answer(l->n, b, q, SYMBOL_OK_SYMTAB, LATE_OK);
	return err;
}

/* *err: of the questions, if there is such a file. */
static bool look_in_kernel_file(struct lookup *l, uint32_t binary, int *err)
{
	struct late_binary *b = &l->n->binaries[binary];
	uint32_t segment = l->n->questions[b->first - 1].segment;
	struct symbol_source source = { .kind = SOURCE_ELF, .is_kernel = true };
	struct late_found found;

	if (b->kind != BINARY_KERNEL ||
	    late_files_find_kernel(l->src->files, b, l->n->segments[segment].release, &found))
		return false;
	set_source(&source, &found);
	*err = symbolizer_add(l->symbolizer, binary, &source) ?: request(l, binary, NULL);
	free(found.elf.segments);
	if (!*err && ++l->files >= MAX_FILES)
		*err = begin_anew(l);
	return true;
}

static int look_in_kernel(struct lookup *l, uint32_t binary)
{
	struct late_binary *b = &l->n->binaries[binary];
	int err = 0;

	if (look_in_kernel_file(l, binary, &err))
		return err;
	for (uint32_t at = b->first; at && !err; at = l->n->questions[at - 1].next)
		err = answer_kernel(l, b, &l->n->questions[at - 1]);
	return err;
}

static int look_up(struct lookup *l, uint32_t binary)
{
	static int (*const by_kind[BINARY_KINDS])(struct lookup *l, uint32_t binary) = {
		[BINARY_ELF] = look_in_file,
		[BINARY_DELETED] = look_in_file,
		[BINARY_VDSO] = look_in_vdso,
		[BINARY_KERNEL] = look_in_kernel,
		[BINARY_MODULE] = look_in_kernel,
		[BINARY_BPF] = look_in_kernel,
	};
	struct late_binary *b = &l->n->binaries[binary];

	if (binary > MAX_BINARIES) {
		answer_all(l->n, b, SYMBOL_LIMITED, LATE_LIMITED);
		return 0;
	}
	if (!b->first || b->kind >= BINARY_KINDS || !by_kind[b->kind])
		return 0;
	return by_kind[b->kind](l, binary);
}

int late_lookup(struct late_names *n, const struct late_sources *src)
{
	struct lookup l = { .n = n, .src = src };
	int err = begin_anew(&l);

	for (uint32_t i = 0; i < n->nr_binaries && !err; i++)
		err = look_up(&l, i);
	if (!err)
		err = collect(&l);
	symbolizer_free(l.symbolizer);
	return err;
}
