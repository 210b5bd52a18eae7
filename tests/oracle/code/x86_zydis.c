/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_zydis FILE...: compares unwind/x86_insn.h with Zydis, instruction by instruction, over all
 * executable sections of each file: length, where control goes, memory operand and immediate, what
 * is written. Where Zydis sees no instruction (data between functions) one byte is passed over.
 *
 * A difference that is meant has a row in explained[]; any other one is printed and makes the exit
 * code 1. Then a line per file, and one per explanation that was used.
 */
#include <Zydis/Zydis.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unwind/x86_insn.h"

struct pair {				/* one instruction as both see it */
	const uint8_t *p;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_insn ours;
	unsigned z_writes, z_named;	/* general registers written: by any operand, by a named
					   one */
};

static ZydisDecoder decoder;
static unsigned long nr_all, nr_wrong, nr_broad;

static void note_writes(struct pair *c)
{
	for (unsigned i = 0; i < c->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &c->ops[i];
		ZydisRegister r;

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value);
		if (r < ZYDIS_REGISTER_RAX || r > ZYDIS_REGISTER_R15)
			continue;
		c->z_writes |= 1u << (r - ZYDIS_REGISTER_RAX);
		if (op->encoding == ZYDIS_OPERAND_ENCODING_NONE)
			continue;		/* the opcode means it: and $1, %eax; cltq */
		c->z_named |= 1u << (r - ZYDIS_REGISTER_RAX);
	}
}

static unsigned flow_of_mnemonic(const struct pair *c)
{
	switch (c->z.mnemonic) {
	case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT: case ZYDIS_MNEMONIC_INT3:
		return X86_STOP;
	case ZYDIS_MNEMONIC_XBEGIN:
		return X86_BRANCH;
	default:
		return X86_NEXT;
	}
}

static unsigned flow_of(const struct pair *c)
{
	bool is_direct = c->z.raw.imm[0].is_relative;

	switch (c->z.meta.category) {
	case ZYDIS_CATEGORY_CALL: return is_direct ? X86_CALL : X86_CALL_ANY;
	case ZYDIS_CATEGORY_RET: return X86_RETURN;
	case ZYDIS_CATEGORY_UNCOND_BR: return is_direct ? X86_JUMP : X86_JUMP_ANY;
	case ZYDIS_CATEGORY_COND_BR: return X86_BRANCH;
	default: return flow_of_mnemonic(c);
	}
}

static bool is_ip(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP;
}

static unsigned number_of(ZydisRegister r)
{
	bool is_none = r == ZYDIS_REGISTER_NONE || is_ip(r);

	return is_none ? X86_NO_REG : (unsigned)ZydisRegisterGetId(r);
}

