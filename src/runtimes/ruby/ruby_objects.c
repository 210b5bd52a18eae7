/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of symbols. The table of all symbols (ruby_global_symbols) is not exported. It is found by
 * value in the library's initialized data: the last number that was given, a pointer, an array of
 * arrays, a hash. What is read there is checked: the entry of a number has that number, too.
 *
 * Names of classes. Up to 3.2 they are among the class's variables, under the symbol __classpath__,
 * or __tmp_classpath__ as long as a class further out has no name. In 3.2 the variables are an
 * array of values, and what the values are called is told by the class's shape (the upper half of
 * its flags): a list that has one more variable with each shape.
 */
#include "src/runtimes/ruby/ruby_objects.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"

#define NOT_EMBEDDED (1u << 13)		/* of strings, and embedded of arrays */
#define STRING_LENGTH(flags) ((flags) >> 14 & 31)
#define ARRAY_LENGTH_SHIFT 15
#define MAX_STRING 4096
#define NIL 8				/* 4 since 3.2 */

#define ID_SCOPE_SHIFT 4
#define IDS_OF_ARRAY 512
#define WORDS_OF_ID 2
#define SYMBOL_SHIFT 8
#define SYMBOL_TAG 0xc
#define SYMBOL_ID 32			/* of a symbol that is an object */

#define MAX_VARIABLES 64		/* of a class that are looked at */

int ruby_type(const struct ruby_reading *r, uint64_t object, uint64_t *flags)
{
	int err;

	/* Small numbers, symbols and so on are no addresses. */
	if (object < 4096 || object & 7)
		return -ESTALE;
	err = target_read_u64(r->m, object, flags);
	return err ? err : (int)(*flags & RUBY_TYPE_MASK);
}

static int check_type(const struct ruby_reading *r, uint64_t object, int wanted, uint64_t *flags)
{
	int type = ruby_type(r, object, flags);

	if (type < 0)
		return type;
	return type == wanted ? 0 : -ESTALE;
}

static int copy_text(const char *text, size_t len, size_t max, char **out)
{
	static const char unknown[] = "\xef\xbf\xbd";
	struct byte_buf b = { 0 };

	for (size_t i = 0; i < len && b.nr + sizeof(unknown) < max; i++) {
		if (text[i])
			bb_u8(&b, (uint8_t)text[i]);
		else
			bb_bytes(&b, unknown, sizeof(unknown) - 1);
	}
	bb_u8(&b, 0);
	if (b.bad) {
		bb_release(&b);
		return -ENOMEM;
	}
	*out = (char *)b.v;
	return 0;
}

int ruby_string(const struct ruby_reading *r, uint64_t string, size_t max, char **out)
{
	const struct ruby_layout *l = &r->r->layout;
	uint64_t flags, length, at = string + l->string_text;
	char text[MAX_STRING];
	int err = check_type(r, string, RUBY_T_STRING, &flags);

	if (err)
		return err;
	length = STRING_LENGTH(flags);
	if (flags & NOT_EMBEDDED || l->string_has_length)
		err = target_read_u64(r->m, string + 16, &length);
	if (!err && flags & NOT_EMBEDDED)
		err = target_read_u64(r->m, string + 24, &at);
	if (length > sizeof(text))
		length = sizeof(text);
	if (!err && length)
		err = target_read(r->m, at, text, length);
	return err ? err : copy_text(text, length, max, out);
}

int ruby_element(const struct ruby_reading *r, uint64_t array, uint64_t i, uint64_t *out)
{
	uint64_t flags, length, at = array + 16;
	int err = check_type(r, array, RUBY_T_ARRAY, &flags);

	if (err)
		return err;
	length = flags >> ARRAY_LENGTH_SHIFT & r->r->layout.array_length_mask;
	if (!(flags & NOT_EMBEDDED)) {
		err = target_read_u64(r->m, array + 16, &length);
		if (!err)
			err = target_read_u64(r->m, array + 32, &at);
	}
	if (!err && i >= length)
		err = -ESTALE;
	return err ? err : target_read_u64(r->m, at + 8 * i, out);
}

/* ---- symbols ---- */

