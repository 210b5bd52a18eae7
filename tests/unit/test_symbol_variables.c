/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of static variables: of this program itself, here and by way of a parser. */
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/model/record.h"
#include "src/parse/parsers.h"
#include "src/symbolize/symbolizer.h"
#include "tests/unit/helper_processes.h"

enum { IN_STRUCT, IN_BSS, GLOBAL, CONSTANT, CODE, CODE_AS_CODE, QUESTIONS };

struct pair { long first, second; };
struct pair global_pair = { 1, 2 };
static struct pair initialised __attribute__((used)) = { 3, 4 };
static long zeroed[4] __attribute__((used));
static const char constant[] __attribute__((used)) = "nobody writes here";

static struct {
	char name[QUESTIONS][64];
	uint64_t start[QUESTIONS];
	uint8_t status[QUESTIONS];
	unsigned nr;
} got;

static int on_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	if (!info->dlpi_name[0])
		*(uintptr_t *)base = info->dlpi_addr;
	return 0;
}

static int on_symbol(void *ctx, uint32_t cookie, uint64_t addr, const struct symbol *sym)
{
	(void)ctx;
	(void)addr;
	snprintf(got.name[cookie], sizeof(got.name[0]), "%s", sym->name ? sym->name : "");
	got.start[cookie] = sym->has_func_addr ? sym->func_addr : 0;
	got.status[cookie] = sym->status;
	got.nr++;
	return 0;
}

static void ask_all(struct symbolizer *s, uintptr_t base)
{
	struct symbol_source self = { .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
				      .path = "/proc/self/exe" };
	const void *at[] = {
		[IN_STRUCT] = &initialised.second, [IN_BSS] = &zeroed[3], [GLOBAL] = &global_pair,
		[CONSTANT] = constant, [CODE] = (const void *)on_symbol,
	};

	memset(&got, 0, sizeof(got));
	assert_int_equal(symbolizer_add(s, 1, &self), 0);
	for (uint32_t i = 0; i < CODE_AS_CODE; i++)
		assert_int_equal(symbolizer_request_variable(s, 1, i, (uintptr_t)at[i] - base), 0);
	assert_int_equal(symbolizer_request(s, 1, CODE_AS_CODE, (uintptr_t)on_symbol - base, false),
			 0);
	assert_int_equal(symbolizer_collect(s, on_symbol, NULL, &(struct patience){ 0 }), 0);
}

static void check_all(uintptr_t base)
{
	assert_int_equal(got.nr, QUESTIONS);
	assert_string_equal(got.name[IN_STRUCT], "initialised");
	assert_int_equal(got.start[IN_STRUCT], (uintptr_t)&initialised - base);
	assert_string_equal(got.name[IN_BSS], "zeroed");
	assert_int_equal(got.start[IN_BSS], (uintptr_t)zeroed - base);
	assert_string_equal(got.name[GLOBAL], "global_pair");
	assert_int_equal(got.status[GLOBAL], SYMBOL_OK_SYMTAB);
	assert_string_equal(got.name[CONSTANT], "");
	assert_string_equal(got.name[CODE], "");
	assert_int_equal(got.status[CODE], SYMBOL_NONE);
	assert_string_equal(got.name[CODE_AS_CODE], "on_symbol");
}

static void names_variables(void **state)
{
	struct symbolizer *s = symbolizer_new(NULL, &(struct symbolizer_options){ 0 });
	uintptr_t base = 0;

	(void)state;
	dl_iterate_phdr(on_object, &base);
	ask_all(s, base);
	check_all(base);
	symbolizer_free(s);
}

/* The second batch finds the variables already loaded. */
static void asks_a_parser(void **state)
{
	struct helper_processes helpers;
	struct symbolizer_options opts = { .max_depth = 8, .look_up = parse_names,
					   .look_up_lines = parse_lines };
	struct worker_pool *pool = worker_pool_new(1);
	struct symbolizer *s;
	uintptr_t base = 0;

	(void)state;
	dl_iterate_phdr(on_object, &base);
	helper_processes_start(&helpers);
	opts.ctx = helpers.parsers;
	s = symbolizer_new(pool, &opts);
	assert_true(pool && s);
	for (int i = 0; i < 2; i++) {
		ask_all(s, base);
		check_all(base);
	}
	worker_pool_free(pool);
	symbolizer_free(s);
	helper_processes_end(&helpers);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_variables), cmocka_unit_test(asks_a_parser),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
