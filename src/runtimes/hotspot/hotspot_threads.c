/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/runtimes/cached_memory.h"
#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/hotspot/hotspot_objects.h"
#include "src/runtimes/put_utf8.h"
#include "src/runtimes/thread_name.h"

#define MAX_READS (1u << 17)		/* of one look */
#define MAX_SEARCHES 16
#define COMM_BYTES 15			/* of a name that may be longer */
#define OBJECT_BYTES 256		/* of a Thread object */
#define STRING_BYTES 32
#define ARRAY_BYTES 24			/* up to the data */
#define TEXT_BYTES (2 * RUNTIME_THREAD_BYTES)	/* that are read of a name */
#define MIN_BYTES 8			/* of units that are COMM_BYTES in modified UTF-8 */

/* Where arrays have their length and their data: by size of headers, and version. */
static const struct {
	uint8_t length, data;
} arrays[] = { { 12, 16 }, { 8, 12 }, { 16, 24 }, { 16, 20 } };

#define NR_ARRAYS (sizeof(arrays) / sizeof(arrays[0]))

struct way {
	uint32_t pointer;		/* bytes of one; 0: not known */
	uint32_t name;			/* the field of Thread objects: bytes from their start */
};

struct look {
	struct hotspot_reader r;
	struct way way;
	unsigned searches_left;
};

/* ---- letters ---- */

