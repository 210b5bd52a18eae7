/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "formats/trace/trace_reader.h"
#include "src/live/feed.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/report/state_words.h"
#include "src/report/trace_summary.h"
#include "src/serve/event_stream.h"
#include "src/serve/server.h"
#include "src/serve/shared_text.h"

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* The value of a label: backslashes, quotes and ends of lines are escaped, and no other bytes. */
static void put_label(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s=\"", key);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else
			putc((unsigned char)*text < 0x20 ? '?' : *text, out);
	}
	putc('"', out);
}

static void put_series(FILE *out, const char *name, const struct served *v, const char *key,
		       const char *label)
{
	fprintf(out, "%s{", name);
	put_label(out, "trace", v->source.name);
	if (key) {
		putc(',', out);
		put_label(out, key, label);
	}
	fputs("} ", out);
}

/* ---- of each trace ---- */

static void put_samples(FILE *out, const char *name, const struct served *v)
{
	const struct definition_store *t = live_profile_tables(v->profile);
	size_t nr;
	const struct live_event *e = live_profile_events(v->profile, &nr);

	for (uint32_t i = 1; i < nr; i++) {
		const struct rec_event *rec = definition_store_find_event(t, i);

		if (!rec)
			continue;
		put_series(out, name, v, "event", definition_store_string(t, rec->name, NULL));
		fprintf(out, "%" PRIu64 "\n", e[i].samples);
	}
}

/* Weights are in the unit of their event: nanoseconds as seconds, all others as they are. */
static void put_weights(FILE *out, const char *name, const struct served *v)
{
	const struct definition_store *t = live_profile_tables(v->profile);
	size_t nr;
	const struct live_event *e = live_profile_events(v->profile, &nr);

	for (uint32_t i = 1; i < nr; i++) {
		const struct rec_event *rec = definition_store_find_event(t, i);
		const char *unit = rec ? definition_store_string(t, rec->unit, NULL) : "";

		if (unit[0] != 'n' || unit[1] != 's' || unit[2])
			continue;
		put_series(out, name, v, "event", definition_store_string(t, rec->name, NULL));
		fprintf(out, "%.9f\n", (double)e[i].weight / 1e9);
	}
}

static void put_lost(FILE *out, const char *name, const struct served *v)
{
	const struct report_info *info = live_profile_info(v->profile);

	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		put_series(out, name, v, "cause", loss_cause_name(i));
		fprintf(out, "%" PRIu64 "\n", info->lost[i]);
	}
}

/* Threads of the newest snapshot. */
static void put_threads(FILE *out, const char *name, const struct served *v)
{
	uint32_t end = live_profile_threads(v->profile), scan = live_profile_scan(v->profile);
	unsigned futex = activity_futex(live_profile_meta(v->profile, "arch"));
	uint64_t nr[ACTIVITIES] = { 0 };

	for (uint32_t i = 0; scan && i < end; i++) {
		const struct rec_sample *row = live_profile_row(v->profile, i);

		if (row && row->scan + 1 >= scan)
			nr[sample_activity(row, futex)]++;
	}
	for (unsigned a = 0; scan && a < ACTIVITIES; a++) {
		put_series(out, name, v, "state", activity_name(a));
		fprintf(out, "%" PRIu64 "\n", nr[a]);
	}
}

static void put_scans(FILE *out, const char *name, const struct served *v)
{
	put_series(out, name, v, NULL, NULL);
	fprintf(out, "%" PRIu64 "\n", live_profile_info(v->profile)->scans.count);
}

static void put_bytes(FILE *out, const char *name, const struct served *v)
{
	const struct trace_status *status = feed_status(v->feed);

	put_series(out, name, v, NULL, NULL);
	fprintf(out, "%" PRIu64 "\n", status ? status->file_bytes : 0);
}

static void put_damage(FILE *out, const char *name, const struct served *v)
{
	const struct trace_status *status = feed_status(v->feed);

	put_series(out, name, v, NULL, NULL);
	fprintf(out, "%" PRIu64 "\n", status ? status->bad_chunks : 0);
}

static void put_seconds(FILE *out, const char *name, const struct served *v)
{
	uint64_t begin, end;

	live_profile_times(v->profile, &begin, &end);
	put_series(out, name, v, NULL, NULL);
	fprintf(out, "%.3f\n", (double)(end - begin) / 1e9);
}

static void put_recording(FILE *out, const char *name, const struct served *v)
{
	put_series(out, name, v, NULL, NULL);
	fprintf(out, "%d\n", !v->is_over);
}

static const struct metric {
	const char *name, *type, *help;
	void (*put)(FILE *out, const char *name, const struct served *v);
} metrics[] = {
	{ "probee_recording", "gauge", "1 while the recording goes on.", put_recording },
	{ "probee_recorded_seconds", "gauge", "Time from the first record to the last one.",
	  put_seconds },
	{ "probee_samples_total", "counter", "Samples, or rows of snapshots, by event.",
	  put_samples },
	{ "probee_sampled_seconds_total", "counter",
	  "Time that samples stand for, of events that measure time.", put_weights },
	{ "probee_snapshots_total", "counter", "Walks over all threads.", put_scans },
	{ "probee_lost_total", "counter", "What was lost, by cause.", put_lost },
	{ "probee_threads", "gauge", "Threads in the newest snapshot, by what they were doing.",
	  put_threads },
	{ "probee_trace_bytes", "gauge", "Size of the trace.", put_bytes },
	{ "probee_trace_damaged_chunks", "gauge", "Chunks of the trace that could not be read.",
	  put_damage },
};

/* ---- of the server ---- */

static double own_cpu(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

static void put_one(FILE *out, const char *name, const char *type, const char *help, double value)
{
	put_head(out, name, type, help);
	fprintf(out, "%s %.10g\n", name, value);
}

static void put_server(FILE *out, const struct serve *s)
{
	const struct server_counts *n = &s->counts;

	put_one(out, "probee_http_requests_total", "counter", "Requests that were answered.",
		(double)n->requests);
	put_one(out, "probee_http_refused_total", "counter",
		"Requests without the token, or of a wrong host or page.", (double)n->refused);
	put_one(out, "probee_http_sent_away_total", "counter",
		"Connections that were closed to make room, or that sent no request in time.",
		(double)s->places.sent_away);
	put_one(out, "probee_http_streams", "gauge", "Clients that follow live.",
		(double)event_streams_count(s));
	put_one(out, "probee_reports_total", "counter", "Reports that were asked for.",
		(double)n->reports);
	put_one(out, "probee_reports_failed_total", "counter",
		"Reports that could not be made, or took too long.", (double)n->failed_reports);
	put_one(out, "process_cpu_seconds_total", "counter",
		"CPU time of the server, which does not record.", own_cpu());
}

struct shared_text *metrics_text(const struct serve *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (size_t m = 0; m < sizeof(metrics) / sizeof(metrics[0]); m++) {
		put_head(out, metrics[m].name, metrics[m].type, metrics[m].help);
		for (size_t i = 0; i < s->nr; i++)
			if (s->v[i].profile)
				metrics[m].put(out, metrics[m].name, &s->v[i]);
	}
	put_server(out, s);
	if (!fclose(out))
		return shared_text_take(text, len);
	free(text);
	return NULL;
}
