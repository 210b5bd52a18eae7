/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pyroscope's own protocols, whose profiles are files of pprof.
 *
 *	push.v1		Connect with JSON: series of many profiles, each with its labels, the file
 *			as base64
 *	/ingest		one profile: labels in the address, and the file, or a form with the file
 *			and how its types are called
 *
 * /ingest makes the name of a profile of the types of its values: "wall" if there is one of this
 * name, "process_cpu" if the name of one contains "cpu" (as does "samples", which it takes for
 * CPU time unless it is told otherwise), and so on; without any of its words, the name of the
 * last. So all but CPU and wall time come with a form that gives their types names without these
 * words: instead of off_cpu it is "off_processor".
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/base64.h"
#include "formats/render/json_writer.h"
#include "src/base/array.h"
#include "src/base/hex.h"
#include "src/report/weight_text.h"
#include "src/push/push_job.h"
#include "src/push/push_pprof.h"
#include "src/push/push_resource.h"

#define PUSH_PATH "/push.v1.PusherService/Push"
#define UUID_TEXT 37

struct pyroscope {
	struct push_job *job;
	struct push_resource whom;
	uint32_t segment, process;	/* that whom is of */
	bool has_whom;
	/* push.v1: the body so far. */
	char *text;
	size_t len;
	FILE *out;
	struct json_writer json;
	uint32_t profiles, processes;
	uint32_t last_segment, last_process;
	uint64_t samples, lost, from_ns, to_ns, cost;
};

static void pyroscope_end(void *enc)
{
	struct pyroscope *p = enc;

	push_resource_release(&p->whom);
	if (p->out)
		fclose(p->out);
	free(p->text);
	free(p);
}

static void *pyroscope_begin(struct push_job *job)
{
	struct pyroscope *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->job = job;
	p->out = open_memstream(&p->text, &p->len);
	if (p->out)
		return p;
	free(p);
	return NULL;
}

static int know_whom(struct pyroscope *p, const struct push_row *row)
{
	const struct push_whom of = { p->job->rep, &p->job->opts, row->segment, row->process };
	uint64_t cut = p->whom.cut;
	int err;

	if (p->has_whom && p->segment == row->segment && p->process == row->process)
		return 0;
	err = push_resource_make(&p->whom, &of);
	p->has_whom = !err;
	p->segment = row->segment;
	p->process = row->process;
	p->job->counts->cut_values += p->whom.cut - cut;
	return err;
}

/* "process_pid" of "process.pid" */
static const char *label_name(const char *key, char out[PUSH_NAME_MAX])
{
	size_t len = 0;

	for (; key[len] && len + 1 < PUSH_NAME_MAX; len++)
		out[len] = key[len] == '.' ? '_' : key[len];
	out[len] = 0;
	return out;
}

static void uuid_text(const uint8_t id[16], char out[UUID_TEXT])
{
	static const uint8_t groups[] = { 4, 2, 2, 2, 6 };
	char *s = out;

	for (size_t i = 0; i < sizeof(groups); id += groups[i++]) {
		s = hex_put(s, id, groups[i]);
		*s++ = '-';
	}
	s[-1] = 0;
}

/* ---- push.v1 ---- */

static void put_label(struct json_writer *w, const char *name, const char *value)
{
	json_begin(w, '{');
	json_put_text(w, "name", name);
	json_put_text(w, "value", value);
	json_end(w, '}');
}

static void put_labels(struct pyroscope *p, const char *profile)
{
	struct json_writer *w = &p->json;
	char name[PUSH_NAME_MAX];

	json_key(w, "labels");
	json_begin(w, '[');
	put_label(w, "__name__", profile);
	for (size_t i = 0; i < p->whom.nr; i++)
		put_label(w, label_name(p->whom.v[i].key, name), p->whom.v[i].text);
	json_end(w, ']');
}

static void put_file(struct pyroscope *p, const struct push_pprof *file, const char *id)
{
	struct json_writer *w = &p->json;

	json_key(w, "samples");
	json_begin(w, '[');
	json_begin(w, '{');
	json_key(w, "rawProfile");
	putc('"', p->out);
	base64_put(p->out, file->bytes, file->len);
	putc('"', p->out);
	w->comma = true;
	json_put_text(w, "ID", id);
	json_end(w, '}');
	json_end(w, ']');
}

static void begin_body(struct pyroscope *p)
{
	rewind(p->out);
	p->json = (struct json_writer){ .out = p->out };
	json_begin(&p->json, '{');
	json_key(&p->json, "series");
	json_begin(&p->json, '[');
	p->processes = 0;
	p->samples = p->lost = p->from_ns = p->to_ns = p->cost = 0;
}