static bool same_memory(const struct pair *c)
{
	for (unsigned i = 0; i < c->z.operand_count; i++) {
		const ZydisDecodedOperandMem *m = &c->ops[i].mem;

		if (c->ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY || !c->ours.has_modrm ||
		    c->ops[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			continue;
		if (c->ours.mod == 3 || number_of(m->base) != c->ours.base ||
		    is_ip(m->base) != c->ours.is_rip)
			return false;
		if (m->index != ZYDIS_REGISTER_NONE &&
		    (number_of(m->index) != c->ours.index || m->scale != c->ours.scale))
			return false;
		return m->disp.value == c->ours.disp;
	}
	return true;
}

static bool same_immediate(const struct pair *c)
{
	const uint64_t mask = c->z.raw.imm[0].size == 8	   ? UINT8_MAX
			      : c->z.raw.imm[0].size == 16 ? UINT16_MAX
			      : c->z.raw.imm[0].size == 32 ? UINT32_MAX
							   : UINT64_MAX;

	return !c->z.raw.imm[0].size || !(((uint64_t)c->ours.imm ^ c->z.raw.imm[0].value.u) & mask);
}

static unsigned may_write(const struct pair *c)
{
	unsigned mask = 0;

	for (unsigned reg = 0; reg < 16; reg++)
		mask |= (unsigned)x86_may_write(&c->ours, reg) << reg;
	return mask;
}

/* What is compared. The last two are what rules are made from. */
static bool has_same_length(const struct pair *c) { return c->ours.len == c->z.length; }
static bool has_same_flow(const struct pair *c) { return c->ours.flow == flow_of(c); }
static bool writes_the_same(const struct pair *c) { return x86_writes(&c->ours) == c->z_named; }
static bool misses_no_write(const struct pair *c) { return !(c->z_writes & ~may_write(c)); }

static const struct check {
	const char *what;
	bool (*is_same)(const struct pair *c);
} checks[] = {
	{ "length", has_same_length },
	{ "flow", has_same_flow },
	{ "memory", same_memory },
	{ "immediate", same_immediate },
	{ "x86_writes", writes_the_same },
	{ "x86_may_write", misses_no_write },
};
enum { LENGTH, FLOW, MEMORY, IMMEDIATE, WRITES, MAY_WRITE, NR_CHECKS };

/* Differences that are meant. */
static bool is_nop(const struct pair *c)
{
	return (c->z.mnemonic == ZYDIS_MNEMONIC_NOP || c->z.mnemonic == ZYDIS_MNEMONIC_PAUSE) &&
	       x86_writes(&c->ours) == 1;
}

/* disp8 counts in units of the operand, indexes may be vectors: neither is asked for. */
static bool is_vector_memory(const struct pair *c)
{
	return c->ours.is_vex;
}

/* The register is then in x86_may_write() of all. */
static bool is_in_vvvv(const struct pair *c)
{
	return c->ours.is_vex && may_write(c) == 0xffff;
}

/* Zydis decodes them also with ZYDIS_DECODER_MODE_KNC off. No compiler makes them: it is data. */
static bool is_of_knights_corner(const struct pair *c)
{
	return c->z.mnemonic == ZYDIS_MNEMONIC_JKZD || c->z.mnemonic == ZYDIS_MNEMONIC_JKNZD;
}

static bool is_transaction(const struct pair *c)
{
	return c->z.meta.isa_set == ZYDIS_ISA_SET_RTM;
}

static const struct explanation {
	unsigned check;
	bool (*is_so)(const struct pair *c);
	const char *why;
} explained[] = {
	{ LENGTH, is_of_knights_corner, "jkzd, jknzd: in data" },
	{ MEMORY, is_vector_memory, "memory of VEX and EVEX: disp8 is not scaled, indexes are vectors" },
	{ WRITES, is_nop, "nop and pause are xchg %eax, %eax" },
	{ WRITES, is_in_vvvv, "the field vvvv of VEX is not kept: x86_may_write says all" },
	{ WRITES, is_transaction, "xbegin and xabort: %eax is written when the transaction fails" },
	{ FLOW, is_transaction, "xend and xabort go on at the next instruction, or at xbegin's target" },
};
enum { NR_EXPLAINED = sizeof(explained) / sizeof(explained[0]) };
static unsigned long nr_explained[NR_EXPLAINED];

static int explained_by(const struct pair *c, unsigned check)
{
	for (unsigned i = 0; i < NR_EXPLAINED; i++)
		if (explained[i].check == check && explained[i].is_so(c))
			return (int)i;
	return -1;
}

static bool is_printed[NR_CHECKS][ZYDIS_MNEMONIC_MAX_VALUE + 1];

static void report(const struct pair *c, unsigned check)
{
	ZydisFormatter f;
	char text[128];

	nr_wrong++;
	if (is_printed[check][c->z.mnemonic])
		return;			/* one of a kind is enough */
	is_printed[check][c->z.mnemonic] = true;
	ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterFormatInstruction(&f, &c->z, c->ops, c->z.operand_count, text, sizeof(text), 0, NULL);
	printf("%s:", checks[check].what);
	for (unsigned i = 0; i < c->z.length; i++)
		printf(" %02x", c->p[i]);
	printf("  %s: length %u %u, flow %u %u, writes %x %x, may write %x %x\n", text, c->ours.len,
	       c->z.length, c->ours.flow, flow_of(c), x86_writes(&c->ours), c->z_named, may_write(c),
	       c->z_writes);
}

static void compare(struct pair *c)
{
	for (unsigned i = 0; i < NR_CHECKS; i++) {
		int why;

		if (checks[i].is_same(c))
			continue;
		why = explained_by(c, i);
		if (why < 0)
			report(c, i);
		else
			nr_explained[why]++;
		if (i == LENGTH)
			return;		/* all else differs then */
	}
	nr_broad += (may_write(c) & ~c->z_writes) != 0;
}

static void compare_section(const uint8_t *p, size_t len)
{
	for (size_t at = 0; at < len;) {
		struct pair c = { .p = p + at };

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, p + at, len - at, &c.z, c.ops))) {
			at++;
			continue;
		}
		x86_decode(p + at, len - at, &c.ours);
		note_writes(&c);
		compare(&c);
		nr_all++;
		at += c.z.length;
	}
}

/* 0, or 1: no ELF file. */
static int compare_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	unsigned long before = nr_all, wrong = nr_wrong;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		fprintf(stderr, "%s: not an ELF file\n", path);
		return 1;
	}
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *d = gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR &&
					      sh.sh_type == SHT_PROGBITS
				      ? elf_getdata(scn, NULL)
				      : NULL;

		if (d)
			compare_section(d->d_buf, d->d_size);
	}
	printf("%s: %lu instructions, %lu differ\n", strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
	       nr_all - before, nr_wrong - wrong);
	elf_end(elf);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	int err = argc < 2;

	elf_version(EV_CURRENT);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	/* Xeon Phi's own VEX */
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_KNC, false);
	for (int i = 1; i < argc; i++)
		err |= compare_file(argv[i]);
	for (unsigned i = 0; i < NR_EXPLAINED; i++)
		if (nr_explained[i])
			printf("explained: %lu x %s: %s\n", nr_explained[i],
			       checks[explained[i].check].what, explained[i].why);
	printf("%lu instructions: %lu differ without a reason; of %lu x86_may_write says more than is written\n",
	       nr_all, nr_wrong, nr_broad);
	return err || nr_wrong || !nr_all;
}
