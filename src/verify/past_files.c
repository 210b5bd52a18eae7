/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/verify/past_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/foreign/foreign_file.h"
#include "src/model/definition_store.h"
#include "src/verify/past_maps.h"

struct entry {
	struct past_file file;
	struct unwind_table *table;
	bool table_asked;
	uint16_t machine;
};

struct past_files {
	const struct definition_store *tables;
	const struct past_maps *maps;
	struct entry *v;		/* by id of the binary */
	size_t nr;
};

int past_files_new(const struct definition_store *tables, const struct past_maps *maps,
		   struct past_files **pfp)
{
	struct past_files *pf = calloc(1, sizeof(*pf));

	if (pf)
		pf->v = calloc(maps->nr_binaries + 1, sizeof(*pf->v));
	if (!pf || !pf->v) {
		free(pf);
		return -ENOMEM;
	}
	pf->tables = tables;
	pf->maps = maps;
	pf->nr = maps->nr_binaries + 1;
	for (size_t i = 0; i < pf->nr; i++)
		pf->v[i].file.fd = -1;
	*pfp = pf;
	return 0;
}

void past_files_free(struct past_files *pf)
{
	if (!pf)
		return;
	for (size_t i = 0; i < pf->nr; i++) {
		if (pf->v[i].file.fd >= 0)
			close(pf->v[i].file.fd);
		unwind_table_free(pf->v[i].table);
	}
	free(pf->v);
	free(pf);
}

/*
 * Opens the vdso of this process. It is the same as that of the recording while the same kernel
 * runs.
 */
static int open_vdso(void)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int fd;

	if (!eh)
		return -1;
	size = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, eh, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static enum past_file_state check(int fd, const struct rec_binary *b)
{
	enum past_file_state state = PAST_FILE_OK;
	struct elf_image *img;
	struct stat st;

	if (elf_image_open(fd, &img))
		return PAST_FILE_MISSING;
	if (b->build_id_len || img->build_id_len) {
		if (b->build_id_len != img->build_id_len ||
		    memcmp(b->build_id, img->build_id, b->build_id_len))
			state = PAST_FILE_CHANGED;
	} else if (b->kind != BINARY_VDSO &&
		   (fstat(fd, &st) || (uint64_t)st.st_size != b->size_bytes ||
		    st.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st.st_mtim.tv_nsec !=
			    b->mtime_ns)) {
		state = PAST_FILE_CHANGED;
	}
	elf_image_close(img);
	return state;
}

/* The trace names the file, and it may come from anybody: only a regular file is opened. */
static int open_named(const char *path)
{
	static const struct foreign_want any;
	struct stat st;
	int root = foreign_root(0), fd = foreign_open(root, path, &any, &st);

	if (root >= 0)
		close(root);
	return fd;
}

static void open_file(struct past_files *pf, struct past_file *f, const struct rec_binary *b)
{
	int fd;

	f->path = definition_store_string(pf->tables, b->path, NULL);
	f->state = PAST_FILE_MISSING;
	fd = b->kind == BINARY_VDSO ? open_vdso() : open_named(f->path);
	if (fd < 0)
		return;
	f->state = check(fd, b);
	if (f->state == PAST_FILE_OK)
		f->fd = fd;
	else
		close(fd);
}

const struct past_file *past_files_get(struct past_files *pf, uint32_t binary)
{
	static const struct past_file none = { .state = PAST_FILE_MISSING,
					       .fd = -1,
					       .path = "[missing]" };
	const struct rec_binary *b = past_maps_binary(pf->maps, binary);
	struct past_file *f;

	if (!b)
		return &none;
	f = &pf->v[binary].file;
	if (f->state == PAST_FILE_UNASKED)
		open_file(pf, f, b);
	return f;
}

const struct past_file *past_files_next_bad(const struct past_files *pf, uint32_t *binary)
{
	while (++*binary < pf->nr) {
		const struct past_file *f = &pf->v[*binary].file;

		if (f->state == PAST_FILE_MISSING || f->state == PAST_FILE_CHANGED)
			return f;
	}
	return NULL;
}

bool past_files_rule(struct past_files *pf, uint32_t binary, uint64_t vaddr,
		     struct unwind_rule *rule, uint16_t *machine)
{
	const struct past_file *f = past_files_get(pf, binary);
	struct elf_image *img;
	struct entry *e;

	if (f->state != PAST_FILE_OK)
		return false;
	e = &pf->v[binary];
	if (!e->table_asked) {
		e->table_asked = true;
		if (!elf_image_open(f->fd, &img)) {
			if (unwind_table_from_image(img, &e->table))
				e->table = NULL;
			e->machine = img->machine;
			elf_image_close(img);
		}
	}
	*machine = e->machine;
	if (e->table)
		*rule = unwind_table_find(e->table, vaddr);
	return e->table;
}
