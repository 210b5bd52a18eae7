/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some names would keep libiberty busy for years without a byte of output. The caller can stop a
 * demangler that writes too much, but not one that only searches. So this finds such names before
 * libiberty gets them. None of the 150,000 names of LLVM, Clang, Node and libstdc++ is one. Found
 * by reading libiberty's cp-demangle.c and d-demangle.c of 2023:
 *
 *  - d_find_pack() walks a type each time that a pack expansion is printed, and a type that is used
 *    twice, it walks twice: a pair of pairs of pairs ... is 2^depth steps. The tree is measured as
 *    such a walk would go, but each part once.
 *  - The type of a conversion operator ("cv") that ends in template arguments is parsed twice, and
 *    so are conversions within the arguments: T_IT_IT_I... is 2^depth steps.
 *  - A type of D may be a reference to an earlier one, which holds two more of them; and what may
 *    be a function is parsed as one, and then again as none. Names of D with more than 16 places
 *    where this could happen stay mangled, most of them templates of the standard library.
 */
#pragma once

#include <stdbool.h>

/* name: a mangled name of C++, "_Z..." */
bool demangle_is_cxx_bomb(const char *name);

/* name: a mangled name of D, "_D..." */
bool demangle_is_d_bomb(const char *name);
