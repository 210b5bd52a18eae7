/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/usdt_notes.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/elf/elf_image.h"
#include "src/probes/probe_spec.h"

#define NT_STAPSDT 3
#define NAME_MAX_LEN (2 * USDT_TEXT_MAX + 2)

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

/* The text that begins there, and how far it and its end reach; NULL: it does not end, or late. */
static const char *take_text(struct byte_reader *r)
{
	const uint8_t *p = r->p;
	size_t left = (size_t)br_left(r), max = left < USDT_TEXT_MAX ? left : USDT_TEXT_MAX;
	size_t len = strnlen((const char *)p, max);

	return len < max && br_bytes(r, len + 1) ? (const char *)p : NULL;
}

/* The description of one note. false: it is cut or damaged. */
static bool parse_note(const uint8_t *desc, size_t len, struct usdt_note *out)
{
	struct byte_reader r = br_make(desc, len);
	const uint8_t *words = br_bytes(&r, 24);

	if (!words)
		return false;
	memcpy(&out->place, words, 8);
	memcpy(&out->base, words + 8, 8);
	memcpy(&out->semaphore, words + 16, 8);
	out->provider = take_text(&r);
	out->name = out->provider ? take_text(&r) : NULL;
	out->arguments = out->name ? take_text(&r) : NULL;
	return out->arguments && *out->provider && *out->name;
}

int usdt_notes_each(const void *notes, size_t len, usdt_note_fn fn, void *ctx)
{
	struct byte_reader r = br_make(notes, len);
	struct usdt_note note;
	int err = 0;

	while (!err && br_left(&r)) {
		const uint8_t *head = br_bytes(&r, 12), *name, *desc;
		uint32_t sizes[3];

		if (!head)
			break;
		memcpy(sizes, head, sizeof(sizes));
		name = br_bytes(&r, padded(sizes[0]));
		desc = name ? br_bytes(&r, padded(sizes[1])) : NULL;
		if (!desc)
			break;
		if (sizes[0] == 8 && !memcmp(name, "stapsdt", 8) && sizes[2] == NT_STAPSDT &&
		    parse_note(desc, sizes[1], &note))
			err = fn(ctx, &note);
	}
	return err;
}

int usdt_name_matches(const char *pattern, const struct usdt_note *note)
{
	char name[NAME_MAX_LEN], wanted[2 * PROBE_SPEC_MAX];
	bool is_glob = strpbrk(pattern, "*?["), in_set = strchr(pattern, '[');
	size_t n = 0;

	snprintf(name, sizeof(name), "%s:%s", note->provider, note->name);
	for (const char *p = pattern; *p && n + 3 < sizeof(wanted); p++) {
		wanted[n++] = *p == '-' && !in_set ? '_' : *p;
		if (*p == '-' && !in_set)
			wanted[n++] = '_';
	}
	wanted[n] = 0;
	return is_glob ? probe_glob_matches(wanted, name) : !strcmp(wanted, name);
}

struct usdt_search {
	const struct probe_spec *spec;
	struct elf_image *img;
	uint64_t base;			/* of .stapsdt.base; 0: there is none */
	struct usdt_frames *frames;	/* NULL: not wanted */
	uprobe_match_fn fn;
	void *ctx;
};

/* Why no probe can be put at the place; NULL: one can. */
static const char *why_not(const struct usdt_search *s, uint64_t place, uint64_t offset)
{
	static const uint8_t arm64_nop[4] = { 0x1f, 0x20, 0x03, 0xd5 }, x86_nop[1] = { 0x90 };
	bool is_arm64 = s->img->machine == EM_AARCH64;
	size_t len = is_arm64 ? sizeof(arm64_nop) : 1;
	uint8_t code[4];
	bool is_code = false;

	for (size_t i = 0; i < s->img->nr_segments; i++) {
		const struct elf_segment *seg = &s->img->segments[i];

		is_code |= seg->exec && place - seg->vaddr < seg->filesz;
	}
	if (!is_code)
		return "it is not in executable code of the file";
	if (elf_image_pread(s->img, code, len, offset) != (long)len)
		return "its code cannot be read";
	return memcmp(code, is_arm64 ? arm64_nop : x86_nop, len)
		       ? "no nop is there, so the note is wrong"
		       : NULL;
}

static int on_note(void *ctx, const struct usdt_note *note)
{
	const struct usdt_search *s = ctx;
	uint64_t moved = s->base && note->base ? s->base - note->base : 0, left;
	struct uprobe_match m = { .address = note->place + moved, .size = 1,
				  .arguments = note->arguments };
	char symbol[NAME_MAX_LEN];
	int err;

	if (!usdt_name_matches(s->spec->function, note))
		return 0;
	snprintf(symbol, sizeof(symbol), "%s:%s", note->provider, note->name);
	m.symbol = symbol;
	if (elf_image_offset_of(s->img, m.address, &m.offset, &left))
		m.refused = "it is not in executable code of the file";
	else
		m.refused = why_not(s, m.address, m.offset);
	if (!m.refused && note->semaphore &&
	    (elf_image_offset_of(s->img, note->semaphore + moved, &m.semaphore, &left) || left < 2))
		m.refused = "its semaphore is not in the file";
	err = s->frames ? usdt_frames_find(s->frames, m.address, &m.frame) : 0;
	return err ? err : s->fn(s->ctx, &m);
}

int usdt_search_file(const struct probe_spec *spec, int fd, uprobe_match_fn fn, void *ctx)
{
	struct usdt_search s = { .spec = spec, .fn = fn, .ctx = ctx };
	struct elf_section sec;
	void *notes = NULL;
	int err;

	if (elf_image_open(fd, &s.img))
		return 0;
	if (!elf_image_section(s.img, ".stapsdt.base", &sec))
		s.base = sec.addr;
	err = s.img->is64 ? elf_image_section(s.img, ".note.stapsdt", &sec) : -ENOENT;
	if (!err)
		err = elf_image_read(s.img, sec.offset, sec.size, USDT_NOTES_BYTES_MAX, &notes);
	if (!err && spec->wants_frame)
		err = usdt_frames_open(s.img, fd, &s.frames);
	if (!err)
		err = usdt_notes_each(notes, sec.size, on_note, &s);
	else
		err = err == -ENOMEM ? err : 0;
	usdt_frames_close(s.frames);
	free(notes);
	elf_image_close(s.img);
	return err;
}
