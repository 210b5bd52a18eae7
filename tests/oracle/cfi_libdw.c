/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our reading of call frame information against elfutils': for every ELF file below the given directories, every
 * stretch of every row is asked of libdw too, and both answers are computed on the same made-up registers and
 * memory. Every answer falls into a class; the table of classes is printed, and the exit status is 1 when one of
 * them is a difference that nothing explains.
 *
 *	cfi_libdw [-j PROCESSES] [-n MAX_ROWS] [-v] PATH...
 *
 * -n: of files with more rows only so many, evenly spread, are checked (default 200000; 0: all). -v: print each
 * row that is unsupported. Needs libdw; nothing in the program itself does.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/elf_unwind/elf_cfi.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/elf/elf_image.h"
#include "tests/oracle/dwarf_eval.h"
#include "tests/oracle/file_list.h"

enum class {
	SAME_RULE, SAME_NONE, SAME_ROOT, SAME_SIGNAL,
	PADDING, FP_GIVEN_UP, OVERLAP, RA_IN_SCRATCH,
	UNSUPPORTED_CFA, UNSUPPORTED_RA, RA_BELOW_SP, OTHER_STACK, DAMAGED,
	LIBDW_FAILS, NOT_EVALUATED,
	DIFFERENT_CFA, DIFFERENT_RA, DIFFERENT_FP, DIFFERENT_KIND, MISSING, INVENTED, NEEDLESSLY_UNSUPPORTED,
	DIFFERENT_TABLE,
	CLASSES
};

static const struct {
	const char *text;
	bool is_failure;
} class_info[CLASSES] = {
	[SAME_RULE] = { "same rule" },
	[SAME_NONE] = { "both know nothing" },
	[SAME_ROOT] = { "outermost frame" },
	[SAME_SIGNAL] = { "signal trampoline" },
	[PADDING] = { "up to 15 bytes of padding, given to the function behind" },
	[FP_GIVEN_UP] = { "frame pointer lost: in a register or by an expression" },
	[OVERLAP] = { "inside several FDEs: which one counts is a choice" },
	[RA_IN_SCRATCH] = { "return address in a scratch register: lost for libdw" },
	[UNSUPPORTED_CFA] = { "unsupported: CFA by an expression of another kind" },
	[UNSUPPORTED_RA] = { "unsupported: return address of another kind" },
	[RA_BELOW_SP] = { "unsupported: return address below the stack pointer" },
	[OTHER_STACK] = { "unsupported: the caller's stack pointer is not the CFA" },
	[DAMAGED] = { "unsupported: damaged, and libdw says so too" },
	[LIBDW_FAILS] = { "libdw calls it invalid, we have a rule" },
	[NOT_EVALUATED] = { "libdw's expression is beyond this test" },
	[DIFFERENT_CFA] = { "DIFFERENT: CFA", true },
	[DIFFERENT_RA] = { "DIFFERENT: return address", true },
	[DIFFERENT_FP] = { "DIFFERENT: frame pointer", true },
	[DIFFERENT_KIND] = { "DIFFERENT: outermost or signal frame", true },
	[MISSING] = { "DIFFERENT: only libdw knows", true },
	[INVENTED] = { "DIFFERENT: only we know", true },
	[DIFFERENT_TABLE] = { "DIFFERENT: rows and the table made of them", true },
	[NEEDLESSLY_UNSUPPORTED] = { "DIFFERENT: unsupported, but simple", true },
};

#define CFA_KINDS (CFA_OTHER_STACK + 1)

struct tally {			/* of one process, in shared memory */
	uint64_t files, no_cfi, sampled, rows, unsupported_files;
	uint64_t bad_entries, overlaps;
	uint64_t cfa_kinds[CFA_KINDS], fp_kinds[4], ra_kinds[3];
	uint64_t nr[CLASSES];
	char example[CLASSES][256];
};

struct shared {
	uint64_t next_file;
	struct tally tallies[];
};

