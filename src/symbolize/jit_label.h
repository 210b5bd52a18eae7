/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a runtime says of a piece of generated code in one line of text, taken apart: the name of
 * the function, its file and line, its language, and by which compiler the code was made. Each
 * runtime has a form of its own:
 *
 *	JS:*hot /srv/a.js:12:3		V8: optimized; "^" "+" earlier tiers, "~" interpreted
 *	Builtin:ArrayMap		V8: its own code
 *	py::Pool.run:/srv/a.py		Python -X perf: interpreted
 *	int Hot.hot(int)		Java: jcmd PID Compiler.perfmap
 *	Ljava/lang/String;::hashCode	Java: perf-map-agent
 *	JIT$A::meth, TRACE-3$hot$7	PHP: a function; a trace that begins in line 7
 *	$lists:map/2			Erlang +JPperf
 *	a@/srv/a.rb:7			Ruby YJIT
 *	void [Lib] Ns.Type::F()[Tier0]	.NET
 *
 * (V8: src/logging/log.cc and code-kind.h; CPython: Python/perf_trampoline.c; JDK:
 * CodeCache::write_perf_map(); PHP: ext/opcache/jit/zend_jit_perf_dump.c; Erlang/OTP:
 * beam_jit_metadata.cpp; .NET: src/coreclr/vm/perfmap.cpp.) A text of no known form is a name.
 *
 * The text is foreign; nothing is allocated, and each byte is looked at a few times at most.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

/* A part of the text; len 0: unknown. */
struct label_part {
	const char *s;
	size_t len;
};

struct jit_label {
	struct label_part name;		/* never empty if the text is not */
	struct label_part file;
	uint32_t line, column;		/* where the function begins; 0: unknown */
	uint8_t lang;			/* enum func_lang */
	uint8_t tier;			/* enum func_tier */
};

/*
 * Appends the name with a NUL. Functions without a name are told apart by the last part of their
 * file and their line: "(anonymous) a.js:12".
 */
void jit_label_put_name(const struct jit_label *l, struct byte_buf *out);
void jit_label_parse(const char *text, size_t len, struct jit_label *out);
