/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/go_runtime.h"

#include <string.h>

#include "src/base/bytes.h"

#define OLD_BP 0x68	/* before Go 1.21 nothing in this code reads it */
#define MAX_FIELD 4096

static int32_t le32(const uint8_t *p)
{
	struct byte_reader r = br_make(p, 4);

	return (int32_t)br_u32(&r);
}

/* The thread-local offset that the instructions that end at code + end load %rax from. */
static bool read_tls(const uint8_t *code, size_t end, int32_t *tls)
{
	static const uint8_t at_once[] = { 0x64, 0x48, 0x8b, 0x04, 0x25 };
	static const uint8_t to_rcx[] = { 0x48, 0xc7, 0xc1 }, by_rcx[] = { 0x64, 0x48, 0x8b, 0x01 };

	if (end >= 9 && !memcmp(code + end - 9, at_once, 5)) {
		*tls = le32(code + end - 4);
		return true;
	}
	if (end >= 11 && !memcmp(code + end - 4, by_rcx, 4) &&
	    !memcmp(code + end - 11, to_rcx, 3)) {
		*tls = le32(code + end - 8);
		return true;
	}
	return false;
}

/* The offset of sched.bp, by mov BP(%rax),%rbp. */
static int32_t read_bp(const uint8_t *code, size_t len)
{
	static const uint8_t to_rbp[] = { 0x48, 0x8b, 0x68 };
	const uint8_t *at = memmem(code, len, to_rbp, sizeof(to_rbp));

	return at && at + 3 < code + len ? at[3] : OLD_BP;
}

bool go_runtime_read(const uint8_t *code, size_t len, struct go_runtime *out)
{
	/* mov 0x30(%rax),%rbx; mov CURG(%rbx),%rax */
	static const uint8_t to_curg[] = { 0x48, 0x8b, 0x58, 0x30, 0x48, 0x8b, 0x83 };
	const uint8_t *at = memmem(code, len, to_curg, sizeof(to_curg));
	int32_t tls, curg;

	if (!at || (size_t)(code + len - at) < sizeof(to_curg) + 4 ||
	    !read_tls(code, (size_t)(at - code), &tls))
		return false;
	at += sizeof(to_curg);
	curg = le32(at);
	if (curg <= 0 || curg > MAX_FIELD || curg % 8 || tls % 8)
		return false;
	*out = (struct go_runtime){ true, tls, curg,
				    read_bp(at + 4, (size_t)(code + len - at - 4)) };
	return true;
}
