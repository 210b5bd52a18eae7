/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/cached_memory.h"
#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/hotspot/hotspot_objects.h"
#include "src/runtimes/runtime.h"

#define MAX_READS 65536			/* of one look */
#define THREAD_BYTES 4096		/* of a JavaThread, its last field ends before */
#define OBJECT_BYTES 256		/* of a Thread object */
#define LOCK_BYTES 64			/* of a synchronizer */
#define COMPACT_KLASS_SHIFT 42
#define MAX_SUPERS 16
#define LOCK_STACK_MAX 8
#define ANONYMOUS_OWNER 1
#define KNOWN_KLASSES 32
#define OWNER_NUMBERS_SINCE 24		/* ObjectMonitor::_owner is one */

static const char SYNCHRONIZER[] = "java/util/concurrent/locks/AbstractOwnableSynchronizer";

/* What hints are about: offsets of fields of Java objects, bytes of a pointer; 0: not found. */
enum { HINT_BLOCKER, HINT_OWNER, HINT_POINTER };

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the layout ---- */

bool hotspot_knows_locks(const struct hotspot_layout *layout)
{
	const struct hotspot_lock_layout *l = &layout->locks;
	const uint32_t needed[] = {
		l->thread_pending, l->thread_stack_base, l->thread_stack_size, l->monitor_owner,
		l->monitor_object, l->object_klass, l->klass_super, layout->klass_name,
		layout->symbol_body,
	};

	for (size_t i = 0; i < LEN(needed); i++)
		if (needed[i] == HOTSPOT_ABSENT)
			return false;
	return hotspot_knows_threads(layout);
}

static bool has_lock_stack(const struct hotspot_lock_layout *l)
{
	return l->thread_lock_stack != HOTSPOT_ABSENT && l->lock_stack_top != HOTSPOT_ABSENT &&
	       l->lock_stack_base != HOTSPOT_ABSENT;
}

/* Where the last field of a JavaThread ends that is looked at; at most THREAD_BYTES. */
static size_t thread_end(const struct hotspot_lock_layout *l)
{
	const uint64_t stack = l->thread_lock_stack;
	const uint64_t ends[] = {
		l->thread_os + 8ull, l->thread_object + 8ull, l->thread_pending + 8ull,
		l->thread_stack_base + 8ull, l->thread_stack_size + 8ull,
		l->thread_owner_id == HOTSPOT_ABSENT ? 0 : l->thread_owner_id + 8ull,
		has_lock_stack(l) ? stack + l->lock_stack_top + 4 : 0,
		has_lock_stack(l) ? stack + l->lock_stack_base + 8 * LOCK_STACK_MAX : 0,
	};
	uint64_t end = 0;

	for (size_t i = 0; i < LEN(ends); i++)
		if (ends[i] > end)
			end = ends[i];
	return end < THREAD_BYTES ? end : THREAD_BYTES;
}

/* ---- memory ---- */

/* One look at a process. */
struct look {
	struct hotspot_reader r;
	const struct hotspot_lock_layout *l;
	uint32_t *hints;
	struct java_thread *threads;
	size_t nr;
	struct {
		uint64_t klass;
		bool is_synchronizer;
	} known[KNOWN_KLASSES];
};

struct java_thread {
	uint64_t address, object, pending, stack_low, stack_high;
	int64_t owner_id;
	uint32_t tid;
	uint32_t nr_locks;
	uint64_t locks[LOCK_STACK_MAX];	/* objects that it has locked, the last one last */
};

/* ---- threads ---- */

static void take_lock_stack(const struct hotspot_lock_layout *l, struct target_bytes thread,
			    struct java_thread *t)
{
	uint64_t first = (uint64_t)l->thread_lock_stack + l->lock_stack_base, top;

	if (!has_lock_stack(l))
		return;
	/* Where the next one goes, from the start of the JavaThread on. */
	top = target_bytes_u32(thread, (uint64_t)l->thread_lock_stack + l->lock_stack_top);
	if (top > thread.len)
		return;
	while (t->nr_locks < LOCK_STACK_MAX && first + 8 * t->nr_locks < top) {
		t->locks[t->nr_locks] = target_bytes_u64(thread, first + 8 * t->nr_locks);
		t->nr_locks++;
	}
}

