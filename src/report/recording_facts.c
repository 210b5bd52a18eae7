/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each recording of a trace says of itself (report.h), and all of them of their hosts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/hash_index.h"
#include "src/base/hex.h"
#include "src/base/intern.h"
#include "src/report/report.h"
#include "src/report/report_parts.h"

#define HOSTS_NAMED 3

static void put_uuid(char text[33], const uint8_t uuid[16])
{
	static const uint8_t none[16];

	text[0] = 0;
	if (!memcmp(uuid, none, sizeof(none)))
		return;			/* its IDENT was lost */
	hex_put(text, uuid, 16);
}

static void note_meta(struct recording_facts *f, const struct report_meta_item *m)
{
	if (!strcmp(m->key, "host"))
		f->host = m->value;
	else if (!strcmp(m->key, "kernel.release"))
		f->kernel = m->value;
	else if (!strcmp(m->key, "arch"))
		f->arch = m->value;
	else if (!strcmp(m->key, "merge.id") && m->len + 1 == sizeof(f->id))
		memcpy(f->id, m->value, sizeof(f->id));	/* of the trace that it was copied from */
}

/* Names of hosts, each once, the first few of them. 0 or -ENOMEM. */
static int name_hosts(struct report *rep, struct intern *hosts)
{
	size_t n = 0;

	for (size_t i = 0; i < rep->nr_segments; i++)
		if (intern_str(hosts, rep->segments[i].facts.host) == IX_NONE)
			return -ENOMEM;
	for (uint32_t id = 1; id < intern_count(hosts) && id <= HOSTS_NAMED; id++)
		n += (size_t)snprintf(rep->hosts + n, sizeof(rep->hosts) - n, "%s%.64s",
				      id > 1 ? ", " : "", intern_get(hosts, id, NULL));
	if (intern_count(hosts) > HOSTS_NAMED + 1)
		snprintf(rep->hosts + n, sizeof(rep->hosts) - n, " and %u more",
			 intern_count(hosts) - HOSTS_NAMED - 1);
	return 0;
}

int report_learn_recordings(struct report *rep)
{
	struct intern *hosts = intern_new();
	int err;

	for (size_t i = 0; i < rep->nr_segments; i++) {
		struct segment *s = &rep->segments[i];

		s->facts = (struct recording_facts){ .trace = rep->path, .host = "", .kernel = "",
						     .arch = "" };
		put_uuid(s->facts.id, s->uuid);
		if (s->has_begin)
			s->facts.begin_real_ns = wall_clock_real(&s->clock, s->begin_ns);
	}
	for (size_t i = 0; i < rep->trace_summary.nr_metas; i++) {
		const struct report_meta_item *m = &rep->trace_summary.metas[i];

		if (m->segment < rep->nr_segments)
			note_meta(&rep->segments[m->segment].facts, m);
	}
	err = hosts ? name_hosts(rep, hosts) : -ENOMEM;
	intern_free(hosts);
	return err ? fail(err, "%s", rep->path) : 0;
}

const struct recording_facts *report_recording(const struct report *rep, uint32_t segment)
{
	return segment < rep->nr_segments ? &rep->segments[segment].facts : NULL;
}
