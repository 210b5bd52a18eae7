/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libjvm.so of OpenJDK 17.0.15 tells of its structs (Debian, x86-64), as far as a frame walk and names need it. */
#pragma once

#include <string.h>

#include "src/runtimes/hotspot/hotspot_layout.h"

#define CONST_BYTES 48			/* of a ConstMethod */

static inline struct hotspot_layout layout_17(void)
{
	struct hotspot_layout l;

	memset(&l, 0xff, sizeof(l));
	l.is_read = 1;
	l.version = 0x11000f00;
	l.heaps_vaddr = 8;
	l.interpreter_vaddr = 16;
	l.array_len = 0, l.array_data = 8;
	l.heap_memory = 8, l.heap_segmap = 120, l.heap_shift = 256;
	l.space_low = 0, l.space_high = 8;
	l.queue_buffer = 8, l.queue_limit = 20, l.queue_end = 28;
	l.blob_name = 96, l.blob_header_size = 16, l.blob_size = 12, l.blob_frame_size = 28, l.blob_frame_complete = 20;
	l.blob_code_begin = 32, l.nm_deopt_begin = 128, l.nm_pcs_end = 272, l.nm_scopes_begin = 120, l.nm_metadata = 260;
	l.nm_method = 112, l.nm_compile_id = 304, l.nm_level = 308, l.nm_orig_pc = 300, l.nm_pcs = 268;
	l.method_const = 8, l.const_constants = 8, l.const_flags = 28, l.const_code_size = 32, l.const_name = 34;
	l.pool_holder = 24, l.pool_source = 54, l.pool_length = 60, l.klass_name = 24;
	l.symbol_length = 4, l.symbol_body = 6, l.symbol_hash_and_count = 0, l.desc_pc = 0, l.desc_scope = 4;
	l.block_used = 8, l.block_header = 16, l.nm_bytes = 352, l.const_bytes = CONST_BYTES, l.pool_bytes = 72, l.desc_bytes = 16;
	return l;
}