/* false: it has ended, or is no JavaThread. */
static bool take_thread(struct look *k, uint64_t address, struct java_thread *t)
{
	const struct hotspot_lock_layout *l = k->l;
	uint8_t bytes[THREAD_BYTES];
	const struct target_bytes thread = { bytes, thread_end(l) };

	*t = (struct java_thread){ .address = address };
	if (hotspot_read(&k->r, address, bytes, thread.len))
		return false;
	t->tid = hotspot_thread_tid(&k->r, target_bytes_u64(thread, l->thread_os));
	t->object = hotspot_thread_object(&k->r, target_bytes_u64(thread, l->thread_object));
	t->pending = target_bytes_u64(thread, l->thread_pending);
	t->stack_high = target_bytes_u64(thread, l->thread_stack_base);
	t->stack_low = t->stack_high - target_bytes_u64(thread, l->thread_stack_size);
	t->owner_id = (int64_t)target_bytes_u64(thread, l->thread_owner_id);
	take_lock_stack(l, thread, t);
	return t->tid;
}

static int take_threads(struct look *k)
{
	uint64_t *addresses_of;
	size_t nr;
	int err = hotspot_thread_list(&k->r, &addresses_of, &nr);

	if (err)
		return err;
	k->threads = malloc(nr * sizeof(*k->threads));
	for (size_t i = 0; i < nr && k->threads; i++)
		k->nr += take_thread(k, addresses_of[i], &k->threads[k->nr]);
	free(addresses_of);
	return k->threads ? 0 : -ENOMEM;
}

static const struct java_thread *thread_of_tid(const struct look *k, uint32_t tid)
{
	for (size_t i = 0; i < k->nr; i++)
		if (k->threads[i].tid == tid)
			return &k->threads[i];
	return NULL;
}

static uint32_t tid_of_object(const struct look *k, uint64_t object)
{
	for (size_t i = 0; i < k->nr && object; i++)
		if (k->threads[i].object == object)
			return k->threads[i].tid;
	return 0;
}

/* ---- monitors ---- */

static bool has_locked(const struct java_thread *t, uint64_t object)
{
	for (uint32_t i = 0; i < t->nr_locks; i++)
		if (t->locks[i] == object)
			return true;
	return false;
}

/* Whether the owner's word of a monitor stands for the thread. */
static bool is_owner(const struct look *k, const struct java_thread *t, uint64_t owner)
{
	if (k->r.layout->version >> 24 >= OWNER_NUMBERS_SINCE)
		return (int64_t)owner == t->owner_id;
	return owner == t->address ||
	       (owner >= t->stack_low && owner < t->stack_high);	/* its stack has the lock */
}

static uint32_t monitor_owner(struct look *k, uint64_t monitor)
{
	uint64_t owner = hotspot_read_u64(&k->r, monitor + k->l->monitor_owner);
	uint64_t handle, object = 0;

	if (!owner)
		return 0;
	/* Its owner has locked it before it became a monitor, and did not say so. */
	if (owner == ANONYMOUS_OWNER) {
		handle = hotspot_read_u64(&k->r, monitor + k->l->monitor_object);
		object = hotspot_plain_object(hotspot_read_u64(&k->r, handle));
	}
	for (size_t i = 0; i < k->nr; i++)
		if (object ? has_locked(&k->threads[i], object)
			   : is_owner(k, &k->threads[i], owner))
			return k->threads[i].tid;
	return 0;
}

/* ---- objects ---- */

static bool name_is_synchronizer(struct look *k, uint64_t klass)
{
	const struct hotspot_layout *l = k->r.layout;
	uint64_t symbol = hotspot_read_u64(&k->r, klass + l->klass_name);
	char name[sizeof(SYNCHRONIZER)];

	return symbol &&
	       !hotspot_read(&k->r, symbol + l->symbol_body, name, sizeof(name)) &&
	       !memcmp(name, SYNCHRONIZER, sizeof(name) - 1);
}

static bool is_synchronizer(struct look *k, uint64_t klass)
{
	uint32_t slot = (uint32_t)(klass >> 3) % KNOWN_KLASSES;
	uint64_t at = klass;
	bool is = false;

	if (k->known[slot].klass == klass)
		return k->known[slot].is_synchronizer;
	for (int i = 0; i < MAX_SUPERS && at && !is; i++) {
		is = name_is_synchronizer(k, at);
		at = hotspot_read_u64(&k->r, at + k->l->klass_super);
	}
	k->known[slot].klass = klass;
	k->known[slot].is_synchronizer = is;
	return is;
}

