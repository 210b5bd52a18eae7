/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/x86_insn.h"

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static struct x86_insn decode(const uint8_t *p, size_t len)
{
	struct x86_insn insn;

	x86_decode(p, len, &insn);
	return insn;
}

/* Exactly as long as given: one byte less is cut off, more bytes do not matter. */
static void check_length(const uint8_t *p, size_t len)
{
	uint8_t more[64] = { 0 };
	struct x86_insn insn;

	memcpy(more, p, len);
	assert_int_equal(x86_decode(p, len, &insn), len);
	assert_int_equal(x86_decode(more, sizeof(more), &insn), len);
	for (size_t n = 0; n < len; n++)
		assert_int_equal(x86_decode(p, n, &insn), 0);
}

static void test_lengths(void **state)
{
	(void)state;
	check_length(BYTES(0x90));
	check_length(BYTES(0xc3));
	check_length(BYTES(0x41, 0x57));					/* push %r15 */
	check_length(BYTES(0x48, 0x89, 0xe5));					/* mov %rsp,%rbp */
	check_length(BYTES(0x48, 0x83, 0xec, 0x08));				/* sub $8,%rsp */
	check_length(BYTES(0x48, 0x81, 0xec, 0, 1, 0, 0));			/* sub $256,%rsp */
	check_length(BYTES(0x48, 0x8b, 0x44, 0x24, 0x08));			/* mov 8(%rsp),%rax */
	check_length(BYTES(0x48, 0x8d, 0x05, 1, 2, 3, 4));			/* lea x(%rip),%rax */
	check_length(BYTES(0x8b, 0x04, 0x25, 1, 2, 3, 4));			/* mov abs32,%eax */
	check_length(BYTES(0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8));		/* movabs */
	check_length(BYTES(0x66, 0xb8, 1, 2));					/* mov $,%ax */
	check_length(BYTES(0xa1, 1, 2, 3, 4, 5, 6, 7, 8));			/* mov moffs,%eax */
	check_length(BYTES(0xc8, 0x10, 0, 0));					/* enter */
	check_length(BYTES(0xf6, 0x04, 0x24, 1));				/* testb $1,(%rsp) */
	check_length(BYTES(0xf7, 0xd8));					/* neg %eax */
	check_length(BYTES(0xf7, 0xc0, 1, 2, 3, 4));				/* test $,%eax */
	check_length(BYTES(0xf3, 0x0f, 0x1e, 0xfa));				/* endbr64 */
	check_length(BYTES(0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0));	/* nopw */
	check_length(BYTES(0x0f, 0x84, 1, 2, 3, 4));				/* je */
	check_length(BYTES(0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4));		/* data16 data16 call */
	check_length(BYTES(0x66, 0x0f, 0x38, 0x00, 0xc1));			/* pshufb */
	check_length(BYTES(0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8));			/* palignr */
	check_length(BYTES(0xc5, 0xf8, 0x77));					/* vzeroupper */
	check_length(BYTES(0xc5, 0xf9, 0x6f, 0x04, 0x24));			/* vmovdqa (%rsp),%xmm0 */
	check_length(BYTES(0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1));			/* vextracti128 */
	check_length(BYTES(0xc4, 0xe2, 0xf8, 0xf2, 0xc1));			/* andn */
	check_length(BYTES(0x62, 0xf1, 0x7d, 0x48, 0x6f, 0x44, 0x24, 1));	/* vmovdqa32 64(%rsp),%zmm0 */
	check_length(BYTES(0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 0x96));		/* vpternlogd */
	check_length(BYTES(0x8f, 0xe9, 0x78, 0x12, 0xc0));			/* XOP */
	check_length(BYTES(0x8f, 0x04, 0x24));					/* pop (%rsp) */
}

static void test_what_is_none(void **state)
{
	struct x86_insn insn;

	(void)state;
	assert_int_equal(x86_decode(BYTES(0x06, 0, 0, 0), &insn), 0);		/* not in 64-bit mode */
	assert_int_equal(x86_decode(BYTES(0x0f, 0x04, 0, 0), &insn), 0);
	assert_int_equal(x86_decode(BYTES(0x62, 0xf8, 0x7d, 0x48, 0x6f, 0xc0), &insn), 0);
	assert_int_equal(x86_decode(BYTES(0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
					  0x66, 0x66, 0x90), &insn), 0);	/* 16 bytes */
	assert_int_equal(x86_decode(BYTES(0xc4, 0xe0, 0x78, 0x10, 0xc0), &insn), 0);	/* no map 0 */
}

