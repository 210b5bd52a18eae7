/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded stacks of real programs (tests/replay/cases, format in README.md there) through the kernel's walker: the same
 * frames as libdw found in the live process.
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/array.h"
#include "src/model/record.h"
#include "unwind/host_unwind.h"

#include ARCH_HEADER

#define CASES "tests/replay/cases"
#define MAX_TABLES 64
#define MAX_MAPS 1024
#define MAX_PAGES 64
#define MIN_CASES 20
#define MIN_PROGRAMS 10

struct page {
	uint64_t addr;
	uint8_t bytes[4096];
};

struct code {
	uint64_t addr;
	uint8_t bytes[16];
};

struct table {
	uint64_t lo, hi;
	struct cfi_rows rows;
	struct unwind_table *built;
};

struct replay {
	char name[64], program[64], arch[16], end[32];
	uint64_t regs[ARCH_NR_REGS];
	struct table tables[MAX_TABLES];
	size_t nr_tables;
	struct host_mapping maps[MAX_MAPS];
	size_t nr_maps;
	struct page pages[MAX_PAGES];
	size_t nr_pages;
	struct code codes[UNWIND_MAX_FRAMES];
	size_t nr_codes;
	uint64_t frames[UNWIND_MAX_FRAMES];
	uint32_t nr_frames;
};

/* ---- the file ---- */

static bool add_row(struct replay *r, char *text)
{
	struct table *t = &r->tables[r->nr_tables - 1];
	struct cfi_row *row;
	unsigned cfa, fp, ra, reg;
	struct unwind_rule rule;
	uint64_t vaddr;

	if (!r->nr_tables || sscanf(text, "%" SCNx64 " %u %u %u %u %d %d %d", &vaddr, &cfa, &fp, &ra, &reg, &rule.cfa_off,
				    &rule.fp_off, &rule.aux) != 8)
		return false;
	rule.cfa = (uint8_t)cfa;
	rule.fp = (uint8_t)fp;
	rule.ra = (uint8_t)ra;
	rule.reg = (uint8_t)reg;
	row = array_push(&t->rows.v, &t->rows.nr, &t->rows.cap);
	assert_non_null(row);
	row->vaddr = vaddr;
	row->rule = rule;
	return true;
}

static bool add_table(struct replay *r, char *text)
{
	struct table *t = &r->tables[r->nr_tables++];

	return r->nr_tables < MAX_TABLES && sscanf(text, "%" SCNx64 " %" SCNx64, &t->lo, &t->hi) == 2;
}

static bool add_map(struct replay *r, char *text)
{
	struct host_mapping *m = &r->maps[r->nr_maps++];
	char table[16];
	unsigned nr;

	if (r->nr_maps == MAX_MAPS ||
	    sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %15s", &m->begin, &m->end, &m->to_vaddr, table) != 4)
		return false;
	m->is_file = strcmp(table, "anonymous") != 0;
	m->has_no_table = !strcmp(table, "none");
	if (!m->is_file || m->has_no_table)
		return true;
	nr = (unsigned)atoi(table);
	if (nr >= r->nr_tables)
		return false;
	m->table = r->tables[nr].built;
	return true;
}

static bool add_memory(struct replay *r, char *text)
{
	uint64_t addr = strtoull(text, &text, 16);
	struct page *p = &r->pages[r->nr_pages ? r->nr_pages - 1 : 0];

	if (!r->nr_pages || p->addr != (addr & ~4095ull)) {
		if (r->nr_pages == MAX_PAGES)
			return false;
		p = &r->pages[r->nr_pages++];
		p->addr = addr & ~4095ull;
	}
	for (unsigned i = 0; i < 8 && (addr & 4095) + i * 8 < 4096; i++) {
		uint64_t word = strtoull(text, &text, 16);

		memcpy(p->bytes + (addr & 4095) + i * 8, &word, 8);
	}
	return true;
}

static bool add_code(struct replay *r, char *text)
{
	struct code *c = &r->codes[r->nr_codes++];

	c->addr = strtoull(text, &text, 16);
	for (unsigned i = 0; i < 16; i++) {
		unsigned byte;

		if (r->nr_codes == UNWIND_MAX_FRAMES || sscanf(text + 1 + 2 * i, "%2x", &byte) != 1)
			return false;
		c->bytes[i] = (uint8_t)byte;
	}
	return true;
}

static bool add_regs(struct replay *r, char *text)
{
	for (unsigned i = 0; i < ARCH_NR_REGS; i++)
		r->regs[i] = strtoull(text, &text, 16);
	return true;
}

/* All rows of all tables are there before the first mapping is. */
static bool build_tables(struct replay *r)
{
	for (size_t i = 0; i < r->nr_tables; i++) {
		struct table *t = &r->tables[i];

		if (!t->built && unwind_table_build(&t->rows, t->lo, t->hi, &t->built))
			return false;
	}
	return true;
}

static bool take_line(struct replay *r, char *line)
{
	char *text = line + strcspn(line, " \n");

	if (*text)
		*text++ = 0;
	text[strcspn(text, "\n")] = 0;
	if (!*line || *line == '#' || !strcmp(line, "judge"))
		return true;
	if (!strcmp(line, "case"))
		return snprintf(r->name, sizeof(r->name), "%s", text) > 0;
	if (!strcmp(line, "program"))
		return snprintf(r->program, sizeof(r->program), "%s", text) > 0;
	if (!strcmp(line, "arch"))
		return snprintf(r->arch, sizeof(r->arch), "%s", text) > 0;
	if (!strcmp(line, "end"))
		return snprintf(r->end, sizeof(r->end), "%s", text) > 0;
	if (!strcmp(line, "regs"))
		return add_regs(r, text);
	if (!strcmp(line, "table"))
		return add_table(r, text);
	if (!strcmp(line, "row"))
		return add_row(r, text);
	if (!strcmp(line, "map"))
		return build_tables(r) && add_map(r, text);
	if (!strcmp(line, "mem"))
		return add_memory(r, text);
	if (!strcmp(line, "code"))
		return add_code(r, text);
	if (!strcmp(line, "frame") && r->nr_frames < UNWIND_MAX_FRAMES) {
		r->frames[r->nr_frames++] = strtoull(text, NULL, 16);
		return true;
	}
	return false;
}

static struct replay *load(const char *file)
{
	struct replay *r = calloc(1, sizeof(*r));
	char path[256], line[512];
	unsigned nr = 0;
	FILE *in;

	snprintf(path, sizeof(path), CASES "/%s", file);
	in = fopen(path, "r");
	assert_non_null(r);
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		nr++;
		if (!take_line(r, line))
			fail_msg("%s:%u: cannot be read", path, nr);
	}
	fclose(in);
	return r;
}