struct options {
	unsigned processes;
	uint64_t max_rows;
	bool verbose;
};

struct file {			/* being checked */
	const char *path;
	const struct options *opt;
	struct tally *tally;
	const struct cfi_rows *rows;
	Dwarf_CFI *cfi;
	struct eval ev;
	int sp, fp;		/* DWARF numbers */
	bool is_arm64;
	int no_match;		/* libdw's error number for "no FDE" */
};

static void count(struct file *f, enum class class, uint64_t vaddr)
{
	struct tally *t = f->tally;

	if (!t->nr[class]++)
		snprintf(t->example[class], sizeof(t->example[class]), "%s 0x%" PRIx64, f->path, vaddr);
}

/* ---- one address ---- */

struct answer {
	enum { KNOWN, NO_FDE, FAILED, UNKNOWN_OP } status;
	bool is_root, is_signal, simple_cfa, simple_ra, simple_fp;
	bool fp_undefined;
	uint64_t cfa, ra, fp, sp;
	int ra_reg;		/* the CIE's: not lr in glibc's strnlen for arm64 */
	int64_t sp_cfa_off;	/* of a CFA that counts from the stack pointer */
	bool cfa_from_sp;
	uint64_t end;		/* of the stretch */
};

static bool ask_register(struct file *f, Dwarf_Frame *frame, int reg, uint64_t cfa, struct eval_value *out)
{
	Dwarf_Op mem[3], *ops;
	size_t nr;

	if (dwarf_frame_register(frame, reg, mem, &ops, &nr))
		return false;
	if (!nr) {
		out->kind = ops ? EVAL_UNDEFINED : EVAL_SAME;
		out->value = f->ev.regs[reg];
		return true;
	}
	return eval_location(&f->ev, ops, nr, cfa, out);
}

static void ask_frame(struct file *f, Dwarf_Frame *frame, struct answer *a)
{
	struct eval_value ra, fp, sp;
	Dwarf_Addr start, end;
	bool is_signal;
	Dwarf_Op *ops;
	size_t nr;

	a->status = UNKNOWN_OP;
	a->ra_reg = dwarf_frame_info(frame, &start, &end, &is_signal);
	a->end = end;
	a->is_signal = is_signal;
	if (dwarf_frame_cfa(frame, &ops, &nr)) {
		a->status = FAILED;	/* "invalid CFI": half of a CFA changed after an expression */
		return;
	}
	if (!eval_ops(&f->ev, ops, nr, 0, &a->cfa))
		return;
	a->simple_cfa = nr == 1 && ops[0].atom == DW_OP_bregx;
	a->cfa_from_sp = a->simple_cfa && ops[0].number == (uint64_t)f->sp;
	a->sp_cfa_off = a->cfa_from_sp ? (int64_t)ops[0].number2 : 0;
	if (a->ra_reg < 0 || a->ra_reg >= EVAL_REGS || !ask_register(f, frame, a->ra_reg, a->cfa, &ra) ||
	    !ask_register(f, frame, f->fp, a->cfa, &fp) || !ask_register(f, frame, f->sp, a->cfa, &sp))
		return;
	a->status = KNOWN;
	a->is_root = ra.kind == EVAL_UNDEFINED;
	a->ra = ra.value;
	a->simple_ra = ra.kind == EVAL_AT_CFA;
	a->fp = fp.value;
	a->simple_fp = fp.kind == EVAL_AT_CFA || fp.kind == EVAL_SAME;
	a->fp_undefined = fp.kind == EVAL_UNDEFINED;
	a->sp = sp.value;
	if (a->simple_ra && a->cfa_from_sp)
		a->sp_cfa_off += ra.cfa_off;	/* of the return address from the stack pointer */
}

static void ask_libdw(struct file *f, uint64_t vaddr, struct answer *a)
{
	Dwarf_Frame *frame;

	memset(a, 0, sizeof(*a));
	f->ev.pc = vaddr;
	if (dwarf_cfi_addrframe(f->cfi, vaddr, &frame)) {
		a->status = dwarf_errno() == f->no_match ? NO_FDE : FAILED;
		return;
	}
	ask_frame(f, frame, a);
	free(frame);
}

