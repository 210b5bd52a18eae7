/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where fields are comes from the headers of CPython 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1 and
 * 3.13.0; those of 3.14 are at the same places as in 3.13.
 */
#include "src/runtimes/python/python_dicts.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "src/runtimes/python/python_strings.h"

/* PyDictObject. */
#define DICT_KEYS 32
#define DICT_VALUES 40
/* PyTypeObject, and PyHeapTypeObject for the keys. */
#define TYPE_BASIC_SIZE 32
#define TYPE_FLAGS 168
#define TYPE_DICT_OFFSET 288
#define HAS_INLINE_VALUES (1u << 2)
#define HAS_MANAGED_DICT (1u << 4)
/* In front of an object. */
#define FRONT_DICT 24
#define FRONT_VALUES 32			/* 3.11 */
#define VALUES_VALID 3			/* 3.13 on: a byte that says whether they are in use */
#define MAX_BASIC_SIZE 65536
/* PyLongObject. */
#define INT_SIZE 16
#define INT_DIGIT 24

void python_read(struct python_reader *r, uint64_t at, void *to, size_t len)
{
	int err = r->reads_left ? target_read(&r->m, at, to, len) : -E2BIG;

	if (err)
		memset(to, 0, len);
	else
		r->reads_left--;
	if (err && !r->err)
		r->err = err;
}

uint64_t python_read_word(struct python_reader *r, uint64_t at)
{
	uint64_t word;

	python_read(r, at, &word, sizeof(word));
	return word;
}

/* ---- keys ---- */

/* Up to 3.10: the size of the index is a number, an entry has a hash. */
static struct python_keys old_keys(struct python_reader *r, uint64_t at)
{
	uint8_t bytes[40];
	const struct target_bytes head = TARGET_BYTES(bytes);
	uint64_t size, index_bytes;

	python_read(r, at, bytes, sizeof(bytes));
	size = target_bytes_u64(head, 8);
	if (size > UINT32_MAX)
		return (struct python_keys){ 0 };
	index_bytes = size * (size <= UINT8_MAX ? 1 : size <= UINT16_MAX ? 2 : 4);
	return (struct python_keys){ .entries = at + sizeof(bytes) + index_bytes,
				     .nr = target_bytes_u64(head, 32), .entry_bytes = 24,
				     .key_at = 8, .value_at = 16 };
}

/* Since 3.11: two bytes have logarithms, a third one says whether entries have a hash. */
static struct python_keys new_keys(struct python_reader *r, uint64_t at)
{
	uint8_t bytes[32];
	const struct target_bytes head = TARGET_BYTES(bytes);
	bool has_hash;

	python_read(r, at, bytes, sizeof(bytes));
	if (bytes[9] > 32)
		return (struct python_keys){ 0 };
	has_hash = !bytes[10];
	return (struct python_keys){ .entries = at + sizeof(bytes) + (1ull << bytes[9]),
				     .nr = target_bytes_u64(head, 24),
				     .entry_bytes = has_hash ? 24 : 16,
				     .key_at = has_hash ? 8 : 0, .value_at = has_hash ? 16 : 8 };
}

static struct python_keys keys_of(struct python_reader *r, uint64_t at)
{
	struct python_keys k = { 0 };

	if (at)
		k = r->l->minor <= 10 ? old_keys(r, at) : new_keys(r, at);
	if (k.nr > PYTHON_ENTRIES)
		k.nr = 0;
	return k;
}

/* Where the first value of an array is: since 3.13 some bytes about them are in front of it. */
static uint64_t first_value(const struct python_reader *r, uint64_t values)
{
	return values && r->l->minor >= 13 ? values + 8 : values;
}

struct python_keys python_dict_keys(struct python_reader *r, uint64_t dict)
{
	struct python_keys k = { 0 };

	if (!dict)
		return k;
	k = keys_of(r, python_read_word(r, dict + DICT_KEYS));
	k.values = first_value(r, python_read_word(r, dict + DICT_VALUES));
	return k;
}

struct python_entry python_entry_of(struct python_reader *r, const struct python_keys *k,
				    uint64_t i)
{
	uint8_t bytes[24] = { 0 };
	const struct target_bytes entry = TARGET_BYTES(bytes);
	struct python_entry e;

	python_read(r, k->entries + i * k->entry_bytes, bytes, k->entry_bytes);
	e.key = target_bytes_u64(entry, k->key_at);
	e.value = k->values ? 0 : target_bytes_u64(entry, k->value_at);
	return e;
}

static uint64_t value_of(struct python_reader *r, const struct python_keys *k, const char *key)
{
	for (uint64_t i = 0; i < k->nr && r->reads_left; i++) {
		struct python_entry e = python_entry_of(r, k, i);

		if (!e.key || (!k->values && !e.value))
			continue;
		r->reads_left--;
		if (python_string_is(r->l, &r->m, e.key, key))
			return k->values ? python_read_word(r, k->values + i * 8) : e.value;
	}
	return 0;
}

uint64_t python_dict_value(struct python_reader *r, uint64_t dict, const char *key)
{
	const struct python_keys k = python_dict_keys(r, dict);

	return value_of(r, &k, key);
}

/* ---- attributes ---- */

static uint32_t cached_keys_at(const struct python_layout *l)
{
	return l->minor >= 12 ? 880 : 872;
}

/* The array of an object's values, or 0: then *dict is its dictionary. */
static uint64_t values_of(struct python_reader *r, uint64_t object, uint64_t type, uint64_t flags,
			  uint64_t *dict)
{
	uint64_t size;
	uint8_t head[8];

	*dict = python_read_word(r, object - FRONT_DICT);
	if (r->l->minor == 11)
		return python_read_word(r, object - FRONT_VALUES);
	if (r->l->minor == 12)
		return *dict & 1 ? *dict + 1 : 0;
	size = python_read_word(r, type + TYPE_BASIC_SIZE);
	if (*dict || !(flags & HAS_INLINE_VALUES) || size > MAX_BASIC_SIZE)
		return 0;
	python_read(r, object + size, head, sizeof(head));
	return head[VALUES_VALID] ? object + size : 0;
}

uint64_t python_attribute(struct python_reader *r, uint64_t object, const char *name)
{
	uint64_t type = object ? python_read_word(r, object + r->l->object_type) : 0;
	uint64_t flags = type ? python_read_word(r, type + TYPE_FLAGS) : 0;
	uint64_t dict = 0, values = 0, offset;
	struct python_keys k;

	if (!type)
		return 0;
	if (r->l->minor >= 11 && flags & HAS_MANAGED_DICT) {
		values = values_of(r, object, type, flags, &dict);
	} else {
		offset = python_read_word(r, type + TYPE_DICT_OFFSET);
		dict = offset && offset < MAX_BASIC_SIZE ? python_read_word(r, object + offset) : 0;
	}
	if (!values)
		return python_dict_value(r, dict, name);
	k = keys_of(r, python_read_word(r, type + cached_keys_at(r->l)));
	k.values = first_value(r, values);
	return value_of(r, &k, name);
}

uint32_t python_small_int(struct python_reader *r, uint64_t object)
{
	uint64_t size = object ? python_read_word(r, object + INT_SIZE) : 0;
	uint32_t digit;

	/* Since 3.12: the number of digits above three bits, of which two are the sign. */
	if (r->l->minor >= 12)
		size = size & 3 ? 0 : size >> 3;
	if (size != 1)
		return 0;
	python_read(r, object + INT_DIGIT, &digit, sizeof(digit));
	return digit;
}