static int pyroscope_flush(void *enc)
{
	struct pyroscope *p = enc;
	char what[PUSH_WHAT_MAX];
	struct push_body b = { .path = PUSH_PATH, .content_type = "application/json",
			       .profiles = p->profiles, .samples = p->samples,
			       .lost = p->lost, .from_ns = p->from_ns, .to_ns = p->to_ns,
			       .what = what, .cost = p->cost };

	if (!p->profiles)
		return 0;
	json_end(&p->json, ']');
	json_end(&p->json, '}');
	p->profiles = 0;
	if (fflush(p->out) || ferror(p->out))
		return -ENOMEM;
	push_what_many(b.profiles, p->processes, b.from_ns, b.to_ns, what);
	return push_give_packed(p->job, &b, p->text, (size_t)ftello(p->out));
}

static void count_profile(struct pyroscope *p, const struct push_group *g)
{
	push_group_sums(g, &p->samples, &p->lost);
	if (!p->profiles || g->from_ns < p->from_ns)
		p->from_ns = g->from_ns;
	if (g->to_ns > p->to_ns)
		p->to_ns = g->to_ns;
	if (!p->profiles || p->last_segment != p->segment || p->last_process != p->process)
		p->processes++;
	p->last_segment = p->segment;
	p->last_process = p->process;
	p->profiles++;
}

static int add_series(struct pyroscope *p, const struct push_group *g, const char *profile,
		      const struct push_pprof *file, const char *id)
{
	const struct push_encode_opts *opts = &p->job->opts;
	size_t need = file->len / 3 * 4 + p->whom.texts_len * 2 + 4096;
	int err = 0;

	if (p->profiles && ((size_t)ftello(p->out) + need > opts->max_body_bytes ||
			    (opts->max_cost && p->cost + file->raw_len > opts->max_cost)))
		err = pyroscope_flush(p);
	if (err)
		return err;
	if (!p->profiles)
		begin_body(p);
	json_begin(&p->json, '{');
	put_labels(p, profile);
	put_file(p, file, id);
	json_end(&p->json, '}');
	count_profile(p, g);
	p->cost += file->raw_len;
	return 0;
}

/* ---- /ingest ---- */

/* Writes s so that it stands for itself in an address. */
static void put_address(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (isalnum((unsigned char)*s) || strchr("-._~", *s))
			putc(*s, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*s);
	}
}

/* A value in the braces of a name ends at these. */
static void put_braced(FILE *out, const char *value)
{
	for (; *value; value++)
		putc(*value == ',' || *value == '}' ? '_' : *value, out);
}

static void put_service(FILE *out, const char *service)
{
	for (; *service; service++)
		putc(isalnum((unsigned char)*service) || strchr("-._/", *service) ? *service : '_',
		     out);
}

/* "nginx{service_name=nginx,process_pid=812}" */
static int make_name(const struct pyroscope *p, char **name)
{
	const struct push_attribute *service = push_resource_find(&p->whom, "service.name");
	char label[PUSH_NAME_MAX];
	size_t len;
	FILE *out = open_memstream(name, &len);

	if (!out)
		return -ENOMEM;
	put_service(out, service ? service->text : "unknown");
	for (size_t i = 0; i < p->whom.nr; i++) {
		fprintf(out, "%c%s=", i ? ',' : '{', label_name(p->whom.v[i].key, label));
		put_braced(out, p->whom.v[i].text);
	}
	putc('}', out);
	return fclose(out) ? -ENOMEM : 0;
}

static int make_path(const struct pyroscope *p, const struct push_group *g, bool is_form,
		     char **path)
{
	char *name = NULL;
	size_t len;
	int err = make_name(p, &name);
	FILE *out = err ? NULL : open_memstream(path, &len);

	if (out) {
		fputs("/ingest?name=", out);
		put_address(out, name);
		fprintf(out, "&from=%llu&until=%llu&spyName=probee%s",
			(unsigned long long)g->from_ns, (unsigned long long)g->to_ns,
			is_form ? "" : "&format=pprof");
		err = fclose(out) ? -ENOMEM : 0;
	}
	free(name);
	return err || !out ? -ENOMEM : 0;
}

/* Words by which the receiver names a profile, and what is written instead. */
static const struct {
	const char *word, *instead;
} words[] = {
	{ "cpu", "processor" }, { "alloc_", "alloc." },	      { "inuse_", "inuse." },
	{ "mutex_", "mutex." }, { "block_", "block." },	      { "goroutines", "goroutine.s" },
};

