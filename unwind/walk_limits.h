/*
 * What the walker and its tables agree on: sizes, the kernel-visible entries, end codes, frame flags. CONTRACT
 * between user space (src/capture/tables/unwind_loader.c) and the BPF side. Data only; the code is in walk.h.
 */
#pragma once

#include <stdint.h>

#include "unwind/row.h"

#define WALK_MAX_FRAMES 1024
#define WALK_PAGE 4096
#define WALK_CACHE_WORDS 2048	/* 16 KiB: more pages cost more TLB misses than they save searches */

/*
 * Limits of the tables; the maps are sized by them: room for 3,000 processes of 87 mappings and 3,000 files of 10,000
 * rows. A slab is 1 MiB of rows and a page never crosses one; with all of them made the tables take less than 140 MiB.
 */
#define WALK_SLAB_SHIFT 18
#define WALK_SLAB_ROWS (1u << WALK_SLAB_SHIFT)
#define WALK_MAX_SLABS 120
#define WALK_MAX_PAGES (1u << 17)
#define WALK_MAX_RULES (1u << 15)
#define WALK_MAX_MAPPINGS (1u << 18)
#define WALK_MAX_BINARIES (1u << 16)

/* An executable mapping of a process. Slices are sorted by begin and immutable once published. */
struct unwind_mapping {
	uint64_t begin, end;
	uint64_t bias;			/* pc - bias counts from the binary's vaddr_lo */
	uint32_t binary;		/* index; 0: anonymous memory or a file that is no ELF file */
	uint32_t flags;
};

/*
 * Where a binary's table is. {0, 0}: nowhere yet; the walk ends there, whoever has the stack may walk it later.
 * {WALK_TABLE_NEVER, 0}: it has none and never will, so all of it is code without unwind information. Published by
 * one 64-bit store.
 */
#define WALK_TABLE_NEVER UINT32_MAX

struct unwind_binary {
	_Alignas(8) uint32_t page0;
	uint32_t nr_pages;
};

/* What the kernel side knows of a process, by tgid. Replaced as a whole. */
struct unwind_process {
	uint64_t slice;			/* of the mappings: first | nr << 32 */
	uint64_t exec_ns;		/* time of the exec that the slice belongs to; 0: of none that was seen */
};

_Static_assert(sizeof(struct unwind_process) == 16, "process layout");
_Static_assert(sizeof(struct unwind_mapping) == 32, "mapping layout");
_Static_assert(sizeof(struct unwind_binary) == 8, "binary layout");

/* Why a walk ended. The numbers are enum stack_end of src/model/record.h (asserted in wire_decode.c). */
enum walk_end {
	WALK_NOT_DONE, WALK_ROOT, WALK_ROOT_GUESS, WALK_TRUNCATED, WALK_NO_PROCESS, WALK_NO_MAPPING, WALK_JIT,
	WALK_NO_TABLE, WALK_NO_FDE, WALK_BAD_RULE, WALK_READ_RA, WALK_READ_FP, WALK_RA_ZERO, WALK_SP_BACK, WALK_BUSY,
	WALK_RUNNING, WALK_TORN, WALK_COMPAT32, WALK_KTHREAD, WALK_NO_MM, WALK_BUG, WALK_FP_END, WALK_EXEC,
	WALK_NOT_READ,
	WALK_ENDS
};

enum { WALK_TABLES = 1, WALK_FRAME_POINTERS = 2 };	/* mode: --unwind dwarf, fp; auto is both */

/* Flags in the top bits of a frame; user addresses have at most 57 bits. */
#define WALK_RETURN_ADDRESS (1ull << 63)
#define WALK_GUESSED (1ull << 62)
#define WALK_ADDRESS_MASK ((1ull << 57) - 1)

/* How often walk_step() may look for one caller in code or on the stack, and in one walk. */
#define WALK_SCAN_GAP 128
#define WALK_SCAN_TOTAL 512
/* How often walk_step() is called at most. */
#define WALK_MAX_STEPS (WALK_MAX_FRAMES + 1 + WALK_SCAN_TOTAL)

/* A CFA further than this from the stack pointer is not believed when it comes from a register that a callee kept. */
#define WALK_MAX_KEPT_BYTES (64u << 10)

/* A frame pointer further than this from the stack pointer is not believed where a table is missing. */
#define WALK_MAX_GUESS_BYTES (1u << 20)
