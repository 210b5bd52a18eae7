/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the unwinder and its tables agree on: sizes, the entries that the kernel side reads, end
 * codes, frame flags. CONTRACT between user space (src/capture/tables/unwind_loader.c) and the BPF
 * side. Data only; the code is in unwind_step.h.
 */
#pragma once

#include <stdint.h>

#include "unwind/frame_program.h"
#include "unwind/row.h"

#define UNWIND_MAX_FRAMES 1024
#define UNWIND_MEMORY_PAGE 4096
#define UNWIND_CACHE_WORDS 2048	/* 16 KiB; more would cost TLB misses */

/*
 * Limits of the tables, which size the maps: there is room for 3,000 processes of 87 mappings and
 * 3,000 files of 10,000 rows. A slab is 1 MiB of rows, and the rows of a page are in one slab. With
 * all slabs made the tables take less than 140 MiB.
 */
#define UNWIND_SLAB_SHIFT 18
#define UNWIND_SLAB_ROWS (1u << UNWIND_SLAB_SHIFT)
#define UNWIND_MAX_SLABS 120
#define UNWIND_MAX_PAGES (1u << 17)
#define UNWIND_MAX_RULES (1u << 15)
#define UNWIND_MAX_MAPPINGS (1u << 18)
#define UNWIND_MAX_BINARIES (1u << 16)

/* An executable mapping of a process. Slices are sorted by begin and immutable once published. */
struct unwind_mapping {
	uint64_t begin, end;
	uint64_t bias;			/* pc - bias counts from the binary's vaddr_lo */
	uint32_t binary;		/* its number; 0: anonymous memory or not an ELF file */
	uint32_t flags;			/* UNWIND_MAP_... */
};

/*
 * UNWIND_MAP_GENERATED: memory with code made at run time; so is all that has no binary. If there
 * is a binary, it is the number of a window's table, or that of memory with a name.
 * UNWIND_MAP_ASKED: no more is to be known of that code than is there.
 */
enum { UNWIND_MAP_GENERATED = 1, UNWIND_MAP_ASKED = 2 };

/*
 * Numbers below UNWIND_NUMBERS are those of files' tables, given out while they are there
 * (src/capture/tables/table_numbers.h), from there on those of windows of generated code
 * (code_windows.h). A mapping of a file without a table has UNWIND_NO_NUMBER.
 */
#define UNWIND_MAX_WINDOWS 1024
#define UNWIND_NUMBERS (UNWIND_MAX_BINARIES - UNWIND_MAX_WINDOWS)
#define UNWIND_NUMBER_NEVER 1		/* of all files that never have a table */
#define UNWIND_FIRST_NUMBER 2
#define UNWIND_NO_NUMBER UNWIND_MAX_BINARIES

/*
 * User space knows a table by the index of its binary, or by UNWIND_FIRST_WINDOW + its window. A
 * mapping whose file was not read has UNWIND_UNREAD.
 */
#define UNWIND_FIRST_WINDOW (1u << 31)
#define UNWIND_UNREAD UINT32_MAX

/*
 * Where a binary's table is. {0, 0}: there is none yet; unwinding ends there, and a deferred stack
 * may be unwound later. {UNWIND_TABLE_NEVER, 0}: there will never be one, so all of the binary is
 * code without unwind information. Published by one 64-bit store.
 */
#define UNWIND_TABLE_NEVER UINT32_MAX

struct unwind_binary {
	_Alignas(8) uint32_t page0;
	uint32_t nr_pages;
};

/*
 * The first entries of the pages belong to no binary. They are versions, 64-bit words that are
 * never the same again: entry 0 changes with each table, the others with what the kernel side knows
 * of the mappings of a process. They are one page of memory.
 */
#define UNWIND_TABLES_VERSION 0
#define UNWIND_VERSIONS 512

static inline uint32_t unwind_version_of(uint32_t tgid)
{
	return 1 + tgid % (UNWIND_VERSIONS - 1);
}

/* What the kernel side knows of a process, by tgid. Replaced as a whole. */
struct unwind_process {
	uint64_t slice;			/* of the mappings: first | nr << 32 */
	uint64_t exec_ns;		/* time of the exec that made the mappings; 0: not seen */
};

_Static_assert(sizeof(struct unwind_process) == 16, "process layout");
_Static_assert(sizeof(struct unwind_mapping) == 32, "mapping layout");
_Static_assert(sizeof(struct unwind_binary) == 8, "binary layout");

