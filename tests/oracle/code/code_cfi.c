/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows that come from reading code against those of call frame information: for every x86-64 ELF file below the given
 * directories that has .eh_frame the code is read as if there were none, and at every instruction both answers are
 * compared. The table of classes is printed; exit status 1 when clearly more of the claims are wrong, or clearly fewer
 * instructions are claimed, than known_shares[] says.
 *
 *	code_cfi [-s] [-m MAX_BYTES] [-v] PATH...
 *
 * -s: only the symbols that the file has, mostly .dynsym; else the FDEs that begin like a called function are known
 * starts, as .symtab would name them. -m: leave out files with more code (default 16 MiB). -v: every wrong claim; -vv, -vvv: the classes before too.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/elf_unwind/elf_cfi.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/elf_unwind/elf_code_rows.h"
#include "src/elf/elf_image.h"
#include "tests/oracle/file_list.h"
#include "unwind/cfi_entries.h"
#include "unwind/x86_insn.h"

enum class {
	SAME, SAME_ROOT, FP_PUSHED, FP_POPPED, FP_LOST, CFI_FP_LOST, CFI_UNSUPPORTED, OTHER_REGISTER,
	NOT_CLAIMED,
	WRONG_CFA, WRONG_FP, WRONG_RA, WRONG_ROOT,
	CLASSES
};

static const char *const class_names[CLASSES] = {
	[SAME] = "same rule",
	[SAME_ROOT] = "outermost frame",
	[FP_PUSHED] = "frame pointer: in its slot, CFI means the register until it changes",
	[FP_POPPED] = "frame pointer: in its register, CFI means the slot it was popped from",
	[FP_LOST] = "frame pointer: known to CFI only",
	[CFI_FP_LOST] = "frame pointer: not known to CFI",
	[CFI_UNSUPPORTED] = "CFI of an unsupported kind",
	[OTHER_REGISTER] = "CFA from another register than CFI says: cannot be compared",
	[NOT_CLAIMED] = "not claimed",
	[WRONG_CFA] = "WRONG: CFA",
	[WRONG_FP] = "WRONG: frame pointer",
	[WRONG_RA] = "WRONG: return address",
	[WRONG_ROOT] = "WRONG: outermost frame",
};

/*
 * What is known, of Debian 12 with compilers, browsers and databases: 2176 files, 54.6 million instructions. Folders of it with
 * a million instructions or more have 0.2 to 4.3 times the wrong share and 0.4 to 1.8 times the unclaimed one; all of
 * another machine's /usr lies between its folders, so twice and three times the share are allowed. To that come a few
 * functions written by hand: small sets hold one by chance, and the largest number of wrong claims in one file is 1213.
 */
struct known_share {
	double wrong;		/* of the claims */
	double unclaimed;	/* of the instructions */
	uint64_t by_chance;	/* wrong claims */
};

static const struct known_share known_shares[] = {
	[false] = { 0.000049, 0.0087, 240 },	/* with the starts of functions */
	[true] = { 0.000280, 0.0137, 1200 },	/* -s */
};

struct tally {
	uint64_t files, nr[CLASSES];
	char first[CLASSES][300];
	struct elf_code_rows_stats stats;
	double seconds;
};

struct options {
	bool only_symbols;
	int verbose;
	uint64_t max_bytes;
};

static void count(struct tally *t, enum class class, const char *path, uint64_t vaddr, int verbose)
{
	if (!t->nr[class]++)
		snprintf(t->first[class], sizeof(t->first[class]), "%s 0x%" PRIx64, path, vaddr);
	if (verbose && (int)class >= WRONG_CFA - verbose + 1)
		printf("%s 0x%" PRIx64 " %s\n", path, vaddr, class_names[class]);
}

static enum class compare_fp(const struct unwind_rule *cfi, const struct unwind_rule *our)
{
	if (our->fp == FP_UNDEFINED)
		return cfi->fp == FP_UNDEFINED ? SAME : FP_LOST;
	if (cfi->fp == FP_UNDEFINED || cfi->fp == FP_DEREF_FP)
		return CFI_FP_LOST;
	if (cfi->fp == our->fp)
		return our->fp == FP_SAME || our->fp_off == cfi->fp_off ? SAME : WRONG_FP;
	if (our->fp == FP_SAME && cfi->cfa == CFA_SP && -cfi->fp_off > cfi->cfa_off)
		return FP_POPPED;
	return WRONG_FP;
}

