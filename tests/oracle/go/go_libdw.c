/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our rows of Go programs, made of .gopclntab, against the .debug_frame that Go's linker writes beside it, as elfutils
 * reads it. Every stretch of every row is asked. Exit status 1: a difference that is not one of these:
 *
 *	rules of another kind (roots, signal, other stack): only in functions of the runtime, which are listed
 *	the saved frame pointer: .debug_frame does not have it
 *	padding behind a function, which belongs to the next one
 *
 *	go_libdw FILE...
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/elf_unwind/elf_unwind_table.h"
#include "src/elf/elf_image.h"

#define RSP 7
#define RIP 16

enum class { SAME, SPECIAL, NEITHER, PADDING, DIFFERENT, MISSING, INVENTED, SPECIAL_ELSEWHERE, CLASSES };

static const char *const class_names[CLASSES] = {
	"same", "special", "neither", "padding", "DIFFERENT", "MISSING", "INVENTED", "SPECIAL ELSEWHERE",
};

/* Functions that may have other rules than "stack pointer plus depth". */
static const char *const special[] = {
	"runtime.goexit", "runtime.mstart", "runtime.rt0_go", "_rt0_amd64", "_rt0_amd64_linux", "runtime.sigreturn",
	"runtime.mcall", "runtime.morestack", "runtime.clone", "gogo", "runtime.gogo", "runtime.systemstack",
	"runtime.switchToCrashStack0", "runtime.asmcgocall", "runtime.asmcgocall_no_g", "runtime.cgocallback",
	"runtime.nanotime1", "runtime.walltime", "time.now", "runtime.callCgo", "runtime.sigfwd", "runtime.vgetrandom1",
	"racecall", "runtime.racecall", "syscall.rawVforkSyscall",
};

struct file {
	const char *path;
	Elf *elf;
	Dwarf_CFI *cfi;
	GElf_Sym *syms;
	const char **names;
	size_t nr_syms;
	uint64_t nr[CLASSES], rows;
	uint64_t debug_end;	/* of the last function known to .debug_frame */
};

static const char *name_at(const struct file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nr_syms; i++) {
		if (vaddr >= f->syms[i].st_value && vaddr - f->syms[i].st_value < f->syms[i].st_size)
			return f->names[i];
	}
	return "?";
}

static bool is_special_function(const struct file *f, uint64_t vaddr)
{
	const char *name = name_at(f, vaddr);

	if (name[0] == '?')
		name = name_at(f, vaddr + 1);	/* the byte before the signal trampoline */
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
		if (!strncmp(name, special[i], strlen(special[i])))
			return true;
	}
	return false;
}

static void read_symbols(struct file *f)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		f->syms = calloc(sh.sh_size / sh.sh_entsize, sizeof(*f->syms));
		f->names = calloc(sh.sh_size / sh.sh_entsize, sizeof(*f->names));
		for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
			GElf_Sym *s = &f->syms[f->nr_syms];

			if (gelf_getsym(data, (int)i, s) && GELF_ST_TYPE(s->st_info) == STT_FUNC)
				f->names[f->nr_syms++] = elf_strptr(f->elf, sh.sh_link, s->st_name);
		}
	}
}

/* What .debug_frame says at vaddr: its CFA is rsp + *off, the return address is right below. end: of this. */
static bool ask(struct file *f, uint64_t vaddr, int64_t *off, uint64_t *end)
{
	Dwarf_Frame *frame;
	Dwarf_Addr start, stop;
	Dwarf_Op *ops, mem[3];
	bool is_signal, known;
	size_t nr;

	*end = vaddr + 1;
	if (dwarf_cfi_addrframe(f->cfi, vaddr, &frame))
		return false;
	dwarf_frame_info(frame, &start, &stop, &is_signal);
	*end = stop;
	known = !dwarf_frame_cfa(frame, &ops, &nr) && nr == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == RSP;
	*off = known ? (int64_t)ops[0].number2 : 0;
	known = known && !dwarf_frame_register(frame, RIP, mem, &ops, &nr) && nr == 2 &&
		ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst &&
		(int64_t)ops[1].number == -8;
	free(frame);
	if (!known) {
		printf("%s 0x%" PRIx64 ": this rule of .debug_frame is not understood\n", f->path, vaddr);
		exit(1);
	}
	return true;
}