static void put_unlike(FILE *out, const char *name)
{
	while (*name) {
		size_t i = 0, n = sizeof(words) / sizeof(words[0]);

		while (i < n && strncmp(name, words[i].word, strlen(words[i].word)))
			i++;
		if (i < n) {
			fputs(words[i].instead, out);
			name += strlen(words[i].word);
		} else {
			putc(*name++, out);
		}
	}
}

/* How the types of the values are called: {"samples": {...}, "off_cpu": {...}}. */
static void put_config(FILE *out, const struct push_type *type)
{
	bool is_taken = !strcmp(type->profile, "space") || !strcmp(type->profile, "objects");

	fputs("{\"samples\":{\"display-name\":\"samples\"},", out);
	fprintf(out, "\"%s\":{\"display-name\":\"", type->type);
	put_unlike(out, type->profile);
	fprintf(out, "%s\"}}", is_taken ? "_" : "");
}

static void put_part(FILE *out, const char *boundary, const char *name, const void *bytes,
		     size_t len)
{
	fprintf(out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n\r\n",
		boundary, name, name);
	fwrite(bytes, 1, len, out);
	fputs("\r\n", out);
}

static int make_config(const struct push_type *type, char **config, size_t *len)
{
	FILE *out = open_memstream(config, len);

	if (!out)
		return -ENOMEM;
	put_config(out, type);
	return fclose(out) ? -ENOMEM : 0;
}

static int make_form(const struct push_type *type, const struct push_pprof *file,
		     const char *boundary, char **form, size_t *len)
{
	char *config = NULL;
	size_t config_len = 0;
	int err = make_config(type, &config, &config_len);
	FILE *out = err ? NULL : open_memstream(form, len);

	if (out) {
		put_part(out, boundary, "profile", file->bytes, file->len);
		put_part(out, boundary, "sample_type_config", config, config_len);
		fprintf(out, "--%s--\r\n", boundary);
		err = fclose(out) ? -ENOMEM : 0;
	}
	free(config);
	return err || !out ? -ENOMEM : 0;
}

static int give_file(struct pyroscope *p, const struct push_group *g, struct push_body *b)
{
	char what[PUSH_WHAT_MAX];

	push_what_one(p->job, g, p->whom.title, what);
	b->what = what;
	b->profiles = 1;
	b->from_ns = g->from_ns;
	b->to_ns = g->to_ns;
	push_group_sums(g, &b->samples, &b->lost);
	return push_give(p->job, b);
}

static int give_ingest(struct pyroscope *p, const struct push_group *g,
		       const struct push_type *type, const struct push_pprof *file, const char *id)
{
	bool is_form = strcmp(type->profile, "process_cpu") && strcmp(type->profile, "wall");
	char content_type[96], *path = NULL, *form = NULL;
	struct push_body b = { .content_type = "application/octet-stream", .bytes = file->bytes,
			       .len = file->len, .raw_len = file->raw_len,
			       .cost = file->raw_len };
	int err = make_path(p, g, is_form, &path);

	if (!err && is_form) {
		snprintf(content_type, sizeof(content_type), "multipart/form-data; boundary=%s",
			 id);
		b.content_type = content_type;
		err = make_form(type, file, id, &form, &b.len);
		b.bytes = (const uint8_t *)form;
	}
	b.path = path;
	if (!err)
		err = give_file(p, g, &b);
	free(path);
	free(form);
	return err;
}

/* ---- both ---- */

static int pyroscope_profile(void *enc, const struct push_group *g, size_t *taken)
{
	struct pyroscope *p = enc;
	const struct push_type *type = push_types_of(&p->job->types, g->rows->event);
	struct push_group part = *g;
	struct push_pprof file;
	char text[UUID_TEXT];
	uint8_t id[16];
	int err = know_whom(p, g->rows);

	if (!err)
		err = push_pprof_make(p->job, g, &file);
	if (err)
		return err;
	*taken = part.nr = file.taken;
	push_profile_id(p->job, g, id);
	uuid_text(id, text);
	if (p->job->opts.protocol == PUSH_INGEST)
		err = give_ingest(p, &part, type, &file, text);
	else
		err = add_series(p, &part, type->profile, &file, text);
	free(file.bytes);
	return err;
}

const struct push_encoder push_encoder_pyroscope = {
	.begin = pyroscope_begin,
	.profile = pyroscope_profile,
	.flush = pyroscope_flush,
	.end = pyroscope_end,
};
