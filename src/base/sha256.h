/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SHA-256 (FIPS 180-4), for the hashes by which a page names the only script and the only style
 * sheet that a browser may use in it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

void sha256(const void *data, size_t len, uint8_t digest[SHA256_BYTES]);
