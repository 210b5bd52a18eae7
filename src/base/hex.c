/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/hex.h"

char *hex_put(char *out, const uint8_t *bytes, size_t nr)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < nr; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = 0;
	return out;
}
