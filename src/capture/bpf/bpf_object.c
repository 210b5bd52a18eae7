/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/bpf_object.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bpf/wire.h"
#include "bpf/knobs.h"
#include "bpf/rate_limit.h"
#include "bpf/probee.skel.h"
#include "bpf/sampler.skel.h"
#include "bpf/scans.skel.h"

/* User space writes to the variables of each object by the skeleton of the first. */
#define SAME_PLACE(section, name)                                                  \
	_Static_assert(offsetof(struct probee_bpf__##section, name) ==             \
				       offsetof(struct sampler_bpf__##section, name) && \
			       offsetof(struct probee_bpf__##section, name) ==     \
				       offsetof(struct scans_bpf__##section, name), \
		       #name " is elsewhere in another object")
SAME_PLACE(rodata, knobs);
SAME_PLACE(rodata, wait_calls);
SAME_PLACE(bss, control);
SAME_PLACE(bss, own_pid_ns);
SAME_PLACE(bss, totals);
SAME_PLACE(bss, place);
SAME_PLACE(bss, scan);
SAME_PLACE(bss, off_cpu);
SAME_PLACE(bss, probe_control);
SAME_PLACE(bss, irq_control);
_Static_assert(sizeof(struct probee_bpf__rodata) == sizeof(struct sampler_bpf__rodata) &&
		       sizeof(struct probee_bpf__rodata) == sizeof(struct scans_bpf__rodata) &&
		       sizeof(struct probee_bpf__bss) == sizeof(struct sampler_bpf__bss) &&
		       sizeof(struct probee_bpf__bss) == sizeof(struct scans_bpf__bss),
	       "a variable is missing in another object");

/*
 * The compiler keeps constants in maps of its own (.rodata.cst32), and one object may have such a
 * map that the other lacks. No code uses these maps by name, so the skeleton need not list them.
 */
static void forget_constants(struct bpf_object_skeleton *s)
{
	char *maps = (char *)s->maps;
	int kept = 0;

	for (int i = 0; i < s->map_cnt; i++) {
		const struct bpf_map_skeleton *m = (void *)(maps + (size_t)(i * s->map_skel_sz));

		if (!strncmp(m->name, ".rodata.", 8))
			continue;
		memmove(maps + (size_t)(kept++ * s->map_skel_sz), m, (size_t)s->map_skel_sz);
	}
	s->map_cnt = kept;
}

const void *bpf_object_bytes(bool scans, bool probes, size_t *bytes)
{
	return probes ? probee_bpf__elf_bytes(bytes)
		      : scans ? scans_bpf__elf_bytes(bytes) : sampler_bpf__elf_bytes(bytes);
}

struct probee_bpf *bpf_object_open(bool scans, bool probes, const char *types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types);
	struct probee_bpf *skel = calloc(1, sizeof(*skel));
	int err = skel ? probee_bpf__create_skeleton(skel) : -ENOMEM;

	if (!err) {
		struct bpf_object_skeleton *s = skel->skeleton;

		forget_constants(s);
		s->data = (void *)bpf_object_bytes(scans, probes, &s->data_sz);
		err = bpf_object__open_skeleton(s, &opts);
	}
	if (!err)
		return skel;
	probee_bpf__destroy(skel);
	errno = -err;
	return NULL;
}