static uint64_t our_cfa(const struct file *f, const struct unwind_rule *r)
{
	const struct eval *ev = &f->ev;
	uint64_t off = (uint64_t)(int64_t)r->cfa_off, add = (uint64_t)(int64_t)r->aux;

	switch ((enum unwind_cfa)r->cfa) {
	case CFA_SP: return ev->regs[f->sp] + off;
	case CFA_FP: return ev->regs[f->fp] + off;
	case CFA_REG: return ev->regs[r->reg] + off;
	case CFA_DEREF_SP: return eval_memory(ev->regs[f->sp] + off) + add;
	case CFA_DEREF_FP: return eval_memory(ev->regs[f->fp] + off) + add;
	case CFA_DEREF_REG: return eval_memory(ev->regs[r->reg] + off) + add;
	case CFA_PLT: return ev->regs[f->sp] + 8 + ((ev->pc & 15) >= (uint64_t)r->aux ? 8 : 0);
	case CFA_NONE:
	case CFA_UNSUPPORTED:
	case CFA_SIGNAL:
	case CFA_ROOT:
	case CFA_OTHER_STACK:
	case CFA_EH_RETURN:
	case CFA_CALLEE_SAVED:		/* not without reading code: steps_libdw.sh */
		break;
	}
	abort();
}

static uint64_t our_ra(const struct file *f, const struct unwind_rule *r, uint64_t cfa)
{
	if (r->ra == RA_REG)
		return f->ev.regs[r->reg];
	return eval_memory(cfa + (r->ra == RA_CFA_OFF ? (uint64_t)(int64_t)r->aux : -8ull));
}

static uint64_t our_fp(const struct file *f, const struct unwind_rule *r, uint64_t cfa)
{
	if (r->fp == FP_SAME)
		return f->ev.regs[f->fp];
	return eval_memory((r->fp == FP_CFA ? cfa : f->ev.regs[f->fp]) + (uint64_t)(int64_t)r->fp_off);
}

static enum class compare_signal(const struct file *f, const struct answer *a)
{
	const uint64_t sp = f->ev.regs[f->sp];

	if (!a->is_signal)
		return DIFFERENT_KIND;
	if (f->is_arm64)
		return SAME_SIGNAL;
	/* struct ucontext: 40 bytes before the registers. */
	if (a->ra != eval_memory(sp + 40 + 16 * 8))
		return DIFFERENT_RA;
	if (a->cfa != eval_memory(sp + 40 + 15 * 8))
		return DIFFERENT_CFA;
	return a->fp == eval_memory(sp + 40 + 10 * 8) ? SAME_SIGNAL : DIFFERENT_FP;
}

static enum class why_unsupported(const struct answer *a)
{
	if (a->status == FAILED)
		return DAMAGED;
	if (a->status == UNKNOWN_OP)
		return UNSUPPORTED_CFA;
	if (a->status == NO_FDE)
		return INVENTED;
	if (a->sp != a->cfa)
		return OTHER_STACK;
	if (!a->simple_cfa)
		return UNSUPPORTED_CFA;
	if (!a->simple_ra)
		return UNSUPPORTED_RA;
	return a->cfa_from_sp && a->sp_cfa_off < 0 ? RA_BELOW_SP : NEEDLESSLY_UNSUPPORTED;
}

/* Registers that a call preserves are x19 to x30; a rule of "as it was" for another means something in its leaf only. */
static bool is_ra_in_scratch(const struct file *f, const struct unwind_rule *r, const struct answer *a)
{
	return f->is_arm64 && r->ra == RA_REG && r->reg == a->ra_reg && a->ra_reg < 19;
}

static enum class compare_rule(const struct file *f, const struct unwind_rule *r, const struct answer *a)
{
	uint64_t cfa = our_cfa(f, r);

