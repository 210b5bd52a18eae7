/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of what was sent, and the line that says them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/line_text.h"
#include "src/base/plural.h"
#include "src/push/push.h"

static void add(struct push_amount *sum, const struct push_amount *a)
{
	sum->bodies += a->bodies;
	sum->profiles += a->profiles;
	sum->samples += a->samples;
	sum->bytes += a->bytes;
	sum->raw_bytes += a->raw_bytes;
}

void push_result_add(struct push_result *sum, const struct push_result *r)
{
	/* Which outcome a caller must know of, when there are several. */
	static const int weight[] = {
		[PUSH_DONE] = 0, [PUSH_LATER] = 1, [PUSH_STOPPED] = 2, [PUSH_BLOCKED] = 3,
	};

	if (weight[r->outcome] > weight[sum->outcome])
		sum->outcome = r->outcome;
	if (r->retry_after_ns > sum->retry_after_ns)
		sum->retry_after_ns = r->retry_after_ns;
	add(&sum->delivered, &r->delivered);
	add(&sum->refused, &r->refused);
	add(&sum->skipped, &r->skipped);
	sum->lost += r->lost;
	sum->partial += r->partial;
	sum->rejected_profiles += r->rejected_profiles;
	sum->cut_values += r->cut_values;
	sum->capped += r->capped;
	sum->again += r->again;
	sum->requests += r->requests;
	sum->failures += r->failures;
	if (r->status)
		sum->status = r->status;
	if (r->why[0])
		memcpy(sum->why, r->why, sizeof(sum->why));
}

static void put_bytes(struct line_text *l, uint64_t n)
{
	if (n < 10000)
		line_put(l, "%" PRIu64 " B", n);
	else if (n < 10000000)
		line_put(l, "%.1f kB", (double)n / 1e3);
	else
		line_put(l, "%.1f MB", (double)n / 1e6);
}

static void put_amount(struct line_text *l, const char *what, const struct push_amount *a)
{
	line_put(l, "%s%s %" PRIu64 " %s with %" PRIu64 " %s, %" PRIu64 " %s", l->len ? "; " : "",
		 what, a->bodies, plural(a->bodies, "body", "bodies"), a->profiles,
		 plural(a->profiles, "profile", "profiles"), a->samples,
		 plural(a->samples, "sample", "samples"));
}

void push_result_text(const struct push_result *r, char *buf, size_t size)
{
	struct line_text l = { buf, size, 0 };

	put_amount(&l, "delivered", &r->delivered);
	line_put(&l, ", ");
	put_bytes(&l, r->delivered.bytes);
	if (r->delivered.raw_bytes != r->delivered.bytes) {
		line_put(&l, " (");
		put_bytes(&l, r->delivered.raw_bytes);
		line_put(&l, " before compression)");
	}
	if (r->lost)
		line_put(&l, "; it says that %" PRIu64 " %s lost", r->lost,
			 plural(r->lost, "sample was", "samples were"));
	if (r->partial)
		line_put(&l, "; %" PRIu64 " of them only in part: %" PRIu64 " %s rejected",
			 r->partial, r->rejected_profiles,
			 plural(r->rejected_profiles, "profile was", "profiles were"));
	if (r->refused.bodies)
		put_amount(&l, "refused", &r->refused);
	if (r->skipped.bodies)
		put_amount(&l, "before", &r->skipped);
	if (r->again)
		line_put(&l,
			 "; %" PRIu64 " %s sent again as a whole, of which the receiver may have "
			 "stored a part before",
			 r->again, plural(r->again, "body was", "bodies were"));
	if (r->cut_values)
		line_put(&l, "; %" PRIu64 " %s cut", r->cut_values,
			 plural(r->cut_values, "label was", "labels were"));
	if (r->capped)
		line_put(&l, "; %" PRIu64 " %s too large for the protocol", r->capped,
			 plural(r->capped, "weight was", "weights were"));
	if (r->failures)
		line_put(&l, "; %" PRIu64 " of %" PRIu64 " %s failed", r->failures, r->requests,
			 plural(r->requests, "request", "requests"));
}