/* Whether the four words can be the table, and what it says of number serial: both words. */
static int look_in_table(const struct ruby_reading *r, const uint64_t table[4], uint64_t serial,
			 uint64_t words[WORDS_OF_ID])
{
	const uint64_t last = table[0] & UINT32_MAX, at = serial % IDS_OF_ARRAY * WORDS_OF_ID;
	uint64_t flags, ids;
	int err;

	if (!serial || serial > last || !table[1])
		return -ENOENT;
	err = check_type(r, table[3], RUBY_T_HASH, &flags);
	if (!err)
		err = ruby_element(r, table[2], serial / IDS_OF_ARRAY, &ids);
	for (uint64_t i = 0; !err && i < WORDS_OF_ID; i++)
		err = ruby_element(r, ids, at + i, &words[i]);
	return err;
}

static bool may_be_table(const uint64_t v[4])
{
	return v[0] && v[0] <= UINT32_MAX && v[1] >= 4096 && v[2] >= 4096 && v[3] >= 4096 &&
	       !((v[1] | v[2] | v[3]) & 7);
}

/* Whether an entry's second word, a symbol, is that of id. */
static bool is_symbol_of(const struct ruby_reading *r, uint64_t symbol, uint64_t id)
{
	uint64_t own;

	if (symbol == (id << SYMBOL_SHIFT | SYMBOL_TAG))
		return true;
	/* One that was made at run time is an object. */
	return symbol >= 4096 && !(symbol & 7) &&
	       !target_read_u64(r->m, symbol + SYMBOL_ID, &own) && own == id;
}

/* The entry of id: its name, as a string object. */
static int find_symbol(const struct ruby_reading *r, uint64_t id, uint64_t *string)
{
	const uint64_t serial = id > r->r->layout.last_op_id ? id >> ID_SCOPE_SHIFT : id;
	uint64_t at = r->r->data_vaddr + r->bias, left = r->r->data_bytes / 8, words[WORDS_OF_ID];
	uint64_t data[512], nr;

	for (; left >= 4; at += (nr - 3) * 8, left -= nr - 3) {
		int err;

		nr = left < 512 ? left : 512;
		err = target_read(r->m, at, data, nr * 8);
		if (err)
			return err;
		for (uint64_t i = 0; i + 4 <= nr; i++) {
			if (!may_be_table(data + i) ||
			    look_in_table(r, data + i, serial, words) ||
			    !is_symbol_of(r, words[1], id))
				continue;
			*string = words[0];
			return 0;
		}
	}
	return -ESTALE;
}

int ruby_symbol(const struct ruby_reading *r, uint64_t id, size_t max, char **out)
{
	uint64_t string;
	int err = find_symbol(r, id, &string);

	return err ? err : ruby_string(r, string, max, out);
}

/* ---- classes ---- */

static bool is_called(const struct ruby_reading *r, uint64_t id, const char *name)
{
	char *text = NULL;
	bool is = !ruby_symbol(r, id, 64, &text) && !strcmp(text, name);

	free(text);
	return is;
}

struct table_entry {
	uint64_t hash, key, value;
};

/* A variable that is looked for: of that type, and called a or b. */
struct wanted {
	bool (*is_type)(int);
	const char *a, *b;		/* b: or NULL */
};

static bool is_wanted(const struct ruby_reading *r, const struct wanted *w, uint64_t id,
		      uint64_t value)
{
	uint64_t flags;
	int type = ruby_type(r, value, &flags);

	return type >= 0 && w->is_type(type) &&
	       (is_called(r, id, w->a) || (w->b && is_called(r, id, w->b)));
}