	if (a->is_root)
		return is_ra_in_scratch(f, r, a) ? RA_IN_SCRATCH : DIFFERENT_KIND;
	if (cfa != a->cfa || cfa != a->sp)
		return DIFFERENT_CFA;
	if (our_ra(f, r, cfa) != a->ra)
		return DIFFERENT_RA;
	if (r->fp == FP_UNDEFINED) {
		if (a->fp_undefined)
			return SAME_RULE;
		return a->simple_fp ? DIFFERENT_FP : FP_GIVEN_UP;
	}
	return !a->fp_undefined && our_fp(f, r, cfa) == a->fp ? SAME_RULE : DIFFERENT_FP;
}

static enum class compare(const struct file *f, const struct unwind_rule *r, const struct answer *a)
{
	if (r->cfa == CFA_NONE)
		return a->status == NO_FDE ? SAME_NONE : MISSING;
	if (r->cfa == CFA_UNSUPPORTED)
		return why_unsupported(a);
	if (a->status == NO_FDE)
		return INVENTED;
	if (a->status == FAILED)
		return LIBDW_FAILS;
	if (a->status == UNKNOWN_OP)
		return NOT_EVALUATED;
	if (r->cfa == CFA_SIGNAL)
		return compare_signal(f, a);
	if (r->cfa == CFA_ROOT)
		return a->is_root ? SAME_ROOT : DIFFERENT_KIND;
	return compare_rule(f, r, a);
}

/* ---- one row ---- */

/* Padding: libdw knows nothing at vaddr, but within 15 bytes before and behind (from *next) it does. */
static bool is_padding(struct file *f, uint64_t vaddr, const struct unwind_rule *r, uint64_t *next)
{
	struct answer before, behind;

	if (r->cfa != CFA_SP)
		return false;
	for (uint64_t i = 1; i <= 15; i++) {
		ask_libdw(f, vaddr - i, &before);
		if (before.status == NO_FDE)
			continue;
		for (uint64_t k = 1; k + i <= 16; k++) {
			ask_libdw(f, vaddr + k, &behind);
			if (behind.status == NO_FDE)
				continue;
			*next = vaddr + k;
			return compare(f, r, &behind) == SAME_RULE;
		}
		return false;
	}
	return false;
}

/* Compares at vaddr; returns where libdw's answer ends. */
static uint64_t check_at(struct file *f, uint64_t vaddr, const struct unwind_rule *r)
{
	enum class class;
	struct answer a;
	uint64_t next;

	ask_libdw(f, vaddr, &a);
	class = compare(f, r, &a);
	next = a.end > vaddr ? a.end : vaddr + 1;
	if (class == INVENTED && is_padding(f, vaddr, r, &next))
		class = PADDING;
	else if (class_info[class].is_failure && f->rows->stats.overlaps)
		class = OVERLAP;
	count(f, class, vaddr);
	if (f->opt->verbose && class >= FP_GIVEN_UP)
		printf("%s 0x%" PRIx64 " %s\n", f->path, vaddr, class_info[class].text);
	return next;
}

static void check_row(struct file *f, uint64_t begin, uint64_t end, const struct unwind_rule *r)
{
	uint64_t vaddr = begin;

	if (r->cfa == CFA_NONE) {
		/* Nobody says where a stretch without CFI ends: look here and there. */
		for (uint64_t step = (end - begin) / 8 + 1; vaddr < end; vaddr += step)
			check_at(f, vaddr, r);
	} else {
		while (vaddr < end)
			vaddr = check_at(f, vaddr, r);
	}
	if (end - begin > 1)
		check_at(f, end - 1, r);
}

