/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file, open for reading: segments, sections, build-id. 64-bit or 32-bit, little-endian.
 *
 * Files are foreign. So everything is read by pread() into copies, because a mapped file that
 * shrinks would raise SIGBUS, and every size is checked against the file and a limit. These
 * functions print nothing: errors are -errno (-ENOEXEC: not an ELF file, -EBADMSG: damaged, -EFBIG:
 * over a limit), and the caller decides whether an error matters. One image may be used by one
 * thread at a time, different images by different threads.
 *
 * A section that is compressed (packed_section.h) looks as if it were not: its size is that of its
 * contents, and its offset one behind all files, at which these can be read like others. They are
 * unpacked when they are read for the first time.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAX_SEGMENTS 4096

/* A PT_LOAD. */
struct elf_segment {
	uint64_t offset, vaddr, filesz, memsz, align;
	bool exec, write;
};

struct elf_section {
	uint64_t addr, offset, size, entsize;
	uint32_t index, type, link, info;
	uint64_t flags;
	bool is_unpacked;		/* its offset is none in the file */
};

struct elf_image {
	uint16_t machine, type;		/* e_machine, e_type */
	bool is64;
	uint64_t file_size;
	const struct elf_segment *segments;	/* in file order */
	size_t nr_segments;
	uint8_t build_id[64];
	uint8_t build_id_len;		/* 0: none */
	uint64_t vaddr_lo, vaddr_hi;	/* of all PT_LOADs; vaddr_lo is the start of a page */
	uint64_t eh_frame_hdr_vaddr, eh_frame_hdr_size;	/* PT_GNU_EH_FRAME; 0: none */
	/* The compression of a section that was asked for, if it is not known here; else 0. */
	uint32_t unknown_packing;
	/* Set by the opener. True: what takes long may be broken off. NULL: it may not. */
	const atomic_bool *unwanted;
	struct elf_image_priv *priv;
};

/* Reads headers from fd, which the caller keeps open until elf_image_close() and then closes. */
int elf_image_open(int fd, struct elf_image **imgp);

/* Reads headers of a file whose bytes are in memory (vdso); data is borrowed. */
int elf_image_open_memory(const void *data, size_t len, struct elf_image **imgp);

void elf_image_close(struct elf_image *img);		/* NULL is fine */

/*
 * Section by name; 0; -ENOENT; -ENOTSUP: its compression is not known; -EBADMSG: it is damaged.
 * NOBITS sections (as in separate debug files) count as -ENOENT. .debug_* finds .zdebug_*, too.
 */
int elf_image_section(struct elf_image *img, const char *name, struct elf_section *out);
int elf_image_section_at(struct elf_image *img, uint32_t index, struct elf_section *out);
/* The number of sections, with index 0 and NOBITS ones. */
uint32_t elf_image_nr_sections(const struct elf_image *img);

/* Copies bytes of the file; caller frees *out. More than max is -EFBIG, a short file -EBADMSG. */
int elf_image_read(struct elf_image *img, uint64_t offset, uint64_t size, uint64_t max, void **out);

/* Reads bytes of the file into buf; the count (short at the end of the file) or -errno. */
long elf_image_pread(struct elf_image *img, void *buf, size_t len, uint64_t offset);

/*
 * The file offset of a virtual address within the file part of a PT_LOAD. *left: how many bytes
 * follow, up to the end of that part or of the file; at least 1. 0 or -ENOENT.
 */
int elf_image_offset_of(const struct elf_image *img, uint64_t vaddr, uint64_t *offset,
			uint64_t *left);