static enum class compare(struct file *f, uint64_t vaddr, const struct unwind_rule *r, bool known, int64_t off)
{
	if ((r->cfa != CFA_NONE && r->cfa != CFA_SP) || RULE_RA(r) != RA_CFA)
		return is_special_function(f, vaddr) ? SPECIAL : SPECIAL_ELSEWHERE;
	if (!known) {
		if (r->cfa == CFA_NONE)
			return NEITHER;
		return r->cfa_off == 8 && r->fp == FP_SAME && vaddr - f->debug_end < 32 ? PADDING : INVENTED;
	}
	if (r->cfa == CFA_NONE)
		return MISSING;
	return r->cfa_off == off ? SAME : DIFFERENT;
}

static void check_rows(struct file *f, const struct cfi_rows *rows)
{
	f->rows = rows->nr;
	for (size_t i = 0; i + 1 < rows->nr; i++) {
		uint64_t at = rows->v[i].vaddr, end;

		for (; at < rows->v[i + 1].vaddr; at = end) {
			int64_t off = 0;
			bool known = ask(f, at, &off, &end);
			enum class class = compare(f, at, &rows->v[i].rule, known, off);

			if (known)
				f->debug_end = end;
			if (!f->nr[class]++ && class >= DIFFERENT)
				printf("%s 0x%" PRIx64 " in %s: %s: ours %d %d, libdw rsp+%" PRId64 "\n", f->path, at,
				       name_at(f, at), class_names[class], rows->v[i].rule.cfa,
				       rows->v[i].rule.cfa_off, off);
		}
	}
}

static uint64_t text_bytes(struct file *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->nr_syms; i++)
		sum += f->syms[i].st_size;
	return sum;
}

/* The number of unexplained differences, or 1 when nothing could be compared. */
static uint64_t check_file(const char *path)
{
	struct file f = { .path = path };
	int fd = open(path, O_RDONLY), err;
	struct cfi_rows rows = { 0 };
	struct timespec begin, end;
	struct elf_image *img;
	Dwarf *dwarf;
	uint64_t bad;

	if (fd < 0 || elf_image_open(fd, &img)) {
		printf("%s: cannot be read\n", path);
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	err = go_rows_from_image(img, &rows);
	clock_gettime(CLOCK_MONOTONIC, &end);
	f.elf = elf_begin(fd, ELF_C_READ, NULL);
	dwarf = dwarf_begin_elf(f.elf, DWARF_C_READ, NULL);
	f.cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
	if (err || !f.cfi) {
		printf("%s: rows: %s; .debug_frame: %s\n", path, strerror(-err), f.cfi ? "yes" : "no");
		return 1;
	}
	read_symbols(&f);
	check_rows(&f, &rows);
	printf("%s: %" PRIu64 " rows, %.0f per MiB of text, %.1f ms, %zu functions, %zu bad:", path, f.rows,
	       (double)f.rows / ((double)text_bytes(&f) / 1048576),
	       (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6,
	       rows.stats.nr_fdes, rows.stats.bad_entries);
	for (int i = 0; i < CLASSES; i++)
		printf("%s %s %" PRIu64, i ? "," : "", class_names[i], f.nr[i]);
	printf("\n");
	bad = rows.stats.bad_entries;
	for (int i = DIFFERENT; i < CLASSES; i++)
		bad += f.nr[i];
	bad += f.nr[SAME] < 1000;
	cfi_rows_release(&rows);
	elf_image_close(img);
	dwarf_end(dwarf);
	elf_end(f.elf);
	close(fd);
	free(f.syms);
	free(f.names);
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t bad = 0;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		bad += check_file(argv[i]);
	return bad || argc < 2;
}
