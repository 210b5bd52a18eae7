/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a stripped Go program. Their names are still there, because Go's runtime needs
 * them: in .gopclntab. The layouts of Go 1.16, 1.18 and 1.20 are known; they differ in the header
 * and in the width of the function table:
 *
 *	u32 magic, u8 0, u8 0, u8 quantum, u8 pointer_size,
 *	word nr_functions, nr_files, [1.18: text_start], names, units, files, pcs, functions
 *	functions: nr_functions * { entry, record }, end
 *		1.16: words; 1.18: u32, entry minus text_start
 *	record, after the functions: { entry, i32 name, ... }
 */
#include <errno.h>
#include <stdlib.h>

#include "src/base/bytes.h"
#include "src/elf/go_image.h"
#include "src/symbolize/symbol_set.h"

#define MAX_BYTES (256ull << 20)
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

struct table {
	const uint8_t *data;
	uint64_t size;
	unsigned word;			/* bytes of an address */
	unsigned field;
	uint64_t nr, text, names, functions;
};

static uint64_t field_at(const struct table *t, uint64_t offset, unsigned bytes)
{
	struct byte_reader r = br_make(t->data, t->size);

	br_bytes(&r, offset);
	return br_fixed(&r, bytes);
}

static int read_header(struct table *t, struct byte_reader *r)
{
	uint32_t magic = br_u32(r);

	br_bytes(r, 3);
	t->word = br_u8(r);
	if (t->word != 8 && t->word != 4)
		return -ENOENT;
	t->nr = br_fixed(r, t->word);
	br_bytes(r, t->word);
	if (magic == MAGIC_1_18 || magic == MAGIC_1_20) {
		t->field = 4;
		br_bytes(r, t->word);
	} else if (magic == MAGIC_1_16) {
		t->field = t->word;
	} else {
		return -ENOENT;
	}
	t->names = br_fixed(r, t->word);
	br_bytes(r, 3 * t->word);
	t->functions = br_fixed(r, t->word);
	if (r->bad || t->names >= t->size || t->functions >= t->size)
		return -ENOENT;
	return t->nr < (t->size - t->functions) / (2 * t->field) ? 0 : -ENOENT;
}

static int add_functions(struct symbol_set *set, const struct table *t)
{
	int err = 0;

	for (uint64_t i = 0; i < t->nr && !err; i++) {
		uint64_t at = t->functions + 2 * i * t->field;
		uint64_t entry = field_at(t, at, t->field);
		uint64_t end = field_at(t, at + 2 * t->field, t->field);
		uint64_t record = field_at(t, at + t->field, t->field);
		uint64_t name_at = t->functions + record + t->field;

		if (record > t->size || end <= entry)
			continue;
		err = symbol_set_add(set, t->text + entry, end - entry, RANK_LOCAL, NAMES_GO,
				     field_at(t, name_at, 4));
	}
	return err == -EFBIG ? 0 : err;
}

int go_symbols_add(struct symbol_set *set, uint64_t *names_offset, uint64_t *names_size)
{
	struct byte_reader r;
	struct go_image go;
	struct table t;
	void *data;
	int err;

	if (go_image_find(set->img, &go) ||
	    elf_image_read(set->img, go.offset, go.size, MAX_BYTES, &data))
		return -ENOENT;
	t = (struct table){ .data = data, .size = go.size };
	r = br_make(data, go.size);
	err = read_header(&t, &r);
	t.text = t.field == 4 ? go.text_vaddr : 0;
	if (!err)
		err = add_functions(set, &t);
	if (!err) {
		*names_offset = go.offset + t.names;
		*names_size = go.size - t.names;
	}
	free(data);
	return err;
}
