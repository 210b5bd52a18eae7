/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/page/page_pack.h"

void page_message_head(struct byte_buf *out, const char *name, size_t len)
{
	bb_uv(out, strlen(name));
	bb_bytes(out, name, strlen(name));
	bb_uv(out, len);
}

void page_message_text(struct byte_buf *out, const char *name, const char *text, size_t len)
{
	if (!len)
		return;
	page_message_head(out, name, len);
	bb_bytes(out, text, len);
}

void page_message_section(struct byte_buf *out, const char *name, struct byte_buf *section)
{
	page_message_text(out, name, (const char *)section->v, section->nr);
	out->bad |= section->bad;
	bb_release(section);
}

void page_message_state(struct byte_buf *out, unsigned flags, uint64_t version)
{
	struct byte_buf b = { 0 };

	bb_uv(&b, flags);
	bb_uv(&b, version);
	page_message_section(out, "state", &b);
}

void page_message_nodes(struct byte_buf *out, uint32_t tree, uint32_t from,
			const struct page_node *v, size_t nr)
{
	struct byte_buf b = { 0 };

	if (!nr)
		return;
	bb_uv(&b, tree);
	page_begin_columns(&b, from, from + nr);
	PAGE_PUT_COLUMN(&b, 0, nr, v[i].up);
	PAGE_PUT_COLUMN(&b, 0, nr, v[i].function);
	PAGE_PUT_COLUMN(&b, 0, nr, v[i].flags);
	page_message_section(out, "nodes", &b);
}

int page_message_json(struct byte_buf *out, const char *name,
		      void (*put)(struct json_writer *w, const void *ctx), const void *ctx)
{
	char *text = NULL;
	size_t len = 0;
	struct json_writer w = { .out = open_memstream(&text, &len) };
	int err;

	if (!w.out)
		return -ENOMEM;
	put(&w, ctx);
	err = fclose(w.out) ? -ENOMEM : 0;
	if (!err)
		page_message_text(out, name, text, len);
	free(text);
	return err;
}

static void put(void *out, const void *data, size_t len)
{
	bb_bytes(out, data, len);
}

int page_message_pack(const struct byte_buf *sections, struct byte_buf *out)
{
	struct page_pack *p = page_pack_new(put, out);
	int err;

	if (!p)
		return -ENOMEM;
	page_pack_bytes(p, sections->v, sections->nr);
	err = page_pack_end(p);
	page_pack_free(p);
	return err ? err : out->bad || sections->bad ? -ENOMEM : 0;
}
