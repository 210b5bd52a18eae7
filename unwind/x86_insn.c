/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/x86_insn.h"

#include <string.h>

/*
 * What follows an opcode, one letter for each of the 256, 16 a row:
 *	.  nothing		M  ModRM		x  no instruction in 64-bit mode
 *	b  imm8			B  ModRM, imm8		w  imm16	e  imm16, imm8 (enter)
 *	z  imm32, with 66: 16	Z  ModRM, the same	v  imm32, with 66: 16, with REX.W: 64
 *	j  rel8			J  rel32		a  address: 8 bytes, with 67: 4
 *	G  ModRM; an immediate if the reg field is 0 or 1 (test): imm8 for an even opcode, else as z
 *	p  prefix		r  REX			V  VEX		E  EVEX
 */
static const char one_byte[] =
	"MMMMbzxxMMMMbzx." "MMMMbzxxMMMMbzxx" "MMMMbzpxMMMMbzpx" "MMMMbzpxMMMMbzpx"
	"rrrrrrrrrrrrrrrr" "................" "xxEMppppzZbB...." "jjjjjjjjjjjjjjjj"
	"BZxBMMMMMMMMMMMM" "..........x....." "aaaa....bz......" "bbbbbbbbvvvvvvvv"
	"BBw.VVBZe.w..bx." "MMMMxxx.MMMMMMMM" "jjjjbbbbJJxj...." "p.pp..GG......MM";

static const char two_byte[] =
	"MMMMx.....x.xM.B" "MMMMMMMMMMMMMMMM" "MMMMxxxxMMMMMMMM" "........x.x.xxxx"
	"MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "BBBBMMM.MMxxMMMM"
	"JJJJJJJJJJJJJJJJ" "MMMMMMMMMMMMMMMM" "...MBMMM...MBMMM" "MMMMMMMMMMBMMMMM"
	"MMBMBBBM........" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM";

/*
 * Which general registers an instruction writes:
 *
 *	r  the reg field	m  the rm field		x  both		o  that in the opcode
 *	c  rm, unless reg is 7 (cmp)			n  rm, if reg is 2 or 3 (not, neg)
 *	i  rm, if reg is 0 or 1 (inc, dec, sldt, str)	t  rm, if reg is 5 or more (bts, btr, btc)
 *	7  rm, if reg is 6 or 7 (rdrand, rdseed)	d  rm, without f3 (movq)
 *	f  reg, with f2 or f3 (without: MMX, or read by movbe)
 */
static const char one_byte_writes[] =
	"mmrr....mmrr...." "mmrr....mmrr...." "mmrr....mmrr...." "mmrr............"
	"................" "........oooooooo" "...r.....r.r...." "................"
	"cc.c..xxmmrrmr.m" "oooooooo........" "................" "oooooooooooooooo"
	"mm....mm........" "mmmm............" "................" "......nn......ii";

static const char two_byte_writes[] =
	"i.rr............" "................" "mm..........ff.." "................"
	"rrrrrrrrrrrrrrrr" "r..............." "................" "..............d."
	"................" "mmmmmmmmmmmmmmmm" "....mm.....mmm.r" "mmrmrrrrr.tmrrrr"
	"xx...r.7oooooooo" ".......r........" "................" "................";

