/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns mangled names into readable ones, with libiberty:
 *
 *	C++	"std::vector<int>::push_back(int const&)", as gdb, nm -C and c++filt -i print names
 *		of the Itanium ABI: with parameters, qualifiers, ABI tags, the return type of a
 *		template ("int f<int>(int)"), and "[clone .cold]" for a part that GCC has split off
 *	Rust	v0 and legacy, without the hash: "core::fmt::write"
 *	D	"std.stdio.File.writeln(immutable(char)[])"
 *	Ada	GNAT's "ada.text_io.put_line"; by demangle_ada() only, because "put__line" is a
 *		name of C as well, so the caller must know the program
 *
 * Swift's names ("$s4main...") stay as they are: no library for C reads them.
 *
 * Names are foreign and may be bombs (250 bytes can mean 500 MB, or a year without output:
 * demangle_bombs.h), so input and output are limited, and work stops at the limit. Thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/bytes.h"

#define DEMANGLE_MAX_IN 4096
#define DEMANGLE_MAX_OUT 65536

/*
 * Appends the readable name and a NUL to out and returns 1. 0: sysname is not mangled or over a
 * limit; nothing is appended, and sysname should be shown. Or -ENOMEM.
 */
int demangle(const char *sysname, struct byte_buf *out);

/*
 * Appends the name without parameters, return types and clones, as people type it: "foo::bar".
 * Returns what demangle() does.
 */
int demangle_bare(const char *sysname, struct byte_buf *out);

/*
 * Appends a name of a program that is known to have code from GNAT: "pack__f" is "pack.f". Returns
 * what demangle() does.
 */
int demangle_ada(const char *sysname, struct byte_buf *out);
bool demangle_is_ada(const char *sysname);	/* it may be one, by its form */

/* The language that the form of a name suggests: enum func_lang of src/model/record.h. */
uint8_t demangle_lang(const char *sysname);
