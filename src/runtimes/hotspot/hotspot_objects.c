/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_objects.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/runtimes/hotspot/hotspot_layout.h"

#define MAX_THREADS 8192
#define HANDLES_SINCE 17		/* JavaThread::_threadObj is an OopHandle */

_Static_assert(MAX_THREADS * 8 <= TARGET_READ_BYTES, "they are read at once");

static bool has_list(const struct hotspot_lock_layout *l)
{
	return l->java_threads_vaddr && l->list_length != HOTSPOT_ABSENT &&
	       l->list_threads != HOTSPOT_ABSENT;
}

/* One that has ended meanwhile may lead anywhere. */
static bool has_chain(const struct hotspot_lock_layout *l)
{
	return l->first_thread_vaddr && l->thread_next != HOTSPOT_ABSENT;
}

bool hotspot_knows_threads(const struct hotspot_layout *layout)
{
	const struct hotspot_lock_layout *l = &layout->locks;

	return layout->is_read && (has_list(l) || has_chain(l)) && l->thread_os != HOTSPOT_ABSENT &&
	       l->os_tid != HOTSPOT_ABSENT && l->thread_object != HOTSPOT_ABSENT;
}

/* ---- memory ---- */

static uint64_t variable(struct hotspot_reader *r, uint64_t vaddr)
{
	return vaddr ? hotspot_read_u64(r, vaddr + r->bias) : 0;
}

void hotspot_reader_begin(struct hotspot_reader *r, const struct hotspot_layout *l, uint64_t bias,
			  const struct target_memory *m, uint32_t reads)
{
	*r = (struct hotspot_reader){ .layout = l, .m = m, .bias = bias, .reads_left = reads };
	r->oop_base = variable(r, l->locks.oop_base_vaddr);
	r->oop_shift = variable(r, l->locks.oop_shift_vaddr) & 31;
	r->klass_base = variable(r, l->locks.klass_base_vaddr);
	r->klass_shift = variable(r, l->locks.klass_shift_vaddr) & 31;
}

int hotspot_read(struct hotspot_reader *r, uint64_t addr, void *buf, size_t len)
{
	if (!addr || !r->reads_left)
		return -EFAULT;
	r->reads_left--;
	return target_read(r->m, addr, buf, len);
}

uint32_t hotspot_read_u32(struct hotspot_reader *r, uint64_t addr)
{
	uint32_t value;

	return hotspot_read(r, addr, &value, sizeof(value)) ? 0 : value;
}

uint64_t hotspot_read_u64(struct hotspot_reader *r, uint64_t addr)
{
	uint64_t value;

	return hotspot_read(r, addr, &value, sizeof(value)) ? 0 : value;
}

/* ---- objects ---- */

/*
 * ZGC of JDK 21 on keeps pointers with 16 bits of colour below the address, which is shifted by 13
 * to 16 bits; one of the four highest bits of the colour says by how many (zAddress.inline.hpp).
 */
uint64_t hotspot_plain_object(uint64_t word)
{
	uint32_t colour = word >> 12 & 15;

	if (!(word & 0xff0) || !colour || colour & (colour - 1) || word < 1ull << 48)
		return word;
	return word >> (13 + __builtin_ctz(colour));
}

uint64_t hotspot_decode(const struct hotspot_reader *r, uint64_t word, uint32_t bytes)
{
	return word && bytes == 4 ? r->oop_base + (word << r->oop_shift)
				  : hotspot_plain_object(word);
}

uint32_t hotspot_pointer_bytes_max(const struct hotspot_reader *r)
{
	return r->oop_base || r->oop_shift ? 4 : 8;
}

/* ---- threads ---- */

static int follow_chain(struct hotspot_reader *r, uint64_t **out, size_t *nr)
{
	const struct hotspot_lock_layout *l = &r->layout->locks;
	uint64_t at = hotspot_read_u64(r, l->first_thread_vaddr + r->bias);
	size_t cap = 0;

	*out = NULL;
	for (*nr = 0; at && *nr < MAX_THREADS; at = hotspot_read_u64(r, at + l->thread_next)) {
		uint64_t *slot = array_push(out, nr, &cap);

		if (!slot) {
			free(*out);
			return -ENOMEM;
		}
		*slot = at;
	}
	return *nr ? 0 : -EFAULT;
}

static int read_list(struct hotspot_reader *r, uint64_t **out, size_t *nr_of)
{
	const struct hotspot_lock_layout *l = &r->layout->locks;
	const uint64_t list = hotspot_read_u64(r, l->java_threads_vaddr + r->bias);
	const uint64_t array = list ? hotspot_read_u64(r, list + l->list_threads) : 0;
	uint32_t nr = list ? hotspot_read_u32(r, list + l->list_length) : 0;
	int err;

	if (!array || !nr)
		return -EFAULT;
	if (nr > MAX_THREADS)
		nr = MAX_THREADS;
	*out = malloc(nr * sizeof(**out));
	err = *out ? hotspot_read(r, array, *out, nr * sizeof(**out)) : -ENOMEM;
	if (err)
		free(*out);
	*nr_of = nr;
	return err;
}

int hotspot_thread_list(struct hotspot_reader *r, uint64_t **out, size_t *nr)
{
	return has_list(&r->layout->locks) ? read_list(r, out, nr) : follow_chain(r, out, nr);
}

uint32_t hotspot_thread_tid(struct hotspot_reader *r, uint64_t os_thread)
{
	return os_thread ? hotspot_read_u32(r, os_thread + r->layout->locks.os_tid) : 0;
}

uint64_t hotspot_thread_object(struct hotspot_reader *r, uint64_t word)
{
	const bool is_handle = r->layout->version >> 24 >= HANDLES_SINCE;

	return hotspot_plain_object(is_handle ? hotspot_read_u64(r, word) : word);
}
