/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where HotSpot keeps what a frame walk and names need. libjvm.so describes its own structs, for
 * debuggers: lists of names of fields and types, with offsets and sizes, whose addresses it exports
 * (gHotSpotVMStructs and others; src/hotspot/share/runtime/vmStructs.hpp of OpenJDK). Some of what
 * is in the lists is filled in when the library is initialized, so they are read from the memory of
 * a process, once for all processes that have the same file.
 *
 * Differences between versions, besides names:
 *
 *	11 - 22		an nmethod holds all of its tables; it is known by the size of its header,
 *			other kinds of blobs by the address of their name
 *	25		tables are beside it; kinds are numbers
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/runtimes/hotspot/hotspot_locks.h"
#include "src/runtimes/target_memory.h"

/* Virtual addresses of libjvm.so; what is there are addresses and numbers. */
struct hotspot_lists {
	uint64_t structs, struct_stride, struct_type, struct_field, struct_offset,
		struct_address;
	uint64_t types, type_stride, type_name, type_size;
	/* Names of blocks of code that have no frame; 0: not found. */
	uint64_t vtable_text, adapter_text;
};

#define HOTSPOT_ABSENT UINT32_MAX	/* of an offset: there is no such field */

struct hotspot_layout {
	uint32_t is_read;		/* 0: all below is 0 */
	uint32_t version;		/* 0x11000f00: 17.0.15 */
	/* Static variables: virtual addresses of libjvm.so; 0: there is none. */
	uint64_t heaps_vaddr, interpreter_vaddr;
	/* Bytes from the start of the struct. */
	uint32_t array_len, array_data;	/* growable array */
	uint32_t heap_memory, heap_segmap, heap_shift;	/* CodeHeap */
	uint32_t space_low, space_high;	/* VirtualSpace */
	uint32_t queue_buffer, queue_limit, queue_end;	/* StubQueue: begin, bytes, those used */
	uint32_t blob_name, blob_kind, blob_header_size, blob_size, blob_frame_size,
		blob_frame_complete;
	uint32_t blob_code_begin;	/* address, or */
	uint32_t blob_code_offset;	/* bytes from the blob on */
	uint32_t blob_mutable_data, blob_relocation_size;
	uint32_t nm_method, nm_compile_id, nm_level, nm_orig_pc;
	uint32_t nm_deopt_begin, nm_deopt_offset;	/* one of the two */
	uint32_t nm_pcs, nm_pcs_end, nm_scopes_begin, nm_scopes, nm_metadata;
	uint32_t nm_immutable_data, nm_immutable_size;
	uint32_t method_const, const_constants, const_flags, const_code_size, const_name,
		const_signature;
	uint32_t pool_holder, pool_source, pool_length, klass_name, klass_source;
	uint32_t symbol_length, symbol_body;
	uint32_t symbol_hash, symbol_hash_and_count;	/* one of the two, or none */
	uint32_t desc_pc, desc_scope;
	uint32_t block_used;		/* of the header in front of a block of code; or ABSENT */
	struct hotspot_lock_layout locks;
	/* Sizes. */
	uint32_t block_header, nm_bytes, const_bytes, pool_bytes, desc_bytes;
};

struct hotspot_image {
	struct hotspot_lists lists;
	struct hotspot_layout layout;
	uint32_t is_sure;		/* the layout was read of a JVM that runs */
};

/* Where a symbol has the random number, of 16 bits, that it got when it was made; or ABSENT. */
uint32_t hotspot_symbol_number(const struct hotspot_layout *l);

/* Whether all that is needed is there, and within bounds. */
bool hotspot_layout_is_sound(const struct hotspot_layout *l);

/*
 * Reads the lists. bias as in runtime.h. 0; -EAGAIN: they are not initialized yet; -ENOTSUP: what
 * is needed is missing, so it is a JDK that is not known; or an -errno of reading.
 */
int hotspot_layout_read(const struct hotspot_lists *lists, uint64_t bias,
			const struct target_memory *m, struct hotspot_layout *out);