static void census(struct tally *t, const struct cfi_rows *rows)
{
	t->rows += rows->nr;
	t->bad_entries += rows->stats.bad_entries;
	t->overlaps += rows->stats.overlaps;
	t->unsupported_files += rows->stats.unsupported > 0;
	for (size_t i = 0; i < rows->nr; i++) {
		const struct unwind_rule *r = &rows->v[i].rule;

		t->cfa_kinds[r->cfa]++;
		if (r->cfa >= CFA_SP && r->cfa <= CFA_PLT) {
			t->fp_kinds[r->fp]++;
			t->ra_kinds[r->ra]++;
		}
	}
}

static void check_rows(struct file *f)
{
	const struct cfi_rows *rows = f->rows;
	uint64_t max = f->opt->max_rows, step = 1;

	if (max && rows->nr > max) {
		step = rows->nr / max + 1;
		f->tally->sampled++;
	}
	for (size_t i = 0; i + 1 < rows->nr; i += step)
		check_row(f, rows->v[i].vaddr, rows->v[i + 1].vaddr, &rows->v[i].rule);
	if (rows->nr) {
		check_at(f, rows->v[0].vaddr - 1, &(struct unwind_rule){ 0 });
		check_at(f, rows->v[rows->nr - 1].vaddr, &rows->v[rows->nr - 1].rule);
	}
}

/* The table must answer what the rows say, at both ends of each. */
static void check_table(struct file *f, const struct elf_image *img)
{
	const struct cfi_row *v = f->rows->v;
	struct unwind_table *t;

	if (unwind_table_build(f->rows, img->vaddr_lo, img->vaddr_hi, &t)) {
		count(f, DIFFERENT_TABLE, 0);
		return;
	}
	for (size_t i = 0; i + 1 < f->rows->nr; i++) {
		struct unwind_rule first = unwind_table_find(t, v[i].vaddr);
		struct unwind_rule last = unwind_table_find(t, v[i + 1].vaddr - 1);

		if (memcmp(&first, &v[i].rule, sizeof(first)) || memcmp(&last, &v[i].rule, sizeof(last)))
			count(f, DIFFERENT_TABLE, v[i].vaddr);
	}
	unwind_table_free(t);
}

/* ---- files ---- */

static void set_machine(struct file *f, uint16_t machine)
{
	f->sp = machine == EM_AARCH64 ? 31 : 7;
	f->fp = machine == EM_AARCH64 ? 29 : 6;
	f->is_arm64 = machine == EM_AARCH64;
}

/* libdw's number for "no FDE", which its headers do not name: asked of an address that no file has. */
static int no_match_error(Dwarf_CFI *cfi)
{
	Dwarf_Frame *frame;

	dwarf_errno();
	if (!dwarf_cfi_addrframe(cfi, UINT64_MAX - 1, &frame)) {
		free(frame);
		return -1;
	}
	return dwarf_errno();
}

static void check_image(struct file *f, struct elf_image *img, int fd)
{
	struct cfi_rows rows = { 0 };
	int err = cfi_rows_from_image(img, &rows);
	Elf *elf;

	if (err || !rows.nr) {
		f->tally->no_cfi++;
		cfi_rows_release(&rows);
		return;
	}
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	f->cfi = dwarf_getcfi_elf(elf);
	f->rows = &rows;
	f->tally->files++;
	census(f->tally, &rows);
	set_machine(f, img->machine);
	eval_init(&f->ev, img->machine == EM_X86_64 ? 16 : EVAL_REGS);
	f->no_match = f->cfi ? no_match_error(f->cfi) : 0;
	check_table(f, img);
	if (f->cfi)
		check_rows(f);
	else
		count(f, INVENTED, 0);
	dwarf_cfi_end(f->cfi);
	elf_end(elf);
	cfi_rows_release(&rows);
}

static void check_file(const char *path, const struct options *opt, struct tally *tally)
{
	struct file f = { .path = path, .opt = opt, .tally = tally };
	struct elf_image *img = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!elf_image_open(fd, &img)) {
		if (img->type == ET_EXEC || img->type == ET_DYN)	/* others are never mapped */
			check_image(&f, img, fd);
		elf_image_close(img);
	}
	close(fd);
}

