/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads and the objects of a Java process, as its memory has them: which JavaThreads there
 * are, and where a field of an object leads to. Objects move while they are looked at, so who
 * follows fields checks what is there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hotspot_layout;
struct target_memory;

#define HOTSPOT_OBJECT_HEADER 8		/* bytes of compact ones; others have 12 or 16 */

/* One look at a process. */
struct hotspot_reader {
	const struct hotspot_layout *layout;
	const struct target_memory *m;
	uint64_t bias, oop_base, klass_base;
	uint32_t oop_shift, klass_shift;
	uint32_t reads_left;
};

/* Whether the version tells where the JavaThreads are, and their Thread objects. */
bool hotspot_knows_threads(const struct hotspot_layout *l);

/* At most so many reads; l and m are borrowed. */
void hotspot_reader_begin(struct hotspot_reader *r, const struct hotspot_layout *l, uint64_t bias,
			  const struct target_memory *m, uint32_t reads);

int hotspot_read(struct hotspot_reader *r, uint64_t addr, void *buf, size_t len);
/* What cannot be read is 0. */
uint32_t hotspot_read_u32(struct hotspot_reader *r, uint64_t addr);
uint64_t hotspot_read_u64(struct hotspot_reader *r, uint64_t addr);

/* The address that a word stands for, which may be coloured; of a field of so many bytes. */
uint64_t hotspot_plain_object(uint64_t word);
uint64_t hotspot_decode(const struct hotspot_reader *r, uint64_t word, uint32_t bytes);
/* Pointers in objects have 4 bytes, or also 8, as far as the process tells. */
uint32_t hotspot_pointer_bytes_max(const struct hotspot_reader *r);

/* Addresses of all JavaThreads, one at least; *out is the caller's. 0 or -errno. */
int hotspot_thread_list(struct hotspot_reader *r, uint64_t **out, size_t *nr);
/* The words are JavaThread::_osthread and ::_threadObj. 0: there is none any more. */
uint32_t hotspot_thread_tid(struct hotspot_reader *r, uint64_t os_thread);
uint64_t hotspot_thread_object(struct hotspot_reader *r, uint64_t word);
