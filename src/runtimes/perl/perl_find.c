/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/perl/perl_find.h"

#include <errno.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/runtimes/perl/perl_layout.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/runtime_loops.h"

enum { LOOP, KEY, REVISION, VERSION, SUBVERSION, NR_NAMES };

/* The byte at a symbol; 0: there is none. */
static uint32_t byte(struct elf_image *img, const struct exported_symbol *s)
{
	uint64_t offset, left;
	uint8_t v;

	if (!s->vaddr || elf_image_offset_of(img, s->vaddr, &offset, &left) || !left ||
	    elf_image_pread(img, &v, 1, offset) != 1)
		return 0;
	return v;
}

int perl_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct exported_symbol v[NR_NAMES] = {
		[LOOP] = { .name = "Perl_runops_standard" },
		[KEY] = { .name = "PL_thr_key" },
		[REVISION] = { .name = "PL_revision" },
		[VERSION] = { .name = "PL_version" },
		[SUBVERSION] = { .name = "PL_subversion" },
	};
	struct perl_image perl = { 0 };
	int err = exported_symbols_find(img, v, NR_NAMES);

	if (err)
		return err;
	if (!v[LOOP].vaddr || !v[REVISION].vaddr || !v[VERSION].vaddr)
		return -ENOENT;
	out->version = byte(img, &v[REVISION]) << 24 | byte(img, &v[VERSION]) << 16 |
		       byte(img, &v[SUBVERSION]) << 8;
	out->state_vaddr = v[KEY].vaddr;
	perl.has_globals = !v[KEY].vaddr;
	if (!perl.has_globals && out->version >> 24 == 5)
		err = perl_layout_of(out->version >> 16 & 0xff, &perl.layout);
	RUNTIME_SET_OWN(out, &perl);
	if (err || !perl.layout.minor)
		return 0;
	err = runtime_loops_find(img, fd, data, &v[LOOP], out);
	out->is_known = !err;
	return err;
}
