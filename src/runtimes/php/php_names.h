/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What PHP's functions say: the functions of runtime.h about code objects, of this runtime.
 *
 *	Class::method		a method; of a function written in C, too, which has no file
 *	namespace\function
 *	{closure}		or Class::{closure}; since 8.4 {closure:Class::method():12}
 *	{main}			code of a file that C has run: the script
 *	{include}		code of a file that other code has included
 *	{eval}			the file says where: "a.php(3) : eval()'d code"
 *
 * A function that is gone is recognized by the cookie (php_program.h), and by operations that lie
 * outside of those that it has.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/runtime.h"

struct kept_memory;

int php_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		  enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		  struct runtime_code **out);
int php_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line);