/* One unit in modified UTF-8. */
static size_t put_modified(uint32_t c, uint8_t out[3])
{
	if (c && c < 0x80) {
		out[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (uint8_t)(0xc0 | c >> 6);
		out[1] = (uint8_t)(0x80 | (c & 63));
		return 2;
	}
	out[0] = (uint8_t)(0xe0 | c >> 12);
	out[1] = (uint8_t)(0x80 | (c >> 6 & 63));
	out[2] = (uint8_t)(0x80 | (c & 63));
	return 3;
}

/* Whether the kernel's name was cut from these units. */
static bool begins_with(const uint8_t *v, size_t nr, unsigned width, const char *comm)
{
	uint8_t begin[COMM_BYTES + 3];
	size_t len = 0;

	for (size_t i = 0; i < nr && len < COMM_BYTES; i++)
		len += put_modified(text_unit(v, i, width), begin + len);
	return len >= COMM_BYTES && !memcmp(begin, comm, COMM_BYTES);
}

static bool take_units(struct runtime_thread_name *n, const uint8_t *v, size_t nr, unsigned width)
{
	struct byte_buf b = { 0 };

	if (!begins_with(v, nr, width, n->comm))
		return false;
	put_units(&b, v, nr, width, RUNTIME_THREAD_BYTES);
	bb_u8(&b, 0);
	if (b.bad) {
		bb_release(&b);
		return false;
	}
	n->name = (char *)b.v;
	n->is_found = n->is_of_comm = true;
	return true;
}

/* Whether the array has the name, if its header is that of arrays[kind]. */
static bool take_array(struct look *k, uint64_t at, struct target_bytes head, size_t kind,
		       struct runtime_thread_name *n)
{
	const uint32_t bytes = target_bytes_u32(head, arrays[kind].length);
	const size_t len = bytes < TEXT_BYTES ? bytes : TEXT_BYTES;
	uint8_t text[TEXT_BYTES];

	return bytes >= MIN_BYTES && bytes <= INT32_MAX &&
	       !hotspot_read(&k->r, at + arrays[kind].data, text, len) &&
	       (take_units(n, text, len, 1) || take_units(n, text, len / 2, 2));
}

/* ---- objects ---- */

static bool is_address(uint64_t object)
{
	return object && !(object & 7);
}

/* The object that a field leads to, or 0. */
static uint64_t object_at(const struct look *k, struct target_bytes object, uint32_t at,
			  uint32_t pointer)
{
	uint64_t to = hotspot_decode(&k->r, target_bytes_number(object, at, pointer), pointer);

	return is_address(to) ? to : 0;
}

static bool take_value(struct look *k, uint64_t at, struct runtime_thread_name *n)
{
	uint8_t bytes[ARRAY_BYTES];
	const struct target_bytes head = TARGET_BYTES(bytes);

	if (!at || hotspot_read(&k->r, at, bytes, sizeof(bytes)))
		return false;
	for (size_t kind = 0; kind < NR_ARRAYS; kind++)
		if (take_array(k, at, head, kind, n))
			return true;
	return false;
}

/* Whether one of the fields of what lies on the way has the name. */
static bool take_string(struct look *k, struct target_bytes thread, const struct way *w,
			struct runtime_thread_name *n)
{
	const uint64_t at = object_at(k, thread, w->name, w->pointer);
	uint8_t bytes[STRING_BYTES];
	const struct target_bytes string = TARGET_BYTES(bytes);

	if (!at || hotspot_read(&k->r, at, bytes, sizeof(bytes)))
		return false;
	for (uint32_t value = HOTSPOT_OBJECT_HEADER; value + w->pointer <= string.len;
	     value += w->pointer)
		if (take_value(k, object_at(k, string, value, w->pointer), n))
			return true;
	return false;
}

static void search(struct look *k, struct target_bytes thread, struct runtime_thread_name *n)
{
	const uint32_t max = hotspot_pointer_bytes_max(&k->r);
	struct way w;

	if (!k->searches_left)
		return;
	k->searches_left--;
	for (w.pointer = 4; w.pointer <= max; w.pointer += 4)
		for (w.name = HOTSPOT_OBJECT_HEADER; w.name + w.pointer <= thread.len;
		     w.name += w.pointer)
			if (take_string(k, thread, &w, n)) {
				k->way = w;
				return;
			}
}

static void take_name(struct look *k, uint64_t object, struct runtime_thread_name *n)
{
	uint8_t bytes[OBJECT_BYTES];
	const struct target_bytes thread = TARGET_BYTES(bytes);

	if (is_address(object) && !hotspot_read(&k->r, object, bytes, sizeof(bytes)) &&
	    !(k->way.pointer && take_string(k, thread, &k->way, n)))
		search(k, thread, n);
}

/* ---- all ---- */

static void take_thread(struct look *k, uint64_t thread, struct runtime_thread_name *names,
			size_t nr)
{
	const struct hotspot_lock_layout *l = &k->r.layout->locks;
	const uint64_t os = hotspot_read_u64(&k->r, thread + l->thread_os);
	const uint32_t tid = hotspot_thread_tid(&k->r, os);
	struct runtime_thread_name *n = tid ? runtime_thread_name_of(names, nr, tid) : NULL;
	uint64_t word;

	if (!n || n->is_found)
		return;
	word = hotspot_read_u64(&k->r, thread + l->thread_object);
	take_name(k, hotspot_thread_object(&k->r, word), n);
}

/* Those that the kernel has whole are done. How many are left. */
static size_t leave_short(struct runtime_thread_name *names, size_t nr)
{
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		names[i].is_found = strnlen(names[i].comm, sizeof(names[i].comm)) < COMM_BYTES;
		left += !names[i].is_found;
	}
	return left;
}

int hotspot_thread_names(const struct hotspot_layout *l, uint64_t bias,
			 const struct target_memory *m, struct runtime_thread_name *names,
			 size_t nr)
{
	struct look k = { .searches_left = MAX_SEARCHES };
	struct cached_memory *c;
	uint64_t *threads;
	size_t nr_threads;
	int err;

	if (!leave_short(names, nr))
		return 0;
	c = cached_memory_new(m);
	if (!c)
		return -ENOMEM;
	hotspot_reader_begin(&k.r, l, bias, cached_memory_view(c), MAX_READS);
	err = hotspot_thread_list(&k.r, &threads, &nr_threads);
	if (!err) {
		for (size_t i = 0; i < nr_threads; i++)
			take_thread(&k, threads[i], names, nr);
		free(threads);
	}
	cached_memory_free(c);
	return err;
}
