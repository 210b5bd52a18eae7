/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/call_before.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#define FAR (512 << 20)

/* The bytes of an x86 instruction of one opcode byte from its ModRM byte on. */
static size_t operand_bytes(const uint8_t *modrm)
{
	uint8_t mod = modrm[0] >> 6, rm = modrm[0] & 7;
	size_t sib = mod != 3 && rm == 4;

	if (mod == 1)
		return 2 + sib;
	if (mod == 2 || (mod == 0 && rm == 5) || (mod == 0 && sib && (modrm[1] & 7) == 5))
		return 5 + sib;
	return 1 + sib;
}

static bool is_x86_call(const uint8_t *end)
{
	int32_t distance;

	memcpy(&distance, end - 4, sizeof(distance));
	if (end[-5] == 0xe8 && distance > -FAR && distance < FAR)
		return true;
	for (int len = 2; len <= 7; len++) {
		const uint8_t *insn = end - len;

		/* ff /2; a ModRM byte in the last place has no SIB byte behind it */
		if (insn[0] == 0xff && (insn[1] & 0x38) == 0x10 &&
		    (len > 2 || (insn[1] & 7) != 4 || insn[1] >> 6 == 3) &&
		    operand_bytes(insn + 1) + 1 == (size_t)len)
			return true;
	}
	return false;
}

/* BL, or BLR with or without pointer authentication. */
static bool is_arm64_call(const uint8_t *end)
{
	uint32_t insn;

	memcpy(&insn, end - 4, sizeof(insn));
	return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfefff000) == 0xd63f0000;
}

bool code_ends_in_call(uint16_t machine, const uint8_t code[CALL_BYTES_MAX])
{
	const uint8_t *end = code + CALL_BYTES_MAX;

	if (machine == EM_X86_64 || machine == EM_386)
		return is_x86_call(end);
	return machine != EM_AARCH64 || is_arm64_call(end);
}
