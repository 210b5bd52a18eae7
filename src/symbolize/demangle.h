/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns mangled names of C++ (Itanium ABI) and Rust (legacy and v0) into readable ones, without
 * parameter lists: "std::vector<int>::push_back". Names are foreign and may be bombs (250 bytes can
 * mean 500 MB), so input and output are limited, and work stops at the limit. Thread-safe.
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

/* The language that the form of a name suggests: enum func_lang of src/model/record.h. */
uint8_t demangle_lang(const char *sysname);