static void test_flow(void **state)
{
	(void)state;
	assert_int_equal(decode(BYTES(0xe8, 0xfb, 0xff, 0xff, 0xff)).flow, X86_CALL);
	assert_int_equal(decode(BYTES(0xe8, 0xfb, 0xff, 0xff, 0xff)).imm, -5);
	assert_int_equal(decode(BYTES(0xeb, 0x80)).flow, X86_JUMP);
	assert_int_equal(decode(BYTES(0xeb, 0x80)).imm, -128);
	assert_int_equal(decode(BYTES(0x75, 0x7f)).flow, X86_BRANCH);
	assert_int_equal(decode(BYTES(0xe3, 0x7f)).flow, X86_BRANCH);
	assert_int_equal(decode(BYTES(0x0f, 0x8f, 0, 0, 0, 0)).flow, X86_BRANCH);
	assert_int_equal(decode(BYTES(0xff, 0xe0)).flow, X86_JUMP_ANY);
	assert_int_equal(decode(BYTES(0x3e, 0xff, 0xe0)).flow, X86_JUMP_ANY);
	assert_int_equal(decode(BYTES(0xff, 0xd0)).flow, X86_CALL_ANY);
	assert_int_equal(decode(BYTES(0xff, 0x25, 0, 0, 0, 0)).flow, X86_JUMP_ANY);
	assert_true(decode(BYTES(0xff, 0x25, 0, 0, 0, 0)).is_rip);
	assert_int_equal(decode(BYTES(0xff, 0x30)).flow, X86_NEXT);		/* push (%rax) */
	assert_int_equal(decode(BYTES(0xf3, 0xc3)).flow, X86_RETURN);
	assert_int_equal(decode(BYTES(0x0f, 0x0b)).flow, X86_STOP);
	assert_int_equal(decode(BYTES(0xf4)).flow, X86_STOP);
	assert_int_equal(decode(BYTES(0xc5, 0xf9, 0xe8, 0xc0)).flow, X86_NEXT);	/* vpsubsb, not a call */
}

static void test_who_is_written(void **state)
{
	(void)state;
	assert_int_equal(x86_writes(&(struct x86_insn){ 0 }), 0);
#define WRITES(mask, ...) do { struct x86_insn i = decode(BYTES(__VA_ARGS__)); assert_int_equal(x86_writes(&i), mask); } while (0)
	WRITES(1 << X86_BP, 0x31, 0xed);				/* xor %ebp,%ebp */
	WRITES(1 << X86_BP, 0x48, 0x8b, 0x6f, 0x08);			/* mov 8(%rdi),%rbp */
	WRITES(0, 0x48, 0x89, 0x6c, 0x24, 0x08);			/* mov %rbp,8(%rsp) */
	WRITES(1 << X86_BP, 0xbd, 1, 0, 0, 0);				/* mov $1,%ebp */
	WRITES(1 << 13, 0x41, 0xbd, 1, 0, 0, 0);			/* mov $1,%r13d */
	WRITES(0, 0x48, 0x39, 0xe5);					/* cmp %rsp,%rbp */
	WRITES(0, 0x48, 0x83, 0xfd, 1);					/* cmp $1,%rbp */
	WRITES(1 << X86_BP, 0x48, 0x83, 0xc5, 1);			/* add $1,%rbp */
	WRITES(0, 0x85, 0xed);						/* test %ebp,%ebp */
	WRITES(1 << 1, 0xb5, 1);					/* mov $1,%ch: a part of rcx */
	WRITES(1 << 3, 0x80, 0xcf, 1);					/* or $1,%bh */
	WRITES(1 << 3, 0x0f, 0x00, 0xc3);				/* sldt %ebx */
	WRITES(1 << 3, 0x0f, 0xb4, 0x1e);				/* lfs (%rsi),%ebx */
	WRITES(0, 0x0f, 0x38, 0xf1, 0x44, 0x24, 0x0c);			/* movbe %eax,12(%rsp) */
	WRITES(1, 0xf2, 0x0f, 0x38, 0xf1, 0xc1);			/* crc32 %ecx,%eax */
	WRITES(0, 0xc5, 0xfa, 0x7e, 0xc0);				/* vmovq %xmm0,%xmm0 */
	WRITES(1, 0xc5, 0xf9, 0x7e, 0xc0);				/* vmovd %xmm0,%eax */
	WRITES(1 << X86_BP, 0x40, 0xb5, 1);				/* mov $1,%bpl */
	WRITES(1 << X86_BP | 1, 0x48, 0x87, 0xe8);			/* xchg %rbp,%rax */
	WRITES(1 << X86_BP, 0x0f, 0xb6, 0x28);				/* movzbl (%rax),%ebp */
	WRITES(0, 0x0f, 0x28, 0xe9);					/* movaps: a vector register */
	WRITES(1 << X86_BP, 0xf2, 0x0f, 0x2d, 0xe8);			/* cvtsd2si %xmm0,%ebp */
	WRITES(0, 0x0f, 0x2d, 0xe8);					/* cvtps2pi: MMX */
	WRITES(1 << X86_BP, 0xc4, 0xe2, 0x78, 0xf2, 0xe9);		/* andn %ecx,%eax,%ebp */
	WRITES(0, 0xc5, 0xf8, 0x28, 0xe9);				/* vmovaps */
	WRITES(1 << X86_SP, 0x48, 0x83, 0xe4, 0xf0);			/* and $-16,%rsp */
}

