/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/function_parts.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/fde_ranges.h"
#include "unwind/x86_insn.h"

#define MAX_FUNCTION (4u << 20)		/* bytes */
#define MAX_TARGETS 4096		/* jumps out of the function that are looked at */

struct parts {
	struct elf_image *img;
	struct fde_ranges fdes;
	struct function_range *v;
	size_t nr, max;
	unsigned looked_at;
};

struct code {
	uint8_t *bytes;
	uint64_t vaddr;
	size_t len, at;
};

static bool covers(const struct function_range *r, uint64_t vaddr)
{
	return vaddr >= r->lo && vaddr < r->hi;
}

static int code_read(struct elf_image *img, const struct function_range *r, struct code *c)
{
	uint64_t offset, left, len = r->hi - r->lo;
	int err = elf_image_offset_of(img, r->lo, &offset, &left);

	*c = (struct code){ .vaddr = r->lo };
	if (err)
		return err;
	if (len > left)
		return -EBADMSG;
	err = elf_image_read(img, offset, len, MAX_FUNCTION, (void **)&c->bytes);
	c->len = err ? 0 : len;
	return err;
}

/* The next jump to a known place. false: there are no more. */
static bool next_jump_x86(struct code *c, uint64_t *target)
{
	struct x86_insn insn;

	while (c->at < c->len) {
		if (!x86_decode(c->bytes + c->at, c->len - c->at, &insn)) {
			c->at++;
			continue;
		}
		c->at += insn.len;
		*target = c->vaddr + c->at + (uint64_t)insn.imm;
		if (insn.flow == X86_JUMP || insn.flow == X86_BRANCH)
			return true;
	}
	return false;
}

/* A field of an instruction with its sign, times 4. */
static uint64_t words(uint32_t insn, unsigned low, unsigned bits)
{
	return (uint64_t)((int64_t)((uint64_t)insn << (64 - low - bits)) >> (64 - bits)) << 2;
}

/* b; b.cond; cbz and cbnz; tbz and tbnz (Arm ARM, C4.1, branches). */
static bool next_jump_arm64(struct code *c, uint64_t *target)
{
	while (c->at + 4 <= c->len) {
		uint64_t pc = c->vaddr + c->at;
		uint32_t insn;

		memcpy(&insn, c->bytes + c->at, sizeof(insn));
		c->at += 4;
		if (insn >> 26 == 5)
			*target = pc + words(insn, 0, 26);
		else if (insn >> 24 == 0x54 || (insn >> 25 & 0x3f) == 0x1a)
			*target = pc + words(insn, 5, 19);
		else if ((insn >> 25 & 0x3f) == 0x1b)
			*target = pc + words(insn, 5, 14);
		else
			continue;
		return true;
	}
	return false;
}

static bool next_jump(const struct parts *p, struct code *c, uint64_t *target)
{
	return p->img->machine == EM_AARCH64 ? next_jump_arm64(c, target)
					     : next_jump_x86(c, target);
}

static bool jumps_back(const struct parts *p, const struct function_range *from)
{
	struct code c;
	bool found = false;
	uint64_t target;

	if (!code_read(p->img, from, &c))
		while (!found && next_jump(p, &c, &target))
			for (size_t i = 0; i < p->nr && !found; i++)
				found = covers(&p->v[i], target);
	free(c.bytes);
	return found;
}

/* Takes what the FDE at target covers, if it is a part. */
static void add_part(struct parts *p, uint64_t target)
{
	struct function_range r;

	for (size_t i = 0; i < p->nr; i++)
		if (covers(&p->v[i], target))
			return;
	if (p->nr == p->max || p->looked_at++ > MAX_TARGETS)
		return;
	if (!fde_ranges_find(&p->fdes, target, &r.lo, &r.hi) || r.hi - r.lo > MAX_FUNCTION)
		return;
	if (jumps_back(p, &r))
		p->v[p->nr++] = r;
}

int function_parts_find(struct elf_image *img, int fd, const void *data, uint64_t vaddr,
			uint64_t size, struct function_range *parts, size_t max)
{
	struct parts p = { .img = img, .v = parts, .max = max };
	uint64_t lo, target;
	int err = 0;

	fde_ranges_init(&p.fdes, img, fd, data);
	parts[0] = (struct function_range){ vaddr, vaddr + size };
	if (!size && (!fde_ranges_find(&p.fdes, vaddr, &lo, &parts[0].hi) || lo != vaddr))
		return -EBADMSG;
	if (parts[0].hi <= vaddr || parts[0].hi - vaddr > MAX_FUNCTION)
		return -EBADMSG;
	p.nr = 1;
	/* Parts may have parts. */
	for (size_t i = 0; !err && i < p.nr; i++) {
		struct code c;

		err = code_read(img, &parts[i], &c);
		while (!err && next_jump(&p, &c, &target))
			add_part(&p, target);
		free(c.bytes);
	}
	return err ? err : (int)p.nr;
}
