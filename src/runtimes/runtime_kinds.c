/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/runtime_kind.h"

static const struct runtime_kind none;

#define RUNTIME(NUMBER, name) extern const struct runtime_kind name##_runtime;
#include "src/runtimes/runtime_kinds.def"

const struct runtime_kind *const runtime_kinds[RUNTIME_KINDS] = {
	[RUNTIME_NONE] = &none,
#define RUNTIME(NUMBER, name) [RUNTIME_##NUMBER] = &name##_runtime,
#include "src/runtimes/runtime_kinds.def"
};