/* Whether the object's class, named by so many bytes of its header, is a synchronizer. */
static bool has_class(struct look *k, uint64_t object, uint32_t bytes)
{
	uint64_t at = object + k->l->object_klass, klass;

	if (object & 7 || !object)
		return false;
	klass = bytes == 8 ? hotspot_read_u64(&k->r, at) : hotspot_read_u32(&k->r, at);
	if (klass && bytes == 4)
		klass = k->r.klass_base + (klass << k->r.klass_shift);
	return klass && !(klass & 7) && is_synchronizer(k, klass);
}

/* Compact headers have the class in the highest bits of the first word (JDK 24 on). */
static bool has_compact_class(struct look *k, uint64_t object)
{
	uint64_t narrow = object & 7 ? 0 : hotspot_read_u64(&k->r, object) >> COMPACT_KLASS_SHIFT;
	uint64_t klass = k->r.klass_base + (narrow << k->r.klass_shift);

	return narrow && !(klass & 7) && is_synchronizer(k, klass);
}

/* The synchronizer that a field of a Thread object leads to, or 0. */
static uint64_t blocker_at(struct look *k, struct target_bytes object, uint32_t at, uint32_t bytes)
{
	uint64_t blocker = hotspot_decode(&k->r, target_bytes_number(object, at, bytes), bytes);

	return has_class(k, blocker, 4) || has_class(k, blocker, 8) || has_compact_class(k, blocker)
		       ? blocker
		       : 0;
}

static uint64_t find_blocker(struct look *k, uint64_t thread)
{
	uint8_t bytes_of[OBJECT_BYTES];
	const struct target_bytes object = TARGET_BYTES(bytes_of);
	uint64_t found;

	if (!thread || hotspot_read(&k->r, thread, bytes_of, sizeof(bytes_of)))
		return 0;
	if (k->hints[HINT_BLOCKER])
		return blocker_at(k, object, k->hints[HINT_BLOCKER], k->hints[HINT_POINTER]);
	for (uint32_t bytes = 4; bytes <= hotspot_pointer_bytes_max(&k->r); bytes += 4)
		for (uint32_t at = HOTSPOT_OBJECT_HEADER; at + bytes <= object.len; at += 4) {
			if (at % bytes)
				continue;
			found = blocker_at(k, object, at, bytes);
			if (!found)
				continue;
			k->hints[HINT_BLOCKER] = at;
			k->hints[HINT_POINTER] = bytes;
			return found;
		}
	return 0;
}

/* The thread whose object the field leads to; 0: none. */
static uint32_t owner_at(const struct look *k, struct target_bytes object, uint32_t at,
			 uint32_t bytes)
{
	const uint64_t word = target_bytes_number(object, at, bytes);

	return tid_of_object(k, hotspot_decode(&k->r, word, bytes));
}

static uint32_t blocker_owner(struct look *k, uint64_t blocker)
{
	uint32_t bytes = k->hints[HINT_POINTER], tid;
	uint8_t bytes_of[LOCK_BYTES];
	const struct target_bytes object = TARGET_BYTES(bytes_of);

	if (!blocker || !bytes || hotspot_read(&k->r, blocker, bytes_of, sizeof(bytes_of)))
		return 0;
	if (k->hints[HINT_OWNER])
		return owner_at(k, object, k->hints[HINT_OWNER], bytes);
	for (uint32_t at = HOTSPOT_OBJECT_HEADER; at + bytes <= object.len; at += bytes) {
		tid = owner_at(k, object, at, bytes);
		if (tid) {
			k->hints[HINT_OWNER] = at;
			return tid;
		}
	}
	return 0;
}

/* ---- all ---- */

static void fill_owner(struct look *k, struct runtime_wait *w)
{
	const struct java_thread *t = thread_of_tid(k, w->tid);

	w->owner = 0;
	if (!t)
		return;
	w->owner = t->pending ? monitor_owner(k, t->pending)
			      : blocker_owner(k, find_blocker(k, t->object));
	if (w->owner == w->tid)
		w->owner = 0;
}

int hotspot_waits(const struct hotspot_layout *l, uint64_t bias, const struct target_memory *m,
		  struct runtime_wait_hints *hints, struct runtime_wait *waits, size_t nr)
{
	struct look k = { .l = &l->locks, .hints = hints->v };
	struct cached_memory *c = cached_memory_new(m);
	int err;

	if (!c)
		return -ENOMEM;
	hotspot_reader_begin(&k.r, l, bias, cached_memory_view(c), MAX_READS);
	err = take_threads(&k);
	for (size_t i = 0; i < nr && !err; i++)
		fill_owner(&k, &waits[i]);
	free(k.threads);
	cached_memory_free(c);
	return err;
}
