/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No symbol tells the version. It is in the header that each answer of a web server gets, which is
 * a constant.
 */
#include "src/runtimes/php/php_find.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/runtimes/php/php_layout.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/runtime_loops.h"
#include "unwind/x86_insn.h"

enum { LOOP, GLOBALS, OFFSET_OF_GLOBALS, NR_NAMES };

#define HEADER "X-Powered-By: PHP/"
#define MAX_CONSTANTS (32u << 20)
#define PIECE (256u << 10)
#define VERSION_BYTES 16
#define PROLOGUE_BYTES 48
#define MAX_FRAME 4096

/* The decimal number at *p, below 256, and behind it c; or -1. */
static int number(const char **p, char c)
{
	int n = 0, digits = 0;

	for (; **p >= '0' && **p <= '9' && digits < 3; digits++)
		n = n * 10 + *(*p)++ - '0';
	if (!digits || n > 255 || (c && **p != c))
		return -1;
	*p += **p != 0;
	return n;
}

/* "8.2.36-dev" to 0x08022400; 0: it is none. */
static uint32_t parse_version(const char *text)
{
	int major = number(&text, '.'), minor = major < 0 ? -1 : number(&text, '.');
	int patch = minor < 0 ? -1 : number(&text, 0);

	return patch < 0 ? 0 : (uint32_t)major << 24 | (uint32_t)minor << 16 | (uint32_t)patch << 8;
}

/* Looks for the header in a piece of constants. 0: not there. */
static uint32_t version_in(const char *bytes, size_t len)
{
	char text[VERSION_BYTES + 1] = "";
	const char *at = memmem(bytes, len, HEADER, sizeof(HEADER) - 1);
	size_t left;

	if (!at)
		return 0;
	at += sizeof(HEADER) - 1;
	left = (size_t)(bytes + len - at);
	memcpy(text, at, left < VERSION_BYTES ? left : VERSION_BYTES);
	return parse_version(text);
}

/* 0: it is not told. Or -errno. */
static int find_version(struct elf_image *img, uint32_t *version)
{
	/* A header that lies on two pieces is whole in the next one. */
	const size_t common = sizeof(HEADER) + VERSION_BYTES;
	struct elf_section s;
	char *piece;
	int err = elf_image_section(img, ".rodata", &s);
	uint64_t end = err || s.size > MAX_CONSTANTS ? MAX_CONSTANTS : s.size;

	*version = 0;
	if (err)
		return err == -ENOENT ? 0 : err;
	piece = malloc(PIECE);
	if (!piece)
		return -ENOMEM;
	for (uint64_t at = 0; at < end && !*version; at += PIECE - common) {
		uint64_t left = end - at;
		long n = elf_image_pread(img, piece, left < PIECE ? left : PIECE, s.offset + at);

		if (n <= 0)
			break;
		*version = version_in(piece, (size_t)n);
	}
	free(piece);
	return 0;
}

/*
 * How large the loop's frame is: push of registers, and sub from %rsp. Code that the JIT compiler
 * has made runs in that frame.
 */
static void find_frame(struct elf_image *img, uint64_t loop, struct php_image *out)
{
	uint8_t code[PROLOGUE_BYTES];
	uint64_t offset, left;
	uint32_t bytes = 8;
	struct x86_insn insn;

	if (img->machine != EM_X86_64 || elf_image_offset_of(img, loop, &offset, &left) ||
	    left < sizeof(code) || elf_image_pread(img, code, sizeof(code), offset) != sizeof(code))
		return;
	for (size_t at = 0; at < sizeof(code); at += insn.len) {
		if (!x86_decode(code + at, sizeof(code) - at, &insn) || insn.flow != X86_NEXT)
			return;
		bytes += insn.map == X86_ONE_BYTE && (insn.op & 0xf8) == 0x50 ? 8 : 0;
		if (insn.map != X86_ONE_BYTE || (insn.op != 0x83 && insn.op != 0x81) ||
		    (insn.reg & 7) != 5 || insn.mod != 3 || insn.rm != X86_SP)
			continue;
		if (insn.imm < 0 || insn.imm > MAX_FRAME)
			return;
		out->frame_bytes = bytes + (uint32_t)insn.imm;
		out->body_vaddr = loop + at + insn.len + 1;
		return;
	}
}

static void find_text(const struct elf_image *img, uint64_t loop, struct php_image *out)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (!s->exec || loop - s->vaddr >= s->filesz)
			continue;
		out->text_vaddr = s->vaddr;
		out->text_bytes = s->filesz;
	}
}

int php_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct exported_symbol v[NR_NAMES] = {
		[LOOP] = { .name = "execute_ex" },
		[GLOBALS] = { .name = "executor_globals" },
		[OFFSET_OF_GLOBALS] = { .name = "executor_globals_offset" },
	};
	struct php_image php = { 0 };
	int err = exported_symbols_find(img, v, NR_NAMES);

	if (err)
		return err;
	if (!v[LOOP].vaddr || (!v[GLOBALS].vaddr && !v[OFFSET_OF_GLOBALS].vaddr))
		return -ENOENT;
	out->state_vaddr = v[GLOBALS].vaddr;
	err = find_version(img, &out->version);
	if (err)
		return err;
	php.has_threads = !v[GLOBALS].vaddr;
	if (!php.has_threads && !php_layout_of(out->version >> 16, &php.layout)) {
		err = runtime_loops_find(img, fd, data, &v[LOOP], out);
		out->is_known = !err;
		find_frame(img, v[LOOP].vaddr, &php);
		find_text(img, v[LOOP].vaddr, &php);
	}
	RUNTIME_SET_OWN(out, &php);
	return err;
}
