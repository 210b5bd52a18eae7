/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of 7.4, 8.2 and 8.4 were compared with the memory of processes; the others follow from
 * which fields the versions between have added to struct _zend_op_array (Zend/zend_compile.h). A
 * row that is wrong gives no names: php_names.c checks what it reads.
 */
#include "src/runtimes/php/php_layout.h"

#include <errno.h>
#include <stddef.h>

#define MAX_OFFSET 512

/* zend_generator_node and zend_object_iterator changed with 8.0. */
#define GENERATOR_7 .generator_call = 64, .generator_parent = 160, .generator_fake = 240
#define GENERATOR .generator_call = 56, .generator_parent = 152, .generator_fake = 184

static const struct php_layout rows[] = {
	{ 0x0704, .current = 488, .last = 60, .opcodes = 64, .filename = 136, .line_start = 144,
	  GENERATOR_7 },
	/* Attributes came in front. */
	{ 0x0800, .current = 488, .last = 68, .opcodes = 72, .filename = 144, .line_start = 152,
	  GENERATOR },
	{ 0x0801, .current = 488, .last = 68, .opcodes = 72, .filename = 144, .line_start = 152,
	  GENERATOR },
	/* T and run_time_cache went in front of what only user functions have. */
	{ 0x0802, .current = 488, .last = 80, .opcodes = 88, .filename = 152, .line_start = 160,
	  GENERATOR },
	/* These two changed places, which saved a gap. */
	{ 0x0803, .current = 488, .last = 76, .opcodes = 80, .filename = 144, .line_start = 152,
	  GENERATOR },
	/* doc_comment went in front, prop_info was added. */
	{ 0x0804, .current = 488, .last = 96, .opcodes = 104, .filename = 168, .line_start = 176,
	  GENERATOR },
};

int php_layout_of(uint32_t version, struct php_layout *out)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].version != version)
			continue;
		*out = rows[i];
		return 0;
	}
	return -ENOTSUP;
}

bool php_layout_is_sound(const struct php_layout *l)
{
	return l->current <= MAX_OFFSET && l->last <= MAX_OFFSET && l->opcodes <= MAX_OFFSET &&
	       l->filename <= MAX_OFFSET && l->line_start <= MAX_OFFSET &&
	       l->generator_call <= MAX_OFFSET && l->generator_parent <= MAX_OFFSET &&
	       l->generator_fake <= MAX_OFFSET && !(l->current % 8) &&
	       !(l->last % 4) && !(l->opcodes % 8) && !(l->filename % 8) && !(l->line_start % 8);
}