/* The rules that a thread's last stack was unwound by (unwind_memo.h). */
#define UNWIND_MEMO_FRAMES 128

struct unwind_memo_frame {
	uint32_t sp;			/* its low half: it only says which frame may be this one */
	uint32_t size;			/* bytes from begin on for which the rule holds */
	uint64_t begin;
	struct unwind_rule rule;
};

struct unwind_memo_key {
	uint64_t mappings;		/* version of those of its process */
	uint64_t tables;		/* UNWIND_TABLES_VERSION */
	uint64_t thread;		/* when it began: unlike a tid it is not used again */
};

struct unwind_memo {
	struct unwind_memo_key key;
	uint64_t nr;
	struct unwind_memo_frame frames[UNWIND_MEMO_FRAMES];	/* innermost first */
};

/* Where unwinding is in a memo: part of struct unwinder. */
struct unwind_recall {
	uint32_t use;			/* enum unwind_memo_use */
	uint32_t nr, at;
	uint32_t put;			/* the entry for the rule that is looked up */
	uint32_t hits, asked;		/* rules that it had, of those that were wanted */
	uint32_t size;			/* of the addresses that the rule holds for */
	uint32_t from, to;		/* the same as offsets of their page, without the end */
	uint64_t begin;
};

/*
 * Why unwinding ended. The numbers are enum stack_end of src/model/record.h (asserted in
 * wire_decode.c).
 */
enum unwind_end {
	UNWIND_NOT_DONE, UNWIND_ROOT, UNWIND_ROOT_GUESS, UNWIND_TRUNCATED, UNWIND_NO_PROCESS,
	UNWIND_NO_MAPPING, UNWIND_JIT,
	UNWIND_NO_TABLE, UNWIND_NO_FDE, UNWIND_BAD_RULE, UNWIND_READ_RA, UNWIND_READ_FP,
	UNWIND_RA_ZERO, UNWIND_SP_BACK, UNWIND_BUSY,
	UNWIND_RUNNING, UNWIND_TORN, UNWIND_COMPAT32, UNWIND_KTHREAD, UNWIND_NO_MM, UNWIND_BUG,
	UNWIND_FP_END, UNWIND_EXEC,
	UNWIND_NOT_READ,
	UNWIND_ENDS
};

/*
 * Modes. --unwind dwarf: by tables. auto: by tables and, where there is none, by frame pointers.
 * fp: by frame pointers; of the tables only the row of an interrupted instruction is used, because
 * the function that it is in may have no frame.
 */
enum { UNWIND_BY_TABLES = 1, UNWIND_BY_FRAME_POINTERS = 2, UNWIND_LEAF_BY_TABLE = 4 };

/* Flags in the top bits of a frame; user addresses have at most 57 bits. */
#define UNWIND_RETURN_ADDRESS (1ull << 63)
#define UNWIND_GUESSED (1ull << 62)
/*
 * A frame of a runtime: of two words, the second of which has no flags (frame_program.h). Its kind
 * is an enum runtime_frame_kind.
 */
#define UNWIND_RUNTIME (1ull << 61)
#define UNWIND_RUNTIME_KIND_SHIFT 57
#define UNWIND_RUNTIME_KINDS 15
#define UNWIND_RUNTIME_SLOT_SHIFT 62	/* of struct unwind_runtimes */
#define UNWIND_ADDRESS_MASK ((1ull << 57) - 1)
/* No address but the id of a shadow frame (bpf/shadow.bpf.h), which is the caller of the former. */
#define UNWIND_SHADOW (1ull << 60)

/* How often unwind_step() may look at code or at the stack for one caller, and for one stack. */
#define UNWIND_SEARCH_GAP 128
#define UNWIND_SEARCH_TOTAL 512
/* The most calls of unwind_step() for one stack. */
#define UNWIND_MAX_STEPS \
	(UNWIND_MAX_FRAMES + 1 + UNWIND_SEARCH_TOTAL + PROGRAM_MAX_TURNS + 1)

/*
 * A CFA from a register that a callee has kept is trusted only within this distance of the stack
 * pointer.
 */
#define UNWIND_MAX_KEPT_BYTES (64u << 10)

/* Without a table, a frame pointer is trusted only within this distance of the stack pointer. */
#define UNWIND_MAX_GUESS_BYTES (1u << 20)
