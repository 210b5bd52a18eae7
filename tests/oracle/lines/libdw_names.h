/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of C++ functions that have none for the linker, and of lambdas, with libdw: what src/debug_info/unit_names.c makes. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#define LIBDW_NAME_BYTES 4096

/* The path of the file that a declaration says, or NULL. */
typedef const char *(*libdw_path_fn)(void *ctx, Dwarf_Die *die);

struct libdw_name {
	char text[LIBDW_NAME_BYTES];
	bool is_lambda;
};

/* false: the function has a name for the linker that says it all, or none at all. */
bool libdw_name_function(Dwarf_Die *die, libdw_path_fn path_of, void *ctx, struct libdw_name *name);
