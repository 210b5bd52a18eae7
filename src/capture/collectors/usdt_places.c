/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The places of probes as BPF programs have them: a number, and where the arguments are. */
#include <errno.h>

#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/collectors/probe_attach.h"

int usdt_places_put(struct probe_attach *a, struct capture_bpf *bpf, uint32_t *next)
{
	int err = 0;

	if (a->points.nr > USDT_PLACES - *next)
		return fail_why(-E2BIG, "%s: all probes with arguments together have more than %d "
				"places. Try: fewer of them", a->request->spec.name,
				USDT_PLACES - 1);
	a->first_place = *next;
	for (size_t i = 0; i < a->points.nr && !err; i++) {
		struct usdt_place place = { .size = 0 };

		probe_arguments(a, i, place.v);
		err = capture_bpf_usdt_place(bpf, (*next)++, &place);
	}
	return err;
}
