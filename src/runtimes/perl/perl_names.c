/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/perl/perl_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/perl/perl_layout.h"
#include "src/runtimes/perl/perl_program.h"
#include "src/runtimes/runtime_kind.h"

#define CV_BYTES 96			/* of its body, up to the flags */
#define SV_BYTES 24
#define MAX_BUCKETS (1ull << 32)
#define PAGE 4096
/* Numbers of nextstate and dbstate; they have grown with the versions. */
#define COP_LOWEST 190
#define COP_HIGHEST 210
#define OP_TYPES 511

struct reading {
	const struct perl_layout *l;
	const struct target_memory *m;
	uint64_t code;
	uint8_t body[CV_BYTES];
};

static uint64_t word_at(const uint8_t *bytes, uint32_t offset)
{
	uint64_t v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

static uint32_t u32_at(const uint8_t *bytes, uint32_t offset)
{
	uint32_t v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

/* A C string, with at most max bytes and its NUL; page by page, because it may end one. */
static int read_text(const struct reading *r, uint64_t at, size_t max, char *text)
{
	size_t have = 0;

	if (!at)
		return -ESTALE;
	while (have < max) {
		size_t n = PAGE - (at + have) % PAGE;
		int err;

		n = n < max - have ? n : max - have;
		err = target_read(r->m, at + have, text + have, n);
		if (err)
			return err;
		if (memchr(text + have, 0, n))
			return 0;
		have += n;
	}
	text[max - 1] = 0;
	return 0;
}

/* The head of an SV, of a type that is lowest to highest. */
static int read_sv(const struct reading *r, uint64_t at, unsigned lowest, unsigned highest,
		   uint8_t head[SV_BYTES])
{
	int err = at ? target_read(r->m, at, head, SV_BYTES) : -ESTALE;
	unsigned type;

	if (err)
		return err;
	type = u32_at(head, PERL_SV_FLAGS) & PERL_SV_TYPES;
	return type >= lowest && type <= highest ? 0 : -ESTALE;
}

/* Appends a name (HEK) as far as it fits. */
static int append_hek(const struct reading *r, uint64_t at, char *text)
{
	size_t have = strlen(text), n = RUNTIME_NAME_BYTES - 1 - have;
	uint32_t length;
	int err = at ? target_read(r->m, at + PERL_HEK_LENGTH, &length, sizeof(length)) : -ESTALE;

	if (err)
		return err;
	if (!length || length > TARGET_READ_BYTES)
		return -ESTALE;
	n = length < n ? length : n;
	err = target_read(r->m, at + PERL_HEK_KEY, text + have, n);
	text[have + (err ? 0 : n)] = 0;
	return err;
}

/* Where a stash has its struct xpvhv_aux. */
static int find_aux(const struct reading *r, const uint8_t head[SV_BYTES], uint64_t *aux)
{
	const uint64_t body = word_at(head, PERL_SV_ANY);
	uint64_t max;
	int err;

	if (r->l->stash_aux) {
		*aux = body + r->l->stash_aux;
		return 0;
	}
	err = target_read_u64(r->m, body + PERL_HV_MAX, &max);
	if (!err && max >= MAX_BUCKETS)
		err = -ESTALE;
	if (!err)
		*aux = word_at(head, PERL_SV_U) + (max + 1) * sizeof(uint64_t);
	return err;
}

/* "Package::" */
static int append_package(const struct reading *r, uint64_t stash, char *text)
{
	uint8_t head[SV_BYTES];
	uint64_t aux, name;
	uint32_t names;
	int err = read_sv(r, stash, PERL_SV_HV, PERL_SV_HV, head);

	if (!err)
		err = find_aux(r, head, &aux);
	if (!err)
		err = target_read_u64(r->m, aux + PERL_AUX_NAME, &name);
	if (!err)
		err = target_read(r->m, aux + PERL_AUX_NAMES, &names, sizeof(names));
	if (!err && names)		/* it has several, in an array */
		err = target_read_u64(r->m, name, &name);
	if (!err)
		err = append_hek(r, name, text);
	if (!err)
		snprintf(text + strlen(text), RUNTIME_NAME_BYTES - strlen(text), "::");
	return err;
}

/* By the glob in which the sub is; an alias has the one where it was made. */
static int read_glob_name(const struct reading *r, uint64_t gv, char *text)
{
	uint8_t head[SV_BYTES];
	uint64_t origin, stash, name;
	int err = read_sv(r, gv, PERL_SV_GV, PERL_SV_GV, head);

	if (!err)
		err = target_read_u64(r->m, word_at(head, PERL_SV_U) + PERL_GP_EGV, &origin);
	if (!err && origin && origin != gv)
		err = read_sv(r, origin, PERL_SV_GV, PERL_SV_GV, head);
	if (!err)
		err = target_read_u64(r->m, word_at(head, PERL_SV_ANY) + PERL_GV_STASH, &stash);
	if (!err)
		err = target_read_u64(r->m, word_at(head, PERL_SV_ANY) + PERL_GV_NAME, &name);
	if (!err)
		err = append_package(r, stash, text);
	return err ? err : append_hek(r, name, text);
}

static int read_body(const struct reading *r, uint32_t cookie, uint8_t body[CV_BYTES])
{
	uint8_t head[SV_BYTES];
	int err = read_sv(r, r->code, PERL_SV_CV, PERL_SV_FM, head);

	if (!err)
		err = target_read(r->m, word_at(head, PERL_SV_ANY), body, CV_BYTES);
	if (err)
		return err;
	return cookie == perl_cookie(word_at(head, PERL_SV_ANY), word_at(body, PERL_CV_ROOT)) ?
		       0 : -ESTALE;
}

static int read_sub(struct reading *r, uint32_t cookie, struct runtime_code *c)
{
	uint8_t again[CV_BYTES];
	uint64_t name;
	int err = read_body(r, cookie, r->body);

	if (err)
		return err;
	name = word_at(r->body, PERL_CV_GV);
	if (u32_at(r->body, PERL_CV_FLAGS) & PERL_CV_IS_NAMED) {
		err = append_package(r, word_at(r->body, PERL_CV_STASH), c->name);
		if (!err)
			err = append_hek(r, name, c->name);
	} else {
		err = read_glob_name(r, name, c->name);
	}
	if (!err)
		err = read_text(r, word_at(r->body, PERL_CV_FILE), RUNTIME_FILE_BYTES, c->file);
	return err ? err : read_body(r, cookie, again);
}

/* Whether it is a COP of that line still. */
static int check_cop(const struct reading *r, uint64_t cop, uint32_t line)
{
	uint32_t found, type;
	int err = target_read(r->m, cop + PERL_COP_LINE, &found, sizeof(found));

	if (!err)
		err = target_read(r->m, cop + PERL_COP_TYPE, &type, sizeof(type));
	if (err)
		return err;
	type &= OP_TYPES;
	return found == line && type >= COP_LOWEST && type <= COP_HIGHEST ? 0 : -ESTALE;
}

static int read_other(const struct reading *r, uint32_t line, struct runtime_code *c)
{
	static const char *const names[PERL_CODE_BITS + 1] = {
		[PERL_MAIN] = "{main}", [PERL_EVAL] = "{eval}", [PERL_REQUIRE] = "{require}",
		[PERL_BLOCK] = "{block}",
	};
	const uint64_t cop = r->code & ~(uint64_t)PERL_CODE_BITS;
	const char *name = names[r->code & PERL_CODE_BITS];
	uint64_t file;
	int err = name ? check_cop(r, cop, line) : -ESTALE;

	if (!err)
		err = target_read_u64(r->m, cop + PERL_COP_FILE, &file);
	if (!err)
		err = read_text(r, file, RUNTIME_FILE_BYTES, c->file);
	if (!err)
		strcpy(c->name, name);
	return err ? err : check_cop(r, cop, line);
}

int perl_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		   enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		   struct runtime_code **out)
{
	struct perl_image perl;
	struct reading r = { .l = &perl.layout, .m = &k->memory, .code = code };
	struct runtime_code *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	(void)bias;
	(void)kind;
	if (!c)
		return err;
	RUNTIME_GET_OWN(image, &perl);
	c->name = calloc(1, RUNTIME_NAME_BYTES);
	c->file = calloc(1, RUNTIME_FILE_BYTES);
	if (c->name && c->file)
		err = code & PERL_CODE_BITS ? read_other(&r, cookie, c) : read_sub(&r, cookie, c);
	if (err) {
		runtime_code_free(c);
		return err;
	}
	*out = c;
	return 0;
}

/* The instruction is the line. */
int perl_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	(void)c;
	*line = instruction;
	return instruction ? 0 : -ENODATA;
}
