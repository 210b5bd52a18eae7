/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines as the runtimes wrote them (node 20, CPython 3.12, PHP 8.2, OpenJDK 17 and 25), or as their sources print them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/symbolize/jit_label.h"

struct row {
	const char *text, *name, *file;
	uint32_t line, column;
	uint8_t lang, tier;
};

static void expect(const struct row *r)
{
	struct byte_buf name = { 0 };
	struct jit_label l;
	char *copy = strdup(r->text);		/* no NUL of its own is needed behind the text */

	jit_label_parse(copy, strlen(copy), &l);
	jit_label_put_name(&l, &name);
	if (strcmp((char *)name.v, r->name) || l.file.len != strlen(r->file) ||
	    memcmp(l.file.s ? l.file.s : "", r->file, l.file.len) || l.line != r->line || l.column != r->column ||
	    l.lang != r->lang || l.tier != r->tier)
		fail_msg("'%s': '%s' in '%.*s':%u:%u, language %u, tier %u", r->text, (char *)name.v, (int)l.file.len,
			 l.file.s ? l.file.s : "", l.line, l.column, l.lang, l.tier);
	bb_release(&name);
	free(copy);
}

#define ROWS(v) for (size_t i = 0; i < sizeof(v) / sizeof((v)[0]); i++) expect(&(v)[i])

static void test_v8(void **state)
{
	enum { JS = LANG_JAVASCRIPT };
	static const struct row rows[] = {
		{ "JS:*hot /tmp/hot.js:1:13", "hot", "/tmp/hot.js", 1, 13, JS, TIER_OPTIMIZED },
		{ "LazyCompile:*hot /tmp/hot.js:1", "hot", "/tmp/hot.js", 1, 0, JS, TIER_OPTIMIZED },
		{ "JS:~ node:internal/main/run_main_module:1:1", "(anonymous) run_main_module:1",
		  "node:internal/main/run_main_module", 1, 1, JS, TIER_INTERPRETED },
		{ "JS:^get prop /tmp/hot.js:2:76", "get prop", "/tmp/hot.js", 2, 76, JS, TIER_BASELINE },
		{ "JS:+'f file:///my dir/a.mjs:3:4", "f", "file:///my dir/a.mjs", 3, 4, JS, TIER_BASELINE },
		{ "JS:*'f /my dir/a b.js:3:4", "f", "/my dir/a b.js", 3, 4, JS, TIER_OPTIMIZED },
		{ "JS:*GET /users /srv/app.js:30:40", "GET /users", "/srv/app.js", 30, 40, JS, TIER_OPTIMIZED },
		{ "JS:^ /tmp/hot.js:2:49", "(anonymous) hot.js:2", "/tmp/hot.js", 2, 49, JS, TIER_BASELINE },
		{ "JS:*f evalmachine.<anonymous>:7:8", "f", "evalmachine.<anonymous>", 7, 8, JS, TIER_OPTIMIZED },
		{ "Eval:~ :1:1", "(anonymous)", "", 1, 1, JS, TIER_INTERPRETED },
		{ "JS:*f", "f", "", 0, 0, JS, TIER_OPTIMIZED },
		{ "JS:*", "(anonymous)", "", 0, 0, JS, TIER_OPTIMIZED },
		{ "JS:", "(anonymous)", "", 0, 0, JS, 0 },
		{ "JS:*a:1:2", "a:1:2", "", 0, 0, JS, TIER_OPTIMIZED },
		{ "JS:*f /a.js:99999999999:2", "f", "/a.js:99999999999", 2, 0, JS, TIER_OPTIMIZED },
		{ "Builtin:ArrayMap", "Builtin:ArrayMap", "", 0, 0, JS, TIER_BUILTIN },
		{ "BytecodeHandler:LdaZero", "BytecodeHandler:LdaZero", "", 0, 0, JS, TIER_BUILTIN },
		{ "RegExp:a+b", "RegExp:a+b", "", 0, 0, JS, TIER_OPTIMIZED },
	};

	(void)state;
	ROWS(rows);
}