static void unload(struct replay *r)
{
	for (size_t i = 0; i < r->nr_tables; i++) {
		unwind_table_free(r->tables[i].built);
		cfi_rows_release(&r->tables[i].rows);
	}
	free(r);
}

/* ---- the walk ---- */

static int read_page(void *ctx, uint64_t addr, uint8_t page[4096])
{
	const struct replay *r = ctx;

	for (size_t i = 0; i < r->nr_pages; i++) {
		if (r->pages[i].addr == addr) {
			memcpy(page, r->pages[i].bytes, 4096);
			return 0;
		}
	}
	return 1;
}

static int read_code(void *ctx, uint64_t addr, uint8_t code[16])
{
	const struct replay *r = ctx;

	for (size_t i = 0; i < r->nr_codes; i++) {
		if (r->codes[i].addr == addr) {
			memcpy(code, r->codes[i].bytes, 16);
			return 0;
		}
	}
	return 1;
}

/* The first frame that differs, or -1. */
static long unwinder(struct replay *r, uint32_t *end)
{
	struct host_unwind_input in = {
		.regs = r->regs, .mappings = r->maps, .nr_mappings = r->nr_maps, .mode = UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS,
		.read_page = read_page, .read_code = read_code, .ctx = r,
	};
	uint64_t frames[UNWIND_MAX_FRAMES];
	uint32_t nr;

	*end = host_unwind(&in, frames, &nr);
	for (uint32_t i = 0; i < nr || i < r->nr_frames; i++)
		if (i >= nr || i >= r->nr_frames || (frames[i] & UNWIND_ADDRESS_MASK) != r->frames[i])
			return i;
	return -1;
}

/* ---- tests ---- */

static int is_case(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot && !strcmp(dot, ".case");
}

static struct replay *load_fitting(const char *file)
{
	struct replay *r;

	if (ARCH_NR_REGS != 21)		/* all cases are of x86-64 */
		return NULL;
	r = load(file);
	assert_string_equal(r->arch, "x86_64");
	assert_true(r->nr_frames > 0);
	return r;
}

static void test_cases(void **state)
{
	struct dirent **files;
	int nr = scandir(CASES, &files, is_case, alphasort), bad = 0;

	(void)state;
	assert_true(nr >= MIN_CASES);
	for (int i = 0; i < nr; i++) {
		struct replay *r = load_fitting(files[i]->d_name);
		uint32_t end;
		long at = r ? unwinder(r, &end) : -1;

		if (r && (at >= 0 || strcmp(stack_end_name(end), r->end))) {
			print_error("%s: frame %ld of %u differs, end %s, want %s\n", r->name, at, r->nr_frames,
				    stack_end_name(end), r->end);
			bad++;
		}
		if (r)
			unload(r);
		free(files[i]);
	}
	free(files);
	assert_int_equal(bad, 0);
}

static void test_variety(void **state)
{
	struct dirent **files;
	int nr = scandir(CASES, &files, is_case, alphasort);
	char programs[256][64];
	size_t nr_programs = 0;

	(void)state;
	for (int i = 0; i < nr; i++) {
		struct replay *r = load_fitting(files[i]->d_name);
		size_t k = 0;

		free(files[i]);
		if (!r)
			continue;
		while (k < nr_programs && strcmp(programs[k], r->program))
			k++;
		if (k == nr_programs && nr_programs < 256)
			snprintf(programs[nr_programs++], sizeof(programs[0]), "%s", r->program);
		unload(r);
	}
	free(files);
	assert_true(ARCH_NR_REGS != 21 || nr_programs >= MIN_PROGRAMS);
}

/* A case proves something only if it fails with a rule that is wrong: the CFA 8 bytes off, in all rows that add to sp. */
static void test_wrong_rules(void **state)
{
	struct dirent **files;
	int nr = scandir(CASES, &files, is_case, alphasort), blind = 0;

	(void)state;
	for (int i = 0; i < nr; i++) {
		struct replay *r = load_fitting(files[i]->d_name);
		bool changed = false;
		uint32_t end;

		free(files[i]);
		if (!r)
			continue;
		for (size_t t = 0; t < r->nr_tables; t++) {
			for (size_t k = 0; k < r->tables[t].built->nr_rules; k++) {
				struct unwind_rule *rule = &r->tables[t].built->rules[k];

				if (rule->cfa == CFA_SP) {
					rule->cfa_off += 8;
					changed = true;
				}
			}
		}
		if (changed && unwinder(r, &end) < 0) {
			print_error("%s does not notice wrong rules\n", r->name);
			blind++;
		}
		unload(r);
	}
	free(files);
	assert_int_equal(blind, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_variety),
		cmocka_unit_test(test_wrong_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
