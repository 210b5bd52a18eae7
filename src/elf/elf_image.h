/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file, open for reading: segments, sections, build-id. 64-bit little-endian or 32-bit.
 *
 * Files are foreign: everything is read by pread into copies (a file that shrinks must not raise
 * SIGBUS), every size is checked against the file and capped. Nothing here prints: errors are
 * -errno (-ENOEXEC: not an ELF file, -EBADMSG: damaged, -EFBIG: over a cap), and the caller decides
 * whether it matters. One image may be used by one thread at a time; different images by different
 * threads.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_segment {			/* a PT_LOAD */
	uint64_t offset, vaddr, filesz, memsz, align;
	bool exec;
};

struct elf_section {
	uint64_t addr, offset, size, entsize;
	uint32_t index, type, link, info;
	uint64_t flags;
};

struct elf_image {
	uint16_t machine, type;		/* e_machine, e_type */
	bool is64;
	uint64_t file_size;
	const struct elf_segment *segments;	/* in file order */
	size_t nr_segments;
	uint8_t build_id[64];
	uint8_t build_id_len;		/* 0: none */
	uint64_t vaddr_lo, vaddr_hi;	/* lowest (page-aligned down) and highest end of all
					   PT_LOADs */
	uint64_t eh_frame_hdr_vaddr, eh_frame_hdr_size;	/* PT_GNU_EH_FRAME; 0: none */
	const atomic_bool *unwanted;	/* set by the opener: true: the result of what takes long
					   is not needed any more; NULL: it always is */
	struct elf_image_priv *priv;
};

/* Reads headers from fd, which stays the caller's and must stay open. */
int elf_image_open(int fd, struct elf_image **imgp);

/* The same over bytes in memory laid out as the file (vdso); data is borrowed. */
int elf_image_open_memory(const void *data, size_t len, struct elf_image **imgp);

void elf_image_close(struct elf_image *img);		/* NULL is fine */

/* Section by name; 0 or -ENOENT. NOBITS sections (as in separate debug files) count as -ENOENT. */
int elf_image_section(struct elf_image *img, const char *name, struct elf_section *out);
int elf_image_section_at(struct elf_image *img, uint32_t index, struct elf_section *out);
uint32_t elf_image_nr_sections(const struct elf_image *img);	/* index 0 and NOBITS ones
								   included */

/* Copy of file bytes; caller frees *out. max: refuse more (-EFBIG). A short file is -EBADMSG. */
int elf_image_read(struct elf_image *img, uint64_t offset, uint64_t size, uint64_t max, void **out);

/* File bytes into a buffer; the count read (short at the end of file) or -errno. */
long elf_image_pread(struct elf_image *img, void *buf, size_t len, uint64_t offset);

/*
 * File offset of a virtual address inside some PT_LOAD's file part; *left: bytes up to its end or
 * that of the file, at least 1. 0 or -ENOENT.
 */
int elf_image_offset_of(const struct elf_image *img, uint64_t vaddr, uint64_t *offset,
			uint64_t *left);
