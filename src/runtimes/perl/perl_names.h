/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Perl's code is called: the functions of runtime.h about code objects, of this runtime.
 *
 *	Package::sub		main::__ANON__ of one without name
 *	{main}			the script
 *	{require}, {eval}	code of a file that was loaded, of a string
 *	{block}			that sort has called
 *
 * A sub that is gone is recognized by the cookie (perl_program.h), other code by its line.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/runtime.h"

struct kept_memory;

int perl_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		   enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		   struct runtime_code **out);
int perl_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line);
