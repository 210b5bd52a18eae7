/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dictionaries of CPython and the attributes of objects, read from a process that may change them
 * meanwhile. What is read may be wrong then, but no walk is longer than its limit: PYTHON_ENTRIES
 * entries, and as many reads as the reader has left.
 *
 * A dictionary has a table of keys, and values beside the keys or in an array of its own (a split
 * one: objects of a class share the keys). Where the attributes of an object are:
 *
 *	3.8 - 3.10	in a dictionary, at the class's tp_dictoffset
 *	3.11		in an array of values whose address is in front of the object, or in a
 *			dictionary whose address is there
 *	3.12		the same, with one word for both; the last bit says which
 *	3.13 on		in the object itself, or in a dictionary whose address is in front of it
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/target_memory.h"

#define PYTHON_ENTRIES 65536		/* of one dictionary that are looked at */

struct python_reader {
	const struct python_layout *l;
	struct target_memory m;
	uint32_t reads_left;
	int err;			/* the first error of reading, or -E2BIG: no reads left */
};

/* Bytes or a word of the process; 0 where they cannot be read. */
void python_read(struct python_reader *r, uint64_t at, void *to, size_t len);
uint64_t python_read_word(struct python_reader *r, uint64_t at);

struct python_keys {
	uint64_t entries, nr;
	uint32_t entry_bytes, key_at, value_at;
	uint64_t values;		/* of a split dictionary; 0: they are in the entries */
};

/* The entries of a dictionary. nr is 0 where there is none. */
struct python_keys python_dict_keys(struct python_reader *r, uint64_t dict);

/* An entry of it: key and value; a value of 0: it is free. */
struct python_entry {
	uint64_t key, value;
};
struct python_entry python_entry_of(struct python_reader *r, const struct python_keys *k,
				    uint64_t i);

/* The value of an ASCII key; 0: there is none. */
uint64_t python_dict_value(struct python_reader *r, uint64_t dict, const char *key);
/* An attribute of an object, which is in no dictionary of its class. 0: there is none. */
uint64_t python_attribute(struct python_reader *r, uint64_t object, const char *name);
/* An int object that fits into 30 bits and is not negative; otherwise 0. */
uint32_t python_small_int(struct python_reader *r, uint64_t object);