/* Finds what variable_of() finds, by the class's shape. */
static uint64_t variable_by_shape(const struct ruby_reading *r, uint64_t class,
				  const struct wanted *w)
{
	uint64_t vm, shapes, values, flags, id, value;
	uint8_t shape[RUBY_SHAPE_BYTES];
	uint32_t nr, number;

	if (target_read_u64(r->m, r->r->vm_vaddr + r->bias, &vm) ||
	    target_read_u64(r->m, vm + r->r->layout.shapes_of_vm, &shapes) ||
	    target_read_u64(r->m, class + RUBY_CLASS_VALUES, &values) ||
	    target_read_u64(r->m, class, &flags))
		return 0;
	number = (uint32_t)(flags >> 32);
	for (unsigned i = 0; i < MAX_VARIABLES && number; i++) {
		if (target_read(r->m, shapes + (uint64_t)number * RUBY_SHAPE_BYTES, shape,
				sizeof(shape)))
			return 0;
		memcpy(&id, shape + RUBY_SHAPE_ID, sizeof(id));
		memcpy(&nr, shape + RUBY_SHAPE_NR, sizeof(nr));
		memcpy(&number, shape + RUBY_SHAPE_PARENT, sizeof(number));
		if (shape[RUBY_SHAPE_TYPE] != RUBY_SHAPE_OF_VARIABLE || !nr)
			continue;
		if (target_read_u64(r->m, values + 8 * ((uint64_t)nr - 1), &value))
			return 0;
		if (is_wanted(r, w, id, value))
			return value;
	}
	return 0;
}

/* A variable of a class. 0: there is none, or it is not known. */
static uint64_t variable_of(const struct ruby_reading *r, uint64_t class, const struct wanted *w)
{
	uint64_t extension, table, bounds[3];
	struct table_entry e;

	if (r->r->layout.shapes_of_vm)
		return variable_by_shape(r, class, w);
	if (target_read_u64(r->m, class + RUBY_CLASS_EXTENSION, &extension) || !extension ||
	    target_read_u64(r->m, extension + RUBY_EXTENSION_VARIABLES, &table) || !table ||
	    target_read(r->m, table + 32, bounds, sizeof(bounds)))
		return 0;
	for (uint64_t i = bounds[0]; i < bounds[1] && i < bounds[0] + MAX_VARIABLES; i++) {
		if (target_read(r->m, bounds[2] + i * sizeof(e), &e, sizeof(e)))
			return 0;
		if (is_wanted(r, w, e.key, e.value))
			return e.value;
	}
	return 0;
}

static bool is_string(int type)
{
	return type == RUBY_T_STRING;
}

static bool is_class(int type)
{
	return type == RUBY_T_CLASS || type == RUBY_T_MODULE;
}

/* What a singleton class belongs to, if that is a class. 0: it is not, or not known. */
static uint64_t attached_to(const struct ruby_reading *r, uint64_t class)
{
	static const struct wanted attached = { is_class, "__attached__", NULL };
	const uint32_t field = r->r->layout.class_attached;
	uint64_t object, flags;

	if (!field)
		return variable_of(r, class, &attached);
	if (target_read_u64(r->m, class + field, &object))
		return 0;
	return is_class(ruby_type(r, object, &flags)) ? object : 0;
}

/* A string object with the path of a class. 0: it has none. */
static uint64_t path_of(const struct ruby_reading *r, uint64_t class)
{
	static const struct wanted path_name = { is_string, "__classpath__",
						 "__tmp_classpath__" };
	const uint32_t field = r->r->layout.class_path;
	uint64_t path;

	if (!field)
		return variable_of(r, class, &path_name);
	return target_read_u64(r->m, class + field, &path) || path <= NIL ? 0 : path;
}

int ruby_class_prefix(const struct ruby_reading *r, uint64_t class, size_t max, char **out)
{
	uint64_t flags, path = 0;
	int err, type = ruby_type(r, class, &flags);
	bool is_single;

	if (type >= 0 && type == RUBY_T_ICLASS) {
		err = target_read_u64(r->m, class + 8, &class);
		if (err)
			return err;
		type = ruby_type(r, class, &flags);
	}
	if (type < 0 || !is_class(type))
		return type < 0 ? type : -ESTALE;
	is_single = type == RUBY_T_CLASS && flags & r->r->layout.class_singleton;
	if (is_single)
		class = attached_to(r, class);
	if (class)
		path = path_of(r, class);
	if (!path)
		return copy_text("", 0, max, out);
	err = ruby_string(r, path, max - 1, out);
	if (err)
		return err;
	/* There is room for one byte more: text is cut some before max. */
	type = (int)strlen(*out);
	*out = realloc(*out, (size_t)type + 2);
	if (!*out)
		return -ENOMEM;
	strcpy(*out + type, is_single ? "." : "#");
	return 0;
}