static void test_java(void **state)
{
	enum { J = LANG_JAVA };
	static const struct row rows[] = {
		{ "int Hot.hot(int)", "Hot.hot(int)", "", 0, 0, J, TIER_COMPILED },
		{ "void Hot.main(java.lang.String[])", "Hot.main(java.lang.String[])", "", 0, 0, J, TIER_COMPILED },
		{ "void java.lang.Object.<init>()", "java.lang.Object.<init>()", "", 0, 0, J, TIER_COMPILED },
		{ "void jdk.internal.vm.Continuation.enterSpecial(jdk.internal.vm.Continuation, boolean, boolean)",
		  "jdk.internal.vm.Continuation.enterSpecial(jdk.internal.vm.Continuation, boolean, boolean)", "", 0, 0,
		  J, TIER_COMPILED },
		{ "Ljava/lang/String;::hashCode", "Ljava/lang/String;::hashCode", "", 0, 0, J, TIER_COMPILED },
		{ "Interpreter", "Interpreter", "", 0, 0, J, TIER_INTERPRETED },
		{ "StubRoutines (1)", "StubRoutines (1)", "", 0, 0, J, TIER_BUILTIN },
		{ "I2C/C2I adapters", "I2C/C2I adapters", "", 0, 0, J, TIER_BUILTIN },
	};

	(void)state;
	ROWS(rows);
}

static void test_others(void **state)
{
	static const struct row rows[] = {
		{ "py::hot:/tmp/hot.py", "hot", "/tmp/hot.py", 0, 0, LANG_PYTHON, TIER_INTERPRETED },
		{ "py::A.f.<locals>.<lambda>:/a:b.py", "A.f.<locals>.<lambda>", "/a:b.py", 0, 0, LANG_PYTHON, TIER_INTERPRETED },
		{ "py::<module>:<frozen importlib._bootstrap>", "<module>", "<frozen importlib._bootstrap>", 0, 0, LANG_PYTHON,
		  TIER_INTERPRETED },
		{ "JIT$A::meth", "A::meth", "", 0, 0, LANG_PHP, TIER_COMPILED },
		{ "JIT$/tmp/hot.php", "/tmp/hot.php", "/tmp/hot.php", 0, 0, LANG_PHP, TIER_COMPILED },
		{ "TRACE-8$A::meth$2", "A::meth", "", 2, 0, LANG_PHP, TIER_OPTIMIZED },
		{ "JIT$$trace_exit", "JIT$$trace_exit", "", 0, 0, LANG_PHP, TIER_BUILTIN },
		{ "jit$$trace_exit_0", "jit$$trace_exit_0", "", 0, 0, LANG_PHP, TIER_BUILTIN },
		{ "$lists:map/2", "lists:map/2", "", 0, 0, LANG_ERLANG, TIER_COMPILED },
		{ "Object#fib@/srv/a.rb:7", "Object#fib", "/srv/a.rb", 7, 0, LANG_RUBY, TIER_COMPILED },
		{ "void [System.Private.CoreLib] System.Threading.Thread::StartCallback()[Tier0]",
		  "System.Threading.Thread::StartCallback()", "", 0, 0, LANG_DOTNET, TIER_BASELINE },
		{ "int32 [a] B::C(int32)[OptimizedTier1]", "B::C(int32)", "", 0, 0, LANG_DOTNET, TIER_OPTIMIZED },
	};

	(void)state;
	ROWS(rows);
}

/* Not quite one of the forms: the whole text is the name. */
static void test_names(void **state)
{
	static const char *const names[] = {
		"jit_spin", "py::", "py::a", "py:::", "$", "$x", "$PATH", "JIT$", "TRACE-", "TRACE-1$", "TRACE-1$$1", "TRACE-1$a$",
		"L", "std::vector<int>::at(unsigned long)", "operator new(unsigned long)", "int f(int)", "a.b(c)", " a.b()", "@/a.rb:1",
		"a@/a.rb", "a@/a.py:1", "[x] y", "[", "] ", "void [x] [Tier0]", ":1:2", "_ZN3fooEv",
		"julia_f_123", "wasm[0]::function[3]", "Interpreter2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(&(struct row){ .text = names[i], .name = names[i], .file = "" });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v8),
		cmocka_unit_test(test_java),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