static enum class compare(const struct unwind_rule *cfi, const struct unwind_rule *our)
{
	if (our->cfa == CFA_NONE)
		return NOT_CLAIMED;
	if (cfi->cfa == CFA_UNSUPPORTED || cfi->cfa == CFA_SIGNAL)
		return CFI_UNSUPPORTED;
	if (cfi->cfa == CFA_ROOT || our->cfa == CFA_ROOT)
		return cfi->cfa == our->cfa ? SAME_ROOT : WRONG_ROOT;
	if (cfi->cfa == CFA_PLT)
		return NOT_CLAIMED;	/* compared by its own address: see plt_rule() */
	if (cfi->cfa != our->cfa || cfi->reg != our->reg)
		return OTHER_REGISTER;
	if (cfi->cfa_off != our->cfa_off)
		return WRONG_CFA;
	if (cfi->ra != RULE_RA(our))
		return WRONG_RA;
	return compare_fp(cfi, our);
}

/* The rule of a linker's stub, at one address. */
static struct unwind_rule plt_rule(const struct unwind_rule *r, uint64_t vaddr)
{
	struct unwind_rule sp = { .cfa = CFA_SP, .cfa_off = 8 };

	if (r->cfa != CFA_PLT)
		return *r;
	sp.cfa_off += (vaddr & 15) >= (uint64_t)r->aux ? 8 : 0;
	return sp;
}

struct file {
	const char *path;
	struct elf_image *img;
	struct cfi_rows cfi, our;
	uint64_t *starts;
	size_t nr_starts;
};

/* Compilers may name the slots of all registers only at the end of the prologue. */
static bool is_named_later(const struct file *f, uint64_t vaddr, const struct unwind_rule *our)
{
	size_t lo = 0, hi = f->cfi.nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->cfi.v[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i < f->cfi.nr && i < lo + 8; i++)
		if (f->cfi.v[i].rule.fp == FP_CFA && f->cfi.v[i].rule.cfa != CFA_NONE)
			return f->cfi.v[i].rule.fp_off == our->fp_off;
	return false;
}

static void check_stretch(struct file *f, const uint8_t *p, uint64_t begin, uint64_t end, struct tally *t, int verbose)
{
	struct x86_insn insn;

	for (uint64_t at = begin; at < end; at += insn.len) {
		struct unwind_rule cfi, our;
		enum class class;

		if (!x86_decode(p + (at - begin), end - at, &insn)) {
			insn.len = 1;
			continue;
		}
		if (x86_is_padding(&insn))
			continue;
		cfi = cfi_rows_find(&f->cfi, at);
		if (cfi.cfa == CFA_NONE)
			continue;
		cfi = plt_rule(&cfi, at);
		our = cfi_rows_find(&f->our, at);
		class = compare(&cfi, &our);
		if (class == WRONG_FP && our.fp == FP_CFA && cfi.fp == FP_SAME && is_named_later(f, at, &our))
			class = FP_PUSHED;
		count(t, class, f->path, at, verbose);
	}
}

/* Row by row of the CFI: each begins an instruction. */
static void check_rows(struct file *f, struct tally *t, int verbose)
{
	for (size_t i = 0; i + 1 < f->cfi.nr; i++) {
		uint64_t begin = f->cfi.v[i].vaddr, end = f->cfi.v[i + 1].vaddr, offset, left;
		void *bytes;

		if (f->cfi.v[i].rule.cfa == CFA_NONE || elf_image_offset_of(f->img, begin, &offset, &left) ||
		    left < end - begin || elf_image_read(f->img, offset, end - begin, 64 << 20, &bytes))
			continue;
		check_stretch(f, bytes, begin, end, t, verbose);
		free(bytes);
	}
}

