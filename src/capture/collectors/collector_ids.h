/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of the kinds of capture (bpf/kinds.def), which are those of collectors[]. */
#pragma once

enum collector_id {
#define COLLECTOR(NAME, name) COLLECTOR_##NAME,
#include "bpf/kinds.def"
	COLLECTORS
};
