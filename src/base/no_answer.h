/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors that say nothing about what was asked for, only that whoever was to answer could not: it
 * ended, it took too long, it was not asked because others had cost too much, or it had no memory
 * or descriptors. What is missing for such a reason is a loss; a file without names is none.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool is_no_answer(int err)
{
	static const int errors[] = { EPIPE,  ETIMEDOUT, ECANCELED, EBUSY,  ENOMEM,
				      EMFILE, ENFILE,	 EPROTO,    EAGAIN, ETOOMANYREFS };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (err == -errors[i])
			return true;
	return false;
}