/* Functions that begin as a call leaves them; parts that the compiler put elsewhere begin with another frame. */
static void collect_starts(struct file *f)
{
	struct cfi_entries entries = { 0 };
	struct cfi_stats stats = { 0 };
	struct elf_section s;
	struct cfi_input in;
	void *bytes;

	if (elf_image_section(f->img, ".eh_frame", &s) || elf_image_read(f->img, s.offset, s.size, 64 << 20, &bytes))
		return;
	in = (struct cfi_input){ .eh_frame = bytes, .len = s.size, .vaddr = s.addr, .machine = CFI_X86_64 };
	if (!cfi_entries_read(&in, &entries, &stats))
		f->starts = calloc(entries.nr_fdes + 1, sizeof(*f->starts));
	for (size_t i = 0; f->starts && i < entries.nr_fdes; i++) {
		struct unwind_rule r = cfi_rows_find(&f->cfi, entries.fdes[i].lo);

		if (r.cfa == CFA_SP && r.cfa_off == 8 && r.fp == FP_SAME)
			f->starts[f->nr_starts++] = entries.fdes[i].lo;
	}
	cfi_entries_release(&entries);
	free(bytes);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void add_stats(struct tally *t, const struct elf_code_rows_stats *s)
{
	t->stats.code.bytes += s->code.bytes;
	t->stats.code.known_bytes += s->code.known_bytes;
	t->stats.code.functions += s->code.functions;
	t->stats.code.joins_lost += s->code.joins_lost;
	t->stats.code.unknown_jumps += s->code.unknown_jumps;
	t->stats.gap_bytes += s->gap_bytes;
	t->stats.left_out += s->left_out;
	t->stats.frame_pointer_bytes += s->frame_pointer_bytes;
}

static uint64_t code_bytes(const struct elf_image *img)
{
	uint64_t n = 0;

	for (size_t i = 0; i < img->nr_segments; i++)
		n += img->segments[i].exec ? img->segments[i].filesz : 0;
	return n;
}

static void check_image(struct file *f, const struct options *opt, struct tally *t)
{
	struct cfi_rows none = { 0 };
	struct elf_code_rows_stats stats;
	struct code_rows_scope scope = { 0 };
	double begin;

	if (cfi_rows_from_image(f->img, &f->cfi) || f->cfi.nr < 8)
		return;
	if (!opt->only_symbols)
		collect_starts(f);
	scope.starts = f->starts;
	scope.nr_starts = f->nr_starts;
	begin = now();
	if (code_rows_from_image(f->img, &none, &scope, &f->our, &stats))
		return;
	t->seconds += now() - begin;
	t->files++;
	add_stats(t, &stats);
	check_rows(f, t, opt->verbose);
}

static void check_file(const char *path, const struct options *opt, struct tally *t)
{
	struct file f = { .path = path };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!elf_image_open(fd, &f.img)) {
		if ((f.img->type == 2 || f.img->type == 3) && f.img->machine == 62 && code_bytes(f.img) <= opt->max_bytes)
			check_image(&f, opt, t);
		elf_image_close(f.img);
	}
	cfi_rows_release(&f.cfi);
	cfi_rows_release(&f.our);
	free(f.starts);
	close(fd);
}

static bool is_worse(const struct known_share *known, uint64_t total, uint64_t claimed, uint64_t wrong)
{
	uint64_t wrong_max = (uint64_t)(2 * known->wrong * (double)claimed) + known->by_chance;
	uint64_t unclaimed_max = (uint64_t)(3 * known->unclaimed * (double)total);

	printf("allowed: %" PRIu64 " wrong of them, %" PRIu64 " not claimed; here: %" PRIu64 ", %" PRIu64 "\n", wrong_max,
	       unclaimed_max, wrong, total - claimed);
	return !claimed || wrong > wrong_max || total - claimed > unclaimed_max;
}

static int print(const struct tally *t, const struct known_share *known)
{
	uint64_t claimed = 0, wrong = 0, total;

	for (int i = 0; i < CLASSES; i++) {
		claimed += i != NOT_CLAIMED ? t->nr[i] : 0;
		wrong += i >= WRONG_CFA ? t->nr[i] : 0;
	}
	total = claimed + t->nr[NOT_CLAIMED];
	for (int i = 0; i < CLASSES; i++)
		if (t->nr[i])
			printf("%12" PRIu64 " %8.4f %%  %s; first: %s\n", t->nr[i],
			       100.0 * (double)t->nr[i] / (double)(total ? total : 1), class_names[i], t->first[i]);
	printf("%" PRIu64 " files, %" PRIu64 " functions, %.1f MB of code in %.2f s: %.1f MB/s; known bytes %.2f %%\n",
	       t->files, t->stats.code.functions, (double)t->stats.gap_bytes / 1e6, t->seconds,
	       (double)t->stats.gap_bytes / 1e6 / t->seconds,
	       100.0 * (double)t->stats.code.known_bytes / (double)(t->stats.code.bytes + 1));
	printf("%" PRIu64 " joins lost, %" PRIu64 " unknown jumps, left out %" PRIu64 ", frame pointers %" PRIu64 "\n",
	       t->stats.code.joins_lost, t->stats.code.unknown_jumps, t->stats.left_out, t->stats.frame_pointer_bytes);
	printf("claimed %.3f %% of %" PRIu64 " instructions, wrong %.4f %% of the claims\n",
	       100.0 * (double)claimed / (double)(total ? total : 1), total,
	       100.0 * (double)wrong / (double)(claimed ? claimed : 1));
	return is_worse(known, total, claimed, wrong);
}

int main(int argc, char **argv)
{
	struct options opt = { .max_bytes = 16 << 20 };
	struct file_list files = { 0 };
	static struct tally t;
	int c, err;

	while ((c = getopt(argc, argv, "sm:v")) != -1) {
		if (c == 's')
			opt.only_symbols = true;
		else if (c == 'v')
			opt.verbose++;
		else if (c == 'm')
			opt.max_bytes = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	err = file_list_find(&files, argv + optind);
	if (err) {
		fprintf(stderr, "code_cfi: %s\n", strerror(-err));
		return 2;
	}
	for (size_t i = 0; i < files.nr; i++)
		check_file(files.v[i].path, &opt, &t);
	file_list_release(&files);
	return print(&t, &known_shares[opt.only_symbols]);
}