/* The rest: opcodes of the other maps and of VEX that write a general register. */
static const struct other_write {
	uint8_t map, op;
	bool is_vex;
	char what;
} other_writes[] = {
	{ X86_0F38, 0xf0, false, 'r' }, { X86_0F38, 0xf1, false, 'f' },
	{ X86_0F38, 0xf6, false, 'r' }, { X86_0F3A, 0x14, false, 'm' },
	{ X86_0F3A, 0x15, false, 'm' }, { X86_0F3A, 0x16, false, 'm' },
	{ X86_0F3A, 0x17, false, 'm' }, { X86_0F, 0x2c, true, 'r' },
	{ X86_0F, 0x2d, true, 'r' },	{ X86_0F, 0x50, true, 'r' },
	{ X86_0F, 0x7e, true, 'd' },	{ X86_0F, 0x93, true, 'r' },
	{ X86_0F, 0xc5, true, 'r' },	{ X86_0F, 0xd7, true, 'r' },
	{ X86_0F38, 0xf2, true, 'r' },	{ X86_0F38, 0xf5, true, 'r' },
	{ X86_0F38, 0xf6, true, 'r' },	{ X86_0F38, 0xf7, true, 'r' },
	{ X86_0F3A, 0x14, true, 'm' },	{ X86_0F3A, 0x15, true, 'm' },
	{ X86_0F3A, 0x16, true, 'm' },	{ X86_0F3A, 0x17, true, 'm' },
	{ X86_0F3A, 0xf0, true, 'r' },
};

#define MAX_READ 32		/* bytes; more than an instruction has, so loads can be wide */

struct cursor {
	const uint8_t *p, *end;
	bool addr32;			/* prefix 67 */
	bool cut;
};

static uint8_t byte(struct cursor *c)
{
	if (c->p == c->end) {
		c->cut = true;
		return 0;
	}
	return *c->p++;
}

/* Reads a little-endian number of n <= 8 bytes, sign-extended; this machine has that order. */
static int64_t number(struct cursor *c, unsigned n)
{
	size_t left = (size_t)(c->end - c->p);
	uint64_t v = 0;

	if (left < n || !n) {
		c->cut |= n;
		return 0;
	}
	if (left >= 8)
		memcpy(&v, c->p, 8);	/* one load; higher bytes are shifted out */
	else
		memcpy(&v, c->p, n);
	c->p += n;
	return (int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);
}

static void modrm(struct cursor *c, struct x86_insn *in)
{
	uint8_t b = byte(c), sib, rm = b & 7;

	in->has_modrm = true;
	in->mod = b >> 6;
	in->reg = (uint8_t)((b >> 3 & 7) | (in->rex & 4) << 1);
	in->rm = (uint8_t)(rm | (in->rex & 1) << 3);
	in->base = in->index = X86_NO_REG;
	in->scale = 1;
	if (in->map == X86_0F && in->op >= 0x20 && in->op <= 0x23)
		in->mod = 3;		/* control and debug registers: never memory */
	if (in->mod == 3)
		return;
	in->base = in->rm;
	if (rm == 4) {
		sib = byte(c);
		in->scale = (uint8_t)(1 << (sib >> 6));
		in->index = (uint8_t)((sib >> 3 & 7) | (in->rex & 2) << 2);
		if (in->index == 4)
			in->index = X86_NO_REG;
		in->base = (uint8_t)((sib & 7) | (in->rex & 1) << 3);
		rm = sib & 7;
	}
	if (in->mod == 0 && rm == 5) {
		in->is_rip = in->base == in->rm;
		in->base = X86_NO_REG;
		in->disp = (int32_t)number(c, 4);
	} else if (in->mod) {
		in->disp = (int32_t)number(c, in->mod == 1 ? 1 : 4);
	}
}

static unsigned imm_z(const struct x86_insn *in)
{
	return in->opsize && !(in->rex & 8) ? 2 : 4;
}

/* The size in bytes of the immediate that a letter of the tables stands for. */
static unsigned imm_size(const struct cursor *c, const struct x86_insn *in, char what)
{
	switch (what) {
	case 'b':
	case 'B':
	case 'j':
		return 1;
	case 'z':
	case 'Z':
		return imm_z(in);
	case 'J':
		return 4;
	case 'v':
		return in->rex & 8 ? 8 : imm_z(in);
	case 'a':
		return c->addr32 ? 4 : 8;
	case 'w':
	case 'e':
		return 2;
	case 'G':
		return (in->reg & 7) > 1 ? 0 : in->op & 1 ? imm_z(in) : 1;
	default:
		return 0;
	}
}

