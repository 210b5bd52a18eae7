/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/runtime_kind.h"

#define MAX_TEXT (16u << 20)		/* of .rodata */

enum { STRUCTS, STRUCT_STRIDE, STRUCT_TYPE, STRUCT_FIELD, STRUCT_OFFSET, STRUCT_ADDRESS,
       TYPES, TYPE_STRIDE, TYPE_NAME, TYPE_SIZE, NR_NAMES };

/* The virtual address of a string constant; 0: there is none, or more than one. */
static uint64_t text_at(const uint8_t *v, const struct elf_section *s, const char *text)
{
	const size_t len = strlen(text) + 1;
	const uint8_t *at, *found = NULL;

	for (const uint8_t *p = v; (at = memmem(p, (size_t)(v + s->size - p), text, len));
	     p = at + 1) {
		if (at > v && at[-1])
			continue;	/* the end of another one */
		if (found)
			return 0;
		found = at;
	}
	return found ? s->addr + (uint64_t)(found - v) : 0;
}

static void find_texts(struct elf_image *img, struct hotspot_lists *out)
{
	struct elf_section s;
	void *v = NULL;

	if (elf_image_section(img, ".rodata", &s) ||
	    elf_image_read(img, s.offset, s.size, MAX_TEXT, &v))
		return;
	out->vtable_text = text_at(v, &s, "vtable chunks");
	out->adapter_text = text_at(v, &s, "I2C/C2I adapters");
	free(v);
}

int hotspot_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct exported_symbol v[NR_NAMES] = {
		[STRUCTS] = { .name = "gHotSpotVMStructs" },
		[STRUCT_STRIDE] = { .name = "gHotSpotVMStructEntryArrayStride" },
		[STRUCT_TYPE] = { .name = "gHotSpotVMStructEntryTypeNameOffset" },
		[STRUCT_FIELD] = { .name = "gHotSpotVMStructEntryFieldNameOffset" },
		[STRUCT_OFFSET] = { .name = "gHotSpotVMStructEntryOffsetOffset" },
		[STRUCT_ADDRESS] = { .name = "gHotSpotVMStructEntryAddressOffset" },
		[TYPES] = { .name = "gHotSpotVMTypes" },
		[TYPE_STRIDE] = { .name = "gHotSpotVMTypeEntryArrayStride" },
		[TYPE_NAME] = { .name = "gHotSpotVMTypeEntryTypeNameOffset" },
		[TYPE_SIZE] = { .name = "gHotSpotVMTypeEntrySizeOffset" },
	};
	struct hotspot_image h = { 0 };
	int err = exported_symbols_find(img, v, NR_NAMES);

	(void)fd;
	(void)data;
	if (err)
		return err;
	if (!v[STRUCTS].vaddr)
		return -ENOENT;
	h.lists = (struct hotspot_lists){
		v[STRUCTS].vaddr, v[STRUCT_STRIDE].vaddr, v[STRUCT_TYPE].vaddr,
		v[STRUCT_FIELD].vaddr, v[STRUCT_OFFSET].vaddr, v[STRUCT_ADDRESS].vaddr,
		v[TYPES].vaddr, v[TYPE_STRIDE].vaddr, v[TYPE_NAME].vaddr, v[TYPE_SIZE].vaddr,
		0, 0,
	};
	out->is_known = 1;
	for (int i = 0; i < NR_NAMES; i++)
		if (!v[i].vaddr)
			out->is_known = 0;
	find_texts(img, &h.lists);
	RUNTIME_SET_OWN(out, &h);
	return 0;
}
