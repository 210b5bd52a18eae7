/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/traced_function.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "src/capture/bpf/bpf_object.h"
#include "src/capture/bpf/capture_bpf_parts.h"

struct traced_function {
	struct probee_bpf *skel;
	struct bpf_program *prog;
};

/* A map that the other object has not made is not needed here either. */
static int share_maps(struct probee_bpf *copy, const struct probee_bpf *from)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, copy->obj) {
		const struct bpf_map *other =
			bpf_object__find_map_by_name(from->obj, bpf_map__name(map));
		int fd = other ? bpf_map__fd(other) : -1;

		if (!err)
			err = fd >= 0 ? bpf_map__reuse_fd(map, fd)
				      : bpf_map__set_autocreate(map, false);
	}
	return err;
}

static int load(struct traced_function *t, const struct capture_bpf *b, const char *function,
		bool at_exit)
{
	struct bpf_program *prog;
	int err = share_maps(t->skel, b->skel);

	t->prog = at_exit ? t->skel->progs.on_fexit : t->skel->progs.on_fentry;
	bpf_object__for_each_program(prog, t->skel->obj)
		bpf_program__set_autoload(prog, prog == t->prog);
	if (!err)
		err = bpf_program__set_attach_target(t->prog, 0, function);
	return err ? err : probee_bpf__load(t->skel);
}

int traced_function_open(const struct capture_bpf *b, const char *function, bool at_exit,
			 struct traced_function **out)
{
	struct traced_function *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->skel = bpf_object_open(true, true, NULL);
	err = t->skel ? load(t, b, function, at_exit) : -errno;
	if (err)
		traced_function_close(t);
	else
		*out = t;
	return err;
}

void traced_function_close(struct traced_function *t)
{
	if (!t)
		return;
	probee_bpf__destroy(t->skel);
	free(t);
}

struct bpf_program *traced_function_program(const struct traced_function *t)
{
	return t->prog;
}

int traced_function_arguments(const char *function)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	int id, nr = -ENOENT;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (type && btf_is_func_proto(type))
		nr = btf_vlen(type);
	btf__free(btf);
	return nr;
}