static bool operands(struct cursor *c, struct x86_insn *in, char what)
{
	if (what == 'x')
		return false;
	if (what == 'M' || what == 'B' || what == 'Z' || what == 'G')
		modrm(c, in);
	if (what == 'M' || what == '.')
		return true;
	in->imm = number(c, imm_size(c, in, what));
	if (what == 'e')
		in->disp = byte(c);
	return true;
}

/* Reads the opcode and the operands of a VEX, EVEX or XOP instruction. */
static bool vector_opcode(struct cursor *c, struct x86_insn *in, unsigned map)
{
	bool imm8 = map == X86_0F3A || map == 8;

	in->is_vex = true;
	in->map = map <= X86_0F3A ? (uint8_t)map : X86_OTHER_MAP;
	in->op = byte(c);
	if (map == X86_0F)
		imm8 = two_byte[in->op] == 'B';
	if (map == X86_0F && in->op == 0x77)	/* vzeroupper */
		return true;
	modrm(c, in);
	if (imm8)
		in->imm = number(c, 1);
	else if (map == 10)
		in->imm = number(c, 4);
	return true;
}

/* The prefix that the field pp of VEX and EVEX stands for, if it is one of these two. */
static uint8_t rep_of(uint8_t pp)
{
	return (pp & 3) == 2 ? 0xf3 : (pp & 3) == 3 ? 0xf2 : 0;
}

/* Bits R, X, B are stored inverted, where REX has them. */
static bool vex(struct cursor *c, struct x86_insn *in, uint8_t first)
{
	uint8_t p0 = byte(c), p1;
	unsigned map = X86_0F;

	if (first == 0xc5) {
		in->rex = (uint8_t)(0x40 | (~p0 >> 5 & 4));
		in->rep = rep_of(p0);
	} else {
		in->rex = (uint8_t)(0x40 | (~p0 >> 5 & 7));
		map = p0 & 0x1f;
		p1 = byte(c);
		in->rex |= p1 >> 4 & 8;
		in->rep = rep_of(p1);
		if (first == 0xc4 && (map < 1 || map > 3))
			return false;
	}
	return vector_opcode(c, in, map);
}

static bool evex(struct cursor *c, struct x86_insn *in)
{
	uint8_t p0 = byte(c), p1 = byte(c), p2 = byte(c);
	unsigned map = p0 & 7;

	(void)p2;
	in->rex = (uint8_t)(0x40 | (~p0 >> 5 & 7) | (p1 >> 4 & 8));
	in->rep = rep_of(p1);
	if (!(p1 & 4) || p0 & 8 || !map || map == 4 || map == 7)
		return false;
	return vector_opcode(c, in, map);
}

static bool escape(struct cursor *c, struct x86_insn *in)
{
	in->map = X86_0F;
	in->op = byte(c);
	if (in->op == 0x38 || in->op == 0x3a) {
		in->map = in->op == 0x38 ? X86_0F38 : X86_0F3A;
		in->op = byte(c);
		return operands(c, in, in->map == X86_0F38 ? 'M' : 'B');
	}
	return operands(c, in, two_byte[in->op]);
}

/* Reads the prefixes and the first opcode byte. REX counts only right before the opcode. */
static uint8_t prefixes(struct cursor *c, struct x86_insn *in)
{
	for (;;) {
		uint8_t b = byte(c);
		char what = one_byte[b];

		if (what != 'p' && what != 'r')
			return b;
		if (c->cut)
			return 0;
		in->rex = what == 'r' ? b : 0;
		in->opsize |= b == 0x66;
		c->addr32 |= b == 0x67;
		if (b == 0xf2 || b == 0xf3)
			in->rep = b;
	}
}

