/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two kinds of errors are told apart. One kind is an answer: the file is no ELF file, or has no
 * names. The other kind means that there is no answer: the helper ended, took too long, had no
 * memory or no descriptors, or was not asked because the user's files had cost too much time. Only
 * the second kind is a loss.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool is_no_answer(int err)
{
	static const int errors[] = { EPIPE,  ETIMEDOUT, ECANCELED, EBUSY,  ENOMEM,
				      EMFILE, ENFILE,	 EPROTO,    EAGAIN, ETOOMANYREFS,
				      EOWNERDEAD };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (err == -errors[i])
			return true;
	return false;
}
