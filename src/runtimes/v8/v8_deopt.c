/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_deopt.h"

#include <errno.h>

#define WEAK 2				/* beside V8_TAG */
#define WRAPPED 8			/* where a wrapper has its object */

int v8_deopt_element(const struct v8_deopt *d, uint64_t array, uint32_t i, uint64_t *v)
{
	uint64_t length;
	int err = (array & 1) ? target_read_u64(d->m, (array & ~3ull) + V8_ARRAY_LENGTH, &length)
			      : -ESTALE;

	if (!err && i >= length >> 32)
		err = -ESTALE;
	return err ? err : target_read_u64(d->m, (array & ~3ull) + V8_ARRAY_DATA + 8ull * i, v);
}

int v8_deopt_function(const struct v8_deopt *d, uint64_t *shared)
{
	int err = v8_deopt_element(d, d->data, d->l->deopt_shared, shared);

	if (!err && d->l->deopt_wraps)
		err = target_read_u64(d->m, (*shared & ~3ull) + WRAPPED, shared);
	return err;
}

int v8_deopt_literal(const struct v8_deopt *d, int32_t i, uint64_t *object)
{
	uint64_t literals;
	int err = i < 0 ? -ESTALE
			: v8_deopt_element(d, d->data, d->l->deopt_literals, &literals);

	if (!err)
		err = v8_deopt_element(d, literals, (uint32_t)i, object);
	*object = err ? 0 : *object & ~(uint64_t)WEAK;
	return err;
}
