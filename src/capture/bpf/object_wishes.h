/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a BPF object asks of the kernel's types: the types whose layout its instructions are adapted
 * to (CO-RE: the records of its section .BTF.ext), and those by which the kernel knows what a
 * program is attached to (the program's section: "tp_btf/sched_switch").
 *
 * The object is one of our own, from bpftool gen object; nothing in it is foreign.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct wish {
	char *name;			/* "task_struct", "btf_trace_sched_switch" */
	uint32_t kinds;			/* bits by BTF_KIND_... */
	uint32_t id;			/* of the kernel; 0 until it is found */
};

struct object_wishes {
	struct wish *v;
	size_t nr, nr_layouts;		/* those with a layout come first */
	size_t cap;
};

/* 0, -EINVAL: this is no such object, -ENOMEM. */
int object_wishes_init(struct object_wishes *w, const void *elf, size_t elf_bytes);
void object_wishes_release(struct object_wishes *w);

/* One more, a type that the kernel may lack and whose layout the object does not need. */
int object_wishes_add(struct object_wishes *w, const char *name, uint32_t kinds);

/*
 * The type that a program of this section is attached to: writes its name and returns its kind,
 * BTF_KIND_TYPEDEF or BTF_KIND_FUNC; 0: it is attached to none. section: "tp_btf/NAME",
 * "iter/NAME", "iter.s/NAME", with "?" before it or not.
 */
#define WISH_NAME 80
int object_wishes_target(const char *section, char name[WISH_NAME]);
