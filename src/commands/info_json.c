/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/info_json.h"

#include <string.h>
#include <sys/wait.h>

#include "formats/render/json_writer.h"
#include "formats/render/scan_sums_json.h"
#include "src/commands/info_commands.h"
#include "src/commands/info_flight.h"
#include "src/model/definition_store.h"
#include "src/report/cpu_check.h"
#include "src/report/name_health.h"
#include "src/report/report.h"
#include "src/report/stack_cause.h"
#include "src/report/stack_health.h"

static void put_string(struct json_writer *w, const char *key, const char *s, size_t len)
{
	json_key(w, key);
	json_string(w, s, len);
}

static void put_defined(struct json_writer *w, const char *key, const struct definition_store *t,
			uint32_t string)
{
	size_t len;
	const char *s = definition_store_string(t, string, &len);

	put_string(w, key, s, len);
}

/* The METAs of the first recording. Keys are foreign bytes, like values. */
static void put_metas(struct json_writer *w, const struct report *rep)
{
	size_t nr;
	const struct report_meta_item *metas = report_metas(rep, &nr);

	json_key(w, "meta");
	json_begin(w, '{');
	for (size_t i = 0; i < nr; i++) {
		if (metas[i].segment)
			continue;
		json_foreign_key(w, metas[i].key, strlen(metas[i].key));
		json_string(w, metas[i].value, metas[i].len);
	}
	json_end(w, '}');
}

static void put_event(struct json_writer *w, const struct definition_store *t,
		      const struct rec_event *e)
{
	json_begin(w, '{');
	put_defined(w, "name", t, e->name);
	put_defined(w, "unit", t, e->unit);
	if (e->freq_mhz)
		json_put_number(w, "frequency_hz", (double)e->freq_mhz / 1000);
	json_put_u64(w, "period", e->period);
	json_end(w, '}');
}

/* The events of all recordings in the file. */
static void put_events(struct json_writer *w, const struct report *rep)
{
	const struct definition_store *t;

	json_key(w, "events");
	json_begin(w, '[');
	for (uint32_t at = 0; (t = report_tables(rep, at)); at++) {
		for (uint32_t id = 1; id < definition_store_id_end(t, REC_EVENT); id++) {
			const struct rec_event *e = definition_store_find_event(t, id);

			if (e)
				put_event(w, t, e);
		}
	}
	json_end(w, ']');
}

static void put_ended(struct json_writer *w, const struct report_info *info)
{
	int status = info->end.target_status;

	json_key(w, "recordings");
	json_begin(w, '{');
	json_put_u64(w, "all", info->nr_segments);
	json_put_u64(w, "finished", info->nr_ended);
	json_end(w, '}');
	json_key(w, "ended");
	if (!info->nr_ended) {
		json_null(w);
		return;
	}
	json_begin(w, '{');
	json_put_text(w, "by", end_reason_name(info->end.reason));
	if (status != -1 && WIFEXITED(status))
		json_put_u64(w, "exit_code", (unsigned)WEXITSTATUS(status));
	else if (status != -1 && WIFSIGNALED(status))
		json_put_u64(w, "signal", (unsigned)WTERMSIG(status));
	json_put_u64(w, "probee_cpu_ns", info->end.cpu_time_ns);
	json_end(w, '}');
}

static void put_tasks(struct json_writer *w, const struct report *rep)
{
	static const struct { const char *key; enum record_tag tag; } rows[] = {
		{ "processes", REC_PROCESS }, { "threads", REC_THREAD }, { "binaries", REC_BINARY },
	};
	const struct definition_store *t;

	json_key(w, "tasks");
	json_begin(w, '{');
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t n = 0;

		for (uint32_t at = 0; (t = report_tables(rep, at)); at++)
			n += tables_count(t, rows[i].tag);
		json_put_u64(w, rows[i].key, n);
	}
	json_end(w, '}');
}

/* Counts by stack_end, without those that are 0. The last one counts ends unknown to probee. */
static void put_ends(struct json_writer *w, const uint64_t ends[STACK_ENDS + 1])
{
	json_key(w, "ends");
	json_begin(w, '{');
	for (unsigned end = 0; end <= STACK_ENDS; end++) {
		if (ends[end])
			json_put_u64(w, end < STACK_ENDS ? stack_end_name(end) : "unknown",
				     ends[end]);
	}
	json_end(w, '}');
}

static void put_cpus(struct json_writer *w, const struct cpu_check *c)
{
	static const char *const keys[CPU_SOURCES] = {
		[CPU_BY_SAMPLES] = "samples", [CPU_BY_SCANS] = "snapshots", [CPU_BY_STAT] = "stat",
	};

	json_key(w, "cpus_busy");
	json_begin(w, '{');
	for (unsigned i = 0; i < CPU_SOURCES; i++) {
		if (c->of[i].is_known)
			json_put_number(w, keys[i], c->of[i].share);
	}
	json_end(w, '}');
}