static bool decode(struct cursor *c, struct x86_insn *in)
{
	in->op = prefixes(c, in);
	if (in->op == 0x0f)
		return escape(c, in);
	if (in->op == 0xc4 || in->op == 0xc5)
		return vex(c, in, in->op);
	if (in->op == 0x62)
		return evex(c, in);
	if (in->op == 0x8f && c->p < c->end && *c->p & 0x38)	/* pop has 0 there */
		return (*c->p & 0x1f) >= 8 && (*c->p & 0x1f) <= 10 && vex(c, in, in->op);
	return operands(c, in, one_byte[in->op]);
}

static uint8_t flow_of_group_ff(const struct x86_insn *in)
{
	unsigned which = in->reg & 7;

	return which == 2 || which == 3	  ? X86_CALL_ANY
	       : which == 4 || which == 5 ? X86_JUMP_ANY
					  : X86_NEXT;
}

static uint8_t flow_of(const struct x86_insn *in)
{
	if (in->is_vex || in->map > X86_0F)
		return X86_NEXT;
	if (in->map == X86_0F) {
		if ((in->op & 0xf0) == 0x80)
			return X86_BRANCH;
		return in->op == 0x0b || in->op == 0xb9 || in->op == 0xff ? X86_STOP : X86_NEXT;
	}
	if ((in->op & 0xf0) == 0x70 || (in->op >= 0xe0 && in->op <= 0xe3))
		return X86_BRANCH;
	switch (in->op) {
	case 0xe8:
		return X86_CALL;
	case 0xe9:
	case 0xeb:
		return X86_JUMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return X86_RETURN;
	case 0xcc:
	case 0xf4:
		return X86_STOP;
	case 0xff:
		return flow_of_group_ff(in);
	case 0xc7:	/* xbegin */
		return in->mod == 3 && (in->reg & 7) == 7 ? X86_BRANCH : X86_NEXT;
	default:
		return X86_NEXT;
	}
}

unsigned x86_decode(const uint8_t *p, size_t len, struct x86_insn *insn)
{
	struct cursor c = { .p = p, .end = p + (len < MAX_READ ? len : MAX_READ) };

	memset(insn, 0, sizeof(*insn));
	if (!decode(&c, insn) || c.cut || c.p - p > X86_MAX_INSN)
		return 0;
	insn->len = (uint8_t)(c.p - p);
	insn->flow = flow_of(insn);
	return insn->len;
}

static char what_is_written(const struct x86_insn *in)
{
	if (!in->is_vex && in->map == X86_ONE_BYTE)
		return one_byte_writes[in->op];
	if (!in->is_vex && in->map == X86_0F)
		return two_byte_writes[in->op];
	for (size_t i = 0; i < sizeof(other_writes) / sizeof(other_writes[0]); i++) {
		const struct other_write *w = &other_writes[i];

		if (w->map == in->map && w->op == in->op && w->is_vex == in->is_vex)
			return w->what;
	}
	return '.';
}

/* Without REX, numbers 4 to 7 of a byte operation are ah, ch, dh, bh. */
static bool is_high_byte(const struct x86_insn *in)
{
	bool is_byte = in->map == X86_ONE_BYTE ? (in->op >= 0xb0 && in->op < 0xb8) ||
			(!(in->op & 1) && (in->op < 0x40 || in->op == 0x80 || in->op >= 0xc0)) ||
			in->op == 0x86 || in->op == 0x88 || in->op == 0x8a :
		in->map == X86_0F && ((in->op & 0xf0) == 0x90 || in->op == 0xb0 || in->op == 0xc0);

	return is_byte && !in->rex && !in->is_vex;
}

