/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/demangle_bombs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "src/symbolize/demangle.h"

#define MAX_STEPS 2000			/* of one search for a pack */
#define MAX_DEPTH 1000			/* of the tree of a name with packs */
#define MAX_CONVERSIONS 10		/* parsed 2^10 times at most */
#define MAX_D_FORKS 16			/* the worst that was found takes 10 ms */

/* The parts of a name: an array that libiberty makes, at most two of them for each character. */
struct parts {
	const struct demangle_component *v;
	size_t nr;
	unsigned depth;
	bool counts_packs;		/* the name has "sizeof...", which searches, too */
	bool is_bomb;
	uint16_t steps[2 * DEMANGLE_MAX_IN + 2];	/* by part; 0: not known yet */
};

static unsigned steps_of(struct parts *p, const struct demangle_component *c);

/* Parts that hold no other parts, in the fields where others do. */
static bool is_leaf(enum demangle_component_type type)
{
	static const uint8_t leaves[] = {
		DEMANGLE_COMPONENT_NAME, DEMANGLE_COMPONENT_TEMPLATE_PARAM,
		DEMANGLE_COMPONENT_FUNCTION_PARAM, DEMANGLE_COMPONENT_SUB_STD,
		DEMANGLE_COMPONENT_BUILTIN_TYPE, DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE,
		DEMANGLE_COMPONENT_OPERATOR, DEMANGLE_COMPONENT_CHARACTER,
		DEMANGLE_COMPONENT_NUMBER, DEMANGLE_COMPONENT_UNNAMED_TYPE,
		DEMANGLE_COMPONENT_FIXED_TYPE,
	};

	return memchr(leaves, type, sizeof(leaves));
}

static unsigned steps_below(struct parts *p, const struct demangle_component *c)
{
	unsigned left;

	if (is_leaf(c->type))
		return 0;
	if (c->type == DEMANGLE_COMPONENT_CTOR || c->type == DEMANGLE_COMPONENT_DTOR)
		return steps_of(p, c->u.s_ctor.name);
	if (c->type == DEMANGLE_COMPONENT_EXTENDED_OPERATOR)
		return steps_of(p, c->u.s_extended_operator.name);
	left = steps_of(p, c->u.s_binary.left);
	if (c->type == DEMANGLE_COMPONENT_LAMBDA || c->type == DEMANGLE_COMPONENT_DEFAULT_ARG)
		return left;
	return left + steps_of(p, c->u.s_binary.right);
}

/* The steps of a walk over c and all below it, as often as they are used; at most MAX_STEPS. */
static unsigned steps_of(struct parts *p, const struct demangle_component *c)
{
	size_t i = (size_t)(c - p->v);
	unsigned n;

	if (!c || c < p->v || i >= p->nr)
		return 0;
	if (p->steps[i])
		return p->steps[i];
	if (p->depth >= MAX_DEPTH) {
		p->is_bomb = true;
		return MAX_STEPS;
	}
	p->steps[i] = MAX_STEPS;	/* for a part that holds itself */
	p->depth++;
	n = 1 + steps_below(p, c);
	p->depth--;
	n = n < MAX_STEPS ? n : MAX_STEPS;
	if (c->type == DEMANGLE_COMPONENT_PACK_EXPANSION ||
	    (p->counts_packs && c->type == DEMANGLE_COMPONENT_UNARY))
		p->is_bomb |= n == MAX_STEPS;
	return p->steps[i] = (uint16_t)n;
}

static bool has_deep_pack(const char *name)
{
	struct parts p = { .nr = 2 * strlen(name), .counts_packs = strstr(name, "sZ") };
	void *memory = NULL;
	const struct demangle_component *tree;

	if (!strstr(name, "Dp") && !strstr(name, "sp") && !p.counts_packs)
		return false;
	tree = cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_NO_RECURSE_LIMIT, &memory);
	p.v = memory;
	if (tree)
		steps_of(&p, tree);
	free(memory);
	/*
	 * Without a tree the name is none, or an older form of one, which libiberty parses only
	 * where it does not show the tree.
	 */
	return !tree || p.is_bomb;
}

/* Whether template parameters with arguments, T_I and T12_I, are too many behind a conversion. */
static bool has_deep_conversion(const char *name)
{
	const char *p = strstr(name, "cv");
	unsigned nr = 0;

	for (p = p ? p : ""; (p = strchr(p, 'T'));) {
		size_t len = strspn(++p, "0123456789L_");

		p += len;
		nr += len && *p == 'I';
	}
	return nr > MAX_CONVERSIONS;
}

bool demangle_is_cxx_bomb(const char *name)
{
	return has_deep_conversion(name) || has_deep_pack(name);
}

/*
 * Letters that may be what makes a name of D fork: references, types of functions and methods.
 * Those in identifiers count as well, because a name may be made so that a count of its own goes
 * astray.
 */
bool demangle_is_d_bomb(const char *name)
{
	unsigned nr = 0;

	for (const char *p = name; (p = strpbrk(p, "QFUWVRYM")); p++)
		nr++;
	for (const char *p = name; (p = strstr(p, "__")); p += 2)
		nr++;
	return nr > MAX_D_FORKS;
}