static void put_stacks(struct json_writer *w, const struct report_info *info,
		       const struct stack_health *h)
{
	json_key(w, "stacks");
	json_begin(w, '{');
	json_put_u64(w, "user", h->all.stacks);
	json_put_u64(w, "whole", h->all.whole);
	json_put_u64(w, "whole_guessed", h->all.whole_guessed);
	json_put_u64(w, "guessed", h->guessed);
	json_put_u64(w, "kernel_cut", info->kernel_truncated);
	json_end(w, '}');
	put_ends(w, info->ends);
}

static void put_place(struct json_writer *w, const struct stack_health *h,
		      const struct health_row *row)
{
	size_t len;
	const char *path = stack_health_path(h, row, &len);

	if (len)
		put_string(w, "binary", path, len);
	if (row->has_addr)
		json_put_u64(w, "address", row->addr);
	json_put_u64(w, "samples", row->samples);
}

static void put_broken(struct json_writer *w, const struct stack_health *h)
{
	json_key(w, "broken");
	json_begin(w, '[');
	for (size_t i = 0; i < h->nr_broken; i++) {
		const struct health_row *row = &h->broken[i];

		json_begin(w, '{');
		json_put_text(w, "cause", stack_end_name(row->end));
		put_place(w, h, row);
		json_put_text(w, "reason", stack_cause_text(row->end));
		json_put_text(w, "remedy", stack_cause_remedy(row->end));
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_guesses(struct json_writer *w, const struct stack_health *h)
{
	json_key(w, "guessed_callers");
	json_begin(w, '[');
	for (size_t i = 0; i < h->nr_guesses; i++) {
		json_begin(w, '{');
		put_place(w, h, &h->guesses[i]);
		json_put_u64(w, "frames", h->guesses[i].frames);
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_process(struct json_writer *w, const struct report *rep,
			const struct health_process *p)
{
	const struct definition_store *t = report_tables(rep, p->segment);
	const struct rec_process *rec = definition_store_find_process(t, p->process);

	json_begin(w, '{');
	if (rec) {
		json_put_u64(w, "pid", rec->tgid);
		put_defined(w, "name", t, rec->comm);
	}
	json_put_u64(w, "stacks", p->n.stacks);
	json_put_u64(w, "whole", p->n.whole);
	json_put_u64(w, "whole_guessed", p->n.whole_guessed);
	json_end(w, '}');
}

static void put_processes(struct json_writer *w, const struct report *rep,
			  const struct stack_health *h)
{
	json_key(w, "processes");
	json_begin(w, '[');
	for (size_t i = 0; i < h->nr_processes; i++)
		put_process(w, rep, &h->processes[i]);
	json_end(w, ']');
}

static void put_nameless(struct json_writer *w, const struct name_health *h)
{
	json_key(w, "unnamed");
	json_begin(w, '[');
	for (size_t i = 0; i < h->nr_rows; i++) {
		const struct name_row *row = &h->rows[i];
		size_t len;
		const char *path = name_health_path(h, row, &len);

		json_begin(w, '{');
		put_string(w, "binary", path, len);
		json_put_u64(w, "frames", row->all);
		json_put_u64(w, "unnamed", row->n.frames);
		json_put_u64(w, "unnamed_sampled", row->n.times);
		put_string(w, "cause", name_cause_name(row->cause),
			   strlen(name_cause_name(row->cause)));
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_name_count(struct json_writer *w, const char *key, const struct name_count *n)
{
	json_key(w, key);
	json_begin(w, '{');
	json_put_u64(w, "frames", n->frames);
	json_put_u64(w, "sampled", n->times);
	json_end(w, '}');
}

/* "sampled": each frame as often as it was sampled. */
static void put_names(struct json_writer *w, const struct name_health *h)
{
	json_key(w, "names");
	json_begin(w, '{');
	put_name_count(w, "all", &h->all);
	put_name_count(w, "named", &h->named);
	put_name_count(w, "with_lines", &h->with_lines);
	put_name_count(w, "file_and_offset", &h->in_file);
	put_name_count(w, "unknown", &h->unknown);
	json_key(w, "causes");
	json_begin(w, '{');
	for (unsigned i = 0; i < NAME_CAUSES; i++)
		if (h->causes[i].frames)
			put_name_count(w, name_cause_name(i), &h->causes[i]);
	json_end(w, '}');
	json_end(w, '}');
}

static void put_frames(struct json_writer *w, const struct report_info *info,
		       const struct health_frames *f)
{
	json_key(w, "frames");
	json_begin(w, '{');
	json_put_u64(w, "distinct", info->frames);
	json_put_u64(w, "unnamed", info->frames_unnamed);
	json_put_u64(w, "exact", f->exact);
	json_put_u64(w, "return_addresses", f->return_address);
	json_put_u64(w, "guessed", f->guessed);
	json_end(w, '}');
}

static void put_losses(struct json_writer *w, const struct report_info *info)
{
	json_key(w, "lost");
	json_begin(w, '{');
	json_put_u64(w, "all", info->lost_all);
	json_put_u64(w, "samples", info->lost_samples);
	json_key(w, "by_cause");
	json_begin(w, '{');
	for (unsigned cause = 0; cause <= LOSS_CAUSES; cause++) {
		if (info->lost[cause])
			json_put_u64(w, cause < LOSS_CAUSES ? loss_cause_name(cause) : "unknown",
				     info->lost[cause]);
	}
	json_end(w, '}');
	json_end(w, '}');
}

static void put_damage(struct json_writer *w, const struct report_info *info)
{
	const struct trace_status *st = &info->status;

	json_key(w, "damage");
	json_begin(w, '{');
	json_put_bool(w, "truncated", st->truncated);
	json_put_u64(w, "bad_chunks", st->bad_chunks);
	json_put_u64(w, "lost_repeats", st->lost_repeats);
	json_put_u64(w, "skipped_bytes", st->skipped_bytes);
	json_put_u64(w, "skipped_records", st->skipped_records);
	json_put_u64(w, "refused", info->refused);
	json_put_u64(w, "refused_bytes", st->refused_bytes);
	json_end(w, '}');
}

static void put_notes(struct json_writer *w, const struct report *rep)
{
	static const char *const severities[] = { "note", "warning", "error" };
	size_t nr;
	const struct report_note *notes = report_notes(rep, &nr);

	json_key(w, "messages");
	json_begin(w, '[');
	for (size_t i = 0; i < nr; i++) {
		json_begin(w, '{');
		json_put_text(w, "severity",
			      severities[notes[i].severity < 3 ? notes[i].severity : 2]);
		put_string(w, "text", notes[i].text, notes[i].len);
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_sizes(struct json_writer *w, const struct trace_status *st)
{
	json_key(w, "records");
	json_begin(w, '{');
	for (unsigned tag = 0; tag < sizeof(st->record_count) / sizeof(st->record_count[0]);
	     tag++) {
		if (!st->record_count[tag])
			continue;
		json_key(w, record_name((enum record_tag)tag));
		json_begin(w, '{');
		json_put_u64(w, "count", st->record_count[tag]);
		json_put_u64(w, "bytes", st->record_bytes[tag]);
		json_end(w, '}');
	}
	json_end(w, '}');
}

static void put_recording(struct json_writer *w, const struct report *rep)
{
	const struct report_info *info = report_info(rep);

	put_string(w, "file", report_path(rep), strlen(report_path(rep)));
	json_put_u64(w, "size_bytes", info->status.file_bytes);
	json_put_u64(w, "unpacked_bytes", info->status.raw_bytes);
	put_metas(w, rep);
	json_put_u64(w, "begin_real_ns", info->begin_real_ns);
	json_put_u64(w, "duration_ns", info->duration_ns);
	put_events(w, rep);
	put_ended(w, info);
	info_json_flight(w, rep);
	put_tasks(w, rep);
}

int info_json(FILE *out, const struct report *rep, bool sizes)
{
	const struct report_info *info = report_info(rep);
	const struct stack_health *h = report_health(rep);
	struct json_writer w = { .out = out };
	char warning[256];
	int err;

	json_begin(&w, '{');
	put_recording(&w, rep);
	json_put_u64(&w, "samples", info->samples);
	scan_sums_json(&w, "snapshots", &info->scans);
	put_cpus(&w, report_cpus(rep));
	cpu_check_warning(report_cpus(rep), warning, sizeof(warning));
	json_put_text(&w, "warning", warning);
	put_stacks(&w, info, h);
	put_broken(&w, h);
	put_guesses(&w, h);
	put_processes(&w, rep, h);
	put_nameless(&w, report_names(rep));
	put_names(&w, report_names(rep));
	err = info_json_commands(&w, rep);
	put_frames(&w, info, &h->frames);
	put_losses(&w, info);
	put_damage(&w, info);
	put_notes(&w, rep);
	if (sizes)
		put_sizes(&w, &info->status);
	json_end(&w, '}');
	putc('\n', out);
	return err;
}