unsigned x86_writes(const struct x86_insn *in)
{
	unsigned rm = in->has_modrm && in->mod == 3 ? 1u << in->rm : 0,
		 r = in->has_modrm ? 1u << in->reg : 0;
	unsigned which = in->reg & 7, mask = 0;

	switch (what_is_written(in)) {
	case '.':
		return 0;
	case 'r':
		mask = r;
		break;
	case 'm':
		mask = rm;
		break;
	case 'x':
		mask = r | rm;
		break;
	case 'o':
		mask = 1u << ((in->op & 7) | (in->rex & 1) << 3);
		break;
	case 'c':
		mask = which != 7 ? rm : 0;
		break;
	case 'n':
		mask = which == 2 || which == 3 ? rm : 0;
		break;
	case 'i':
		mask = which < 2 ? rm : 0;
		break;
	case 't':
		mask = which > 4 ? rm : 0;
		break;
	case '7':
		mask = which > 5 ? rm : 0;
		break;
	case 'f':
		mask = in->rep ? r : 0;
		break;
	case 'd':
		mask = in->rep != 0xf3 ? rm : 0;
		break;
	}
	return is_high_byte(in) ? (mask & ~0xf0u) | (mask & 0xf0) >> 4 : mask;	/* ah is in rax */
}

/*
 * Writes of registers that no operand names:
 *
 *	y  some of the lower eight (rax in arithmetic with an immediate, xchg, cwd, mov by address,
 *	   in, xlat, string instructions, loops, cmpxchg, rdtsc, cpuid, VIA's xstore and xcrypt)
 *	u  those if reg of ModRM is 4 or more (mul, div)
 *	s  the stack pointer		l  that and the frame pointer
 *	k  rcx and r11 (syscall)	a  not known: perhaps any
 */
static const char one_byte_implied[] =
	"....yy......yy.." "....yy......yy.." "....yy......yy.." "....yy.........."
	"................" "ssssssssssssssss" "........s.s.yyyy" "................"
	"...............s" "yyyyyyyyyyyyssyy" "yyyyyyyy..yyyyyy" "................"
	"..ss....llssaaaa" "....yyyy........" "yyyyyy..s...yy.." "......uu.......s";

static const char two_byte_implied[] =
	".y...k.k........" "................" "................" ".yyykk.y........"
	"................" "................" "................" "................"
	"................" "................" "ssys..yyssa....." "yy.............."
	".......a........" "................" "................" "................";

/*
 * andn, blsr, bzhi, mulx and their like write what the field vvvv of VEX names, which is not kept;
 * vcvtss2usi in EVEX.
 */
static bool is_unknown_vex(const struct x86_insn *in)
{
	return in->is_vex &&
	       (in->map == X86_OTHER_MAP || (in->map == X86_0F38 && (in->op & 0xf8) == 0xf0) ||
		(in->map == X86_0F && (in->op & 0xfe) == 0x78));
}

static char what_is_implied(const struct x86_insn *in)
{
	if (is_unknown_vex(in))
		return 'a';
	if (in->map == X86_0F3A && (in->op == 0x61 || in->op == 0x63))
		return 'k';		/* pcmpestri, pcmpistri */
	if (in->is_vex || in->map > X86_0F)
		return '.';
	if (in->map == X86_0F)
		return two_byte_implied[in->op];
	if (in->op == 0xdf && in->mod == 3 && in->reg == 4 && in->rm == 0)
		return 'y';		/* fnstsw %ax */
	return one_byte_implied[in->op];
}

bool x86_may_write(const struct x86_insn *in, unsigned reg)
{
	if (in->map == X86_ONE_BYTE && in->op == 0x90 && !(in->rex & 1))
		return false;		/* nop, pause */
	if (x86_writes(in) >> reg & 1)
		return true;
	switch (what_is_implied(in)) {
	case 'a':
		return true;
	case 'u':
		return (in->reg & 7) > 3 && reg < 8;
	case 'y':
		return reg < 8;
	case 's':
		return reg == X86_SP;
	case 'l':
		return reg == X86_SP || reg == X86_BP;
	case 'k':
		return reg == 1 || reg == 11;
	}
	return false;
}

bool x86_is_padding(const struct x86_insn *in)
{
	if (in->is_vex)
		return false;
	if (in->map == X86_0F)
		return in->op == 0x1f;
	return in->map == X86_ONE_BYTE && (in->op == 0x90 || in->op == 0xcc) && in->rep != 0xf3 &&
	       !(in->rex & 1);
}