static void work(const struct file_list *files, struct shared *shared, const struct options *opt, unsigned me)
{
	uint64_t i;

	while ((i = __atomic_fetch_add(&shared->next_file, 1, __ATOMIC_RELAXED)) < files->nr)
		check_file(files->v[i].path, opt, &shared->tallies[me]);
}

static int run_processes(const struct file_list *files, struct shared *shared, const struct options *opt)
{
	int status, bad = 0;

	for (unsigned i = 0; i < opt->processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			work(files, shared, opt, i);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}

/* ---- the table ---- */

static void add_tally(struct tally *sum, const struct tally *t)
{
	const uint64_t *from = &t->files;
	uint64_t *to = &sum->files;

	for (size_t i = 0; i < offsetof(struct tally, example) / sizeof(*to); i++)
		to[i] += from[i];
	for (int i = 0; i < CLASSES; i++)
		if (!sum->example[i][0])
			memcpy(sum->example[i], t->example[i], sizeof(sum->example[i]));
}

static bool print_table(const struct tally *t)
{
	static const char *const cfa[CFA_KINDS] = { "none", "unsupported", "sp", "fp", "reg", "*sp", "*fp", "*reg",
						    "plt", "signal", "root" };
	bool failed = false;

	printf("%" PRIu64 " files with CFI, %" PRIu64 " without, %" PRIu64 " rows; only a part checked of %" PRIu64
	       " files\n", t->files, t->no_cfi, t->rows, t->sampled);
	printf("entries: %" PRIu64 " damaged, %" PRIu64 " overlapping; %" PRIu64 " files with unsupported rows\n",
	       t->bad_entries, t->overlaps, t->unsupported_files);
	printf("rows by CFA:");
	for (int i = 0; i < CFA_KINDS; i++)
		printf(" %s %" PRIu64, cfa[i], t->cfa_kinds[i]);
	printf("\nby frame pointer: same %" PRIu64 " cfa %" PRIu64 " undefined %" PRIu64 " *fp %" PRIu64,
	       t->fp_kinds[0], t->fp_kinds[1], t->fp_kinds[2], t->fp_kinds[3]);
	printf("\nby return address: cfa-8 %" PRIu64 " cfa+off %" PRIu64 " reg %" PRIu64 "\n\n", t->ra_kinds[0],
	       t->ra_kinds[1], t->ra_kinds[2]);
	for (int i = 0; i < CLASSES; i++) {
		if (!t->nr[i])
			continue;
		failed |= class_info[i].is_failure;
		printf("%12" PRIu64 "  %-58s %s\n", t->nr[i], class_info[i].text, t->example[i]);
	}
	return failed;
}

static int run(const struct file_list *files, const struct options *opt)
{
	size_t size = sizeof(struct shared) + opt->processes * sizeof(struct tally);
	struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tally *sum = calloc(1, sizeof(*sum));
	int failed;

	if (!sum || shared == MAP_FAILED || !files->nr)
		return 2;
	failed = run_processes(files, shared, opt);
	for (unsigned i = 0; i < opt->processes; i++)
		add_tally(sum, &shared->tallies[i]);
	failed |= print_table(sum);
	free(sum);
	munmap(shared, size);
	return failed;
}

int main(int argc, char **argv)
{
	struct options opt = { .processes = 2, .max_rows = 200000 };
	struct file_list files = { 0 };
	int c, status;

	while ((c = getopt(argc, argv, "j:n:v")) != -1) {
		if (c == 'j')
			opt.processes = (unsigned)atoi(optarg);
		else if (c == 'n')
			opt.max_rows = (uint64_t)atoll(optarg);
		else if (c == 'v')
			opt.verbose = true;
		else
			return 2;
	}
	if (file_list_find(&files, &argv[optind]))
		return 2;
	elf_version(EV_CURRENT);
	setlinebuf(stdout);
	status = run(&files, &opt);
	file_list_release(&files);
	return status;
}
