/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/gnu_hash.h"

#include <errno.h>
#include <string.h>

#define WORD_BITS 64
#define PIECE 64		/* hashes of a chain that are read at a time */
#define NAME_MAX_BYTES 256

struct head {
	uint32_t nr_buckets, first, nr_words, shift;
};

/* Reads exactly len bytes. */
static int read_at(const struct gnu_hash *h, void *buf, size_t len, uint64_t offset)
{
	return elf_image_pread(h->img, buf, len, offset) == (long)len ? 0 : -EBADMSG;
}

int gnu_hash_open(struct elf_image *img, struct gnu_hash *h)
{
	struct elf_section s;
	struct head head;

	*h = (struct gnu_hash){ .img = img };
	if (!img->is64 || elf_image_section(img, ".gnu.hash", &s) || s.type != SHT_GNU_HASH ||
	    elf_image_section_at(img, s.link, &h->symbols) || h->symbols.type != SHT_DYNSYM ||
	    elf_image_section_at(img, h->symbols.link, &h->names))
		return -ENOENT;
	if (s.size < sizeof(head) || read_at(h, &head, sizeof(head), s.offset))
		return -EBADMSG;
	h->nr_buckets = head.nr_buckets;
	h->first = head.first;
	h->nr_words = head.nr_words;
	h->shift = head.shift;
	h->filter = s.offset + sizeof(head);
	h->buckets = h->filter + (uint64_t)head.nr_words * sizeof(uint64_t);
	h->chains = h->buckets + (uint64_t)head.nr_buckets * sizeof(uint32_t);
	h->end = s.offset + s.size;
	if (!h->nr_buckets || !h->nr_words || h->shift >= 32 || h->chains > h->end)
		return -EBADMSG;
	return 0;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		hash = hash * 33 + *p;
	return hash;
}

/* 0: the name may be there; -ENOENT: it is not. */
static int ask_filter(const struct gnu_hash *h, uint32_t hash)
{
	uint64_t word, bits = 1ull << (hash % WORD_BITS) | 1ull << ((hash >> h->shift) % WORD_BITS);
	uint64_t at = h->filter + hash / WORD_BITS % h->nr_words * sizeof(word);
	int err = read_at(h, &word, sizeof(word), at);

	return err ?: (word & bits) == bits ? 0 : -ENOENT;
}

static bool has_name(const struct gnu_hash *h, const Elf64_Sym *sym, const char *name)
{
	size_t len = strlen(name) + 1;
	char buf[NAME_MAX_BYTES];

	return len <= sizeof(buf) && sym->st_name < h->names.size &&
	       h->names.size - sym->st_name >= len &&
	       !read_at(h, buf, len, h->names.offset + sym->st_name) && !memcmp(buf, name, len);
}

/* 0: the symbol with this index has the name, and is defined. */
static int take(const struct gnu_hash *h, uint64_t index, const char *name, Elf64_Sym *out)
{
	uint64_t at = index * sizeof(*out);
	int err;

	if (at + sizeof(*out) > h->symbols.size)
		return -EBADMSG;
	err = read_at(h, out, sizeof(*out), h->symbols.offset + at);
	return err ?: out->st_shndx != SHN_UNDEF && has_name(h, out, name) ? 0 : -ENOENT;
}

int gnu_hash_find(const struct gnu_hash *h, const char *name, Elf64_Sym *out)
{
	uint32_t hash = hash_of(name), index, piece[PIECE];
	int err = ask_filter(h, hash);
	uint64_t at;

	if (!err)
		err = read_at(h, &index, sizeof(index),
			      h->buckets + hash % h->nr_buckets * sizeof(index));
	if (err || index < h->first)
		return err ?: -ENOENT;
	at = h->chains + (uint64_t)(index - h->first) * sizeof(uint32_t);
	while (at < h->end) {
		uint64_t left = (h->end - at) / sizeof(uint32_t), n = left < PIECE ? left : PIECE;

		if (!n || read_at(h, piece, n * sizeof(uint32_t), at))
			break;
		for (uint64_t i = 0; i < n; i++, index++) {
			err = (piece[i] ^ hash) >> 1 ? -ENOENT : take(h, index, name, out);
			if (err != -ENOENT || piece[i] & 1)
				return err;
		}
		at += n * sizeof(uint32_t);
	}
	return -EBADMSG;
}
