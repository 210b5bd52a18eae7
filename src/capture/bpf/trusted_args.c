/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/trusted_args.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>

/* libbpf hands the kernel the types as they are in its memory. */
void trusted_args_drop(const struct bpf_object *obj)
{
	struct btf *btf = bpf_object__btf(obj);

	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *tag = btf__type_by_id(btf, id);
		struct btf_type *function;

		if (!btf_is_decl_tag(tag) ||
		    strcmp(btf__name_by_offset(btf, tag->name_off), "arg:trusted"))
			continue;
		function = (struct btf_type *)btf__type_by_id(btf, tag->type);
		function->info = BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC;
	}
}
