/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "src/model/record.h"
#include "src/runtimes/hotspot/hotspot_find.h"
#include "src/runtimes/hotspot/hotspot_heaps.h"
#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/hotspot/hotspot_locks.h"
#include "src/runtimes/hotspot/hotspot_names.h"
#include "src/runtimes/hotspot/hotspot_objects.h"
#include "src/runtimes/hotspot/hotspot_program.h"
#include "src/runtimes/hotspot/hotspot_threads.h"
#include "src/runtimes/runtime_kind.h"

static struct hotspot_image own_of(const struct runtime_image *image)
{
	struct hotspot_image own;

	RUNTIME_GET_OWN(image, &own);
	return own;
}

static bool is_sound(const struct runtime_image *image)
{
	const struct hotspot_image h = own_of(image);

	return hotspot_layout_is_sound(&h.layout);
}

static int program(const struct runtime_image *image, struct frame_program *out)
{
	const struct hotspot_image h = own_of(image);

	return h.layout.is_read ? hotspot_program(&h.layout, out) : -EAGAIN;
}

/* Without the heaps no code is the program's. */
static void constants(const struct runtime_image *image, uint64_t bias, struct unwind_runtime *rt)
{
	(void)image;
	(void)bias;
	rt->flags = RUNTIME_OWNS_CODE;
}

/*
 * Whether code of the JVM has run, so that its file is relocated: a constructor makes the array of
 * heaps. An address that is not relocated yet leads nowhere.
 */
static bool has_begun(const struct hotspot_image *h, uint64_t bias, const struct target_memory *m)
{
	uint64_t heaps;

	return !target_read_u64(m, h->layout.heaps_vaddr + bias, &heaps) && heaps;
}

/*
 * A layout that was read while the file was relocated may lack something. So it is read again when
 * the JVM has begun, which must find the same. 0; -EAGAIN: something else, which is to be tried; or
 * -errno.
 */
static int confirm(struct hotspot_image *h, uint64_t bias, const struct target_memory *m)
{
	struct hotspot_layout now;
	int err = hotspot_layout_read(&h->lists, bias, m, &now);

	if (err)
		return err;
	if (memcmp(&now, &h->layout, sizeof(now))) {
		h->layout = now;
		return -EAGAIN;
	}
	h->is_sure = 1;
	return 0;
}

static int attach(struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		  struct unwind_runtime *rt)
{
	struct hotspot_image h = own_of(image);
	int err = 0, sure = -EAGAIN;

	if (!h.layout.is_read)
		err = hotspot_layout_read(&h.lists, bias, m, &h.layout);
	if (err)
		return err;
	/* A JVM that has no heaps yet is asked for these alone the next time. */
	err = hotspot_heaps_read(&h.layout, bias, m, rt);
	if ((!err || err == -EAGAIN) && !h.is_sure && has_begun(&h, bias, m))
		sure = confirm(&h, bias, m);
	if (!err)
		err = h.is_sure ? 0 : sure;
	RUNTIME_SET_OWN(image, &h);
	image->version = h.layout.version;
	if (h.lists.vtable_text)
		rt->consts[HOTSPOT_CONST_VTABLE] = h.lists.vtable_text + bias;
	if (h.lists.adapter_text)
		rt->consts[HOTSPOT_CONST_ADAPTER] = h.lists.adapter_text + bias;
	return err;
}

static int waits(const struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		 struct runtime_wait_hints *hints, struct runtime_wait *waits, size_t nr)
{
	const struct hotspot_image h = own_of(image);

	return hotspot_knows_locks(&h.layout) ? hotspot_waits(&h.layout, bias, m, hints, waits, nr)
					      : -ENOTSUP;
}

static int thread_names(const struct runtime_image *image, uint64_t bias,
			const struct target_memory *m, struct runtime_thread_name *names, size_t nr)
{
	const struct hotspot_image h = own_of(image);

	return hotspot_knows_threads(&h.layout)
		       ? hotspot_thread_names(&h.layout, bias, m, names, nr)
		       : -ENOTSUP;
}

const struct runtime_kind hotspot_runtime = {
	.name = "java", .files = "libjvm.so", .lang = LANG_JAVA,
	.has_offsets = true, .versions = "11, 17, 21, 25",
	.find = hotspot_find, .is_sound = is_sound,
	.program = program, .constants = constants, .attach = attach,
	.code_read = hotspot_code_read, .code_lines = hotspot_code_lines,
	.code_free = hotspot_code_free, .waits = waits, .thread_names = thread_names,
};
