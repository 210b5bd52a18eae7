/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_bytecodes.h"

#include <errno.h>
#include <stdlib.h>

#include "src/runtimes/v8/v8_strings.h"

/* Those behind InterpreterData, if it is that: see v8_program.c. */
static uint64_t behind_data(const struct target_memory *m, const struct v8_layout *l, uint64_t data)
{
	uint64_t behind;
	uint32_t type;

	if ((data & 3) != V8_TAG || v8_type_of(m, data, &type) || type != l->type_interpreter ||
	    target_read_u64(m, data - V8_TAG + V8_INTERPRETER_BYTECODE, &behind))
		return data;
	return behind;
}

int v8_bytecodes_find(const struct target_memory *m, const struct v8_layout *l, uint64_t data,
		      uint64_t *bytecodes, struct v8_code *baseline)
{
	int err = (data & 3) == V8_TAG ? v8_code_read_object(m, l, data, baseline) : -ENOENT;

	*bytecodes = behind_data(m, l, err ? data : baseline->data);
	return err == -ESTALE ? -ENOENT : err;
}

int v8_bytecodes_positions(const struct target_memory *m, const struct v8_layout *l,
			   uint64_t bytecodes, struct v8_position **out)
{
	uint8_t *table = NULL;
	uint64_t array;
	int nr = target_read_u64(m, bytecodes - V8_TAG + l->bytecode_positions, &array);

	if (!nr)
		nr = v8_bytes_read(m, array, &table);
	if (nr >= 0)
		nr = v8_positions_decode(table, (size_t)nr, out);
	free(table);
	return nr;
}

int v8_bytecodes_character(const struct target_memory *m, const struct v8_layout *l,
			   uint64_t shared, int32_t offset, int32_t *character)
{
	const struct v8_position *p;
	struct v8_position *v = NULL;
	struct v8_code baseline;
	uint64_t data, bytecodes;
	uint32_t type;
	int nr = v8_type_of(m, shared, &type);

	*character = -1;
	if (!nr && type != l->type_shared)
		nr = -ESTALE;
	if (!nr)
		nr = target_read_u64(m, shared - V8_TAG + l->shared_data, &data);
	if (nr || offset < 0)
		return nr;
	v8_bytecodes_find(m, l, data, &bytecodes, &baseline);
	nr = v8_bytecodes_positions(m, l, bytecodes, &v);
	p = nr > 0 ? v8_position_at(v, (size_t)nr, (uint32_t)offset) : NULL;
	if (p)
		*character = p->character;
	free(v);
	return nr == -ENOMEM ? nr : 0;
}