static void test_padding(void **state)
{
	static const struct { uint8_t bytes[10], len, is_padding; } cases[] = {
		{ { 0x90 }, 1, 1 }, { { 0x66, 0x90 }, 2, 1 }, { { 0xcc }, 1, 1 }, { { 0x0f, 0x1f, 0x40, 0 }, 4, 1 },
		{ { 0xf3, 0x90 }, 2, 0 }, { { 0x41, 0x90 }, 2, 0 }, { { 0xc3 }, 1, 0 }, { { 0x00, 0x00 }, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct x86_insn insn = decode(cases[i].bytes, cases[i].len);

		assert_int_equal(insn.len, cases[i].len);
		assert_int_equal(x86_is_padding(&insn), cases[i].is_padding);
	}
}

/* Numbers of registers: ax 0, cx 1, dx 2, bx 3, sp 4, bp 5, si 6, di 7, r8 8, ... */
static void check_may_write(unsigned want, const uint8_t *p, size_t len)
{
	struct x86_insn insn = decode(p, len);

	assert_int_equal(insn.len, len);
	for (unsigned reg = 0; reg < 16; reg++) {
		if (x86_may_write(&insn, reg) != (want >> reg & 1))
			fail_msg("byte %02x: register %u", p[0], reg);
	}
}

static void test_may_write(void **state)
{
	const unsigned lower = 0xff, all = 0xffff;

	(void)state;
	check_may_write(0, BYTES(0x90));				/* nop */
	check_may_write(0, BYTES(0x66, 0x90));				/* xchg %ax,%ax */
	check_may_write(0, BYTES(0xf3, 0x90));				/* pause */
	check_may_write(0x1ff, BYTES(0x49, 0x90));			/* xchg %r8,%rax */
	check_may_write(0, BYTES(0x49, 0x83, 0xfb, 1));			/* cmp $1,%r11 */
	check_may_write(0, BYTES(0x49, 0x89, 0x03));			/* mov %rax,(%r11) */
	check_may_write(1u << 11, BYTES(0x4c, 0x8b, 0x18));		/* mov (%rax),%r11 */
	check_may_write(1u << 3, BYTES(0x31, 0xdb));			/* xor %ebx,%ebx */
	check_may_write(1u << 4, BYTES(0x53));				/* push %rbx */
	check_may_write(1u << 4 | 1u << 3, BYTES(0x5b));		/* pop %rbx */
	check_may_write(1u << 4 | 1u << 5, BYTES(0xc9));		/* leave */
	check_may_write(1u << 4, BYTES(0x48, 0x83, 0xec, 8));		/* sub $8,%rsp */
	check_may_write(1u << 11 | 1u << 1, BYTES(0x0f, 0x05));		/* syscall */
	check_may_write(lower, BYTES(0x0f, 0xa2));			/* cpuid: ax, bx, cx, dx */
	check_may_write(lower, BYTES(0x48, 0xf7, 0xe1));		/* mul %rcx: ax, dx */
	check_may_write(1u << 1, BYTES(0x48, 0xf7, 0xd9));		/* neg %rcx */
	check_may_write(1u << 3, BYTES(0x80, 0xcf, 1));			/* or $1,%bh */
	check_may_write(lower, BYTES(0xdf, 0xe0));			/* fnstsw %ax */
	check_may_write(0, BYTES(0xdf, 0xe1));				/* no instruction, no writes */
	check_may_write(lower, BYTES(0x0f, 0xa7, 0xc0));		/* xstore: ax, di */
	check_may_write(lower, BYTES(0xf3, 0x48, 0xa5));		/* rep movsq: cx, si, di */
	check_may_write(lower, BYTES(0xf0, 0x48, 0x0f, 0xb1, 0x0a));	/* lock cmpxchg %rcx,(%rdx): ax */
	check_may_write(all, BYTES(0xc4, 0xe2, 0xf3, 0xf6, 0xc2));	/* mulx: a register that is not decoded */
	check_may_write(0, BYTES(0xc4, 0xc2, 0x01, 0xdc, 0xc9));	/* vaesenc %xmm9,%xmm15,%xmm1 */
	check_may_write(1u << 1 | 1u << 11, BYTES(0x66, 0x0f, 0x3a, 0x63, 0xc1, 0));	/* pcmpistri: cx */
	check_may_write(0, BYTES(0x0f, 0x1f, 0x44, 0, 0));		/* nopl */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_may_write),
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_who_is_written),
		cmocka_unit_test(test_padding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
