/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and source lines of code made at run time, as runtimes write them to jit-PID.dump for perf
 * (tools/perf/Documentation/jitdump-specification.txt): `node --perf-prof`, `python -X perf_jit`,
 * LLVM's listener, perf's Java agent, PHP.
 *
 *	header		"JiTD", version, length of the header, machine, pid, time, flags
 *	record ...	type, length, time, and by type:
 *	  LOAD (0)	pid, tid, vma, code_addr, code_size, code_index, name, the code itself
 *	  MOVE (1)	pid, tid, vma, old address, new address, code_size, code_index
 *	  DEBUG_INFO (2) code_addr, number, {address, line, column, file} of the next LOAD
 *	  CLOSE (3), UNWINDING_INFO (4)
 *
 * Unlike a map (perf_map.h) it says when the code was made. If its clock is ours, an address has
 * the name of the last code that was there when it was sampled; else that of the last code.
 *
 * The records are read once from the front, without the code: for each question the best record is
 * remembered, and only these records are read as a whole in the end. Any user may have written the
 * file: records are bounded by their lengths and the file's, at most JITDUMP_MAX_BYTES are looked
 * through, and JITDUMP_MAX_STEPS questions are held against records.
 *
 * A runtime may log the address of a line as it will be in the ELF file that perf makes of the
 * code, behind a header of 64 bytes: V8 does.
 *
 * Limits: a dump of another byte order is not read. What is said of unwinding is not used.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/symbolize/perf_map.h"

#define JITDUMP_MAX_BYTES (4ull << 30)
#define JITDUMP_MAX_STEPS (64u << 20)

/*
 * Does what perf_map_find() does, for a source whose size need not be known (UINT64_MAX: what is
 * there). Sets at_file, at_line and at_column, too. is_old has no meaning here: if all are old,
 * give a mark, and what is in front of it is not read; else one of zeros. -ENOEXEC: it is no dump
 * that is understood.
 */
int jitdump_find(const struct perf_map_source *src, struct perf_map_query *v, size_t nr,
		 struct perf_map_mark *mark, struct byte_buf *names);
