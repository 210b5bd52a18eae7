/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/info_flight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/escape.h"
#include "formats/render/json_writer.h"
#include "src/base/clock.h"
#include "src/report/report.h"

/* What the proposed window has before and after the trigger. */
#define BEFORE_S 10
#define AFTER_S 5

struct flight_facts {
	const char *trigger;
	size_t trigger_len;
	uint64_t time_ns, begin_ns;	/* of the trigger and the first sample, CLOCK_REALTIME */
};

/* A decimal word of META flight; 0 without it. The text ends with NUL. */
static uint64_t word(const struct report *rep, const char *name)
{
	const char *text = report_meta(rep, "flight", NULL), *at = text;
	size_t len = strlen(name);

	while (at && *at) {
		if (!strncmp(at, name, len) && at[len] == '=')
			return strtoull(at + len + 1, NULL, 10);
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return 0;
}

static bool facts_of(const struct report *rep, struct flight_facts *f)
{
	const char *time = report_meta(rep, "flight.time", NULL);

	f->trigger = report_meta(rep, "flight.trigger", &f->trigger_len);
	if (!f->trigger || !time)
		return false;
	f->time_ns = report_real_ns(rep, 0, strtoull(time, NULL, 10));
	f->begin_ns = report_info(rep)->first_real_ns;
	return true;
}

/* From the first sample, as --from and --to have it. */
static double at_s(const struct flight_facts *f)
{
	return ((double)f->time_ns - (double)f->begin_ns) / 1e9;
}

static void put_when(const struct flight_facts *f)
{
	time_t t = (time_t)(f->time_ns / NSEC_PER_SEC);
	struct tm tm = { 0 };
	char date[64];
	double at = at_s(f), from = at > BEFORE_S ? at - BEFORE_S : 0;

	localtime_r(&t, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &tm);
	printf("%-9s at %s, %.1f s behind the first sample: probee report --from %.1f --to %.1f\n",
	       "", date, at, from, at + AFTER_S);
}

void info_put_flight(const struct report *rep)
{
	uint64_t early = word(rep, "early_samples");
	struct flight_facts f;

	if (!facts_of(rep, &f))
		return;
	printf("%-9s ", "trigger");
	escape_text(stdout, f.trigger, f.trigger_len);
	putchar('\n');
	put_when(&f);
	printf("%-9s flight recorder: %.1f s before it, of %.1f s that were to be kept", "",
	       (double)word(rep, "kept") / 1e3, (double)word(rep, "asked") / 1e3);
	if (early)
		printf("; %" PRIu64 " samples had fallen out of memory before their time", early);
	printf("; %" PRIu64 " of %" PRIu64 " triggers came too soon\n", word(rep, "too_soon"),
	       word(rep, "triggers"));
}

void info_json_flight(struct json_writer *w, const struct report *rep)
{
	static const char *const words[] = {
		"asked", "kept", "after", "memory", "early", "early_samples", "triggers",
		"too_soon", "files",
	};
	struct flight_facts f;

	json_key(w, "flight");
	if (!facts_of(rep, &f)) {
		json_null(w);
		return;
	}
	json_begin(w, '{');
	json_key(w, "trigger");
	json_string(w, f.trigger, f.trigger_len);
	json_put_number(w, "at_s", at_s(&f));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		json_put_u64(w, words[i], word(rep, words[i]));
	json_end(w, '}');
}
