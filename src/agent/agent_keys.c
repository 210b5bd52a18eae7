/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the configuration, and how their values are read. */
#include "src/agent/agent_config.h"

#include <string.h>

#include "src/base/clock.h"
#include "src/base/opt.h"

enum { LEAST_LIMIT = 1000000 };		/* bytes of the spool: some windows must fit */

static bool parse_freq(const char *value, void *dst)
{
	double *hz = dst;

	return opt_read_hz(value, hz) && *hz >= 0.1 && *hz <= 1000;
}

static bool parse_scan_freq(const char *value, void *dst)
{
	double *hz = dst;

	*hz = 0;
	if (!strcmp(value, "no"))
		return true;
	return opt_read_hz(value, hz) && *hz <= 10;
}

static bool parse_window(const char *value, void *dst)
{
	uint64_t *ns = dst;

	return opt_read_duration(value, ns) && *ns >= NSEC_PER_SEC && *ns <= 600 * NSEC_PER_SEC;
}

static bool parse_batch(const char *value, void *dst)
{
	uint64_t *ns = dst;

	*ns = 0;
	if (!strcmp(value, "no"))
		return true;
	return opt_read_duration(value, ns) && *ns >= NSEC_PER_SEC && *ns <= 1800 * NSEC_PER_SEC;
}

static bool parse_timeout(const char *value, void *dst)
{
	uint64_t *ns = dst;

	return opt_read_duration(value, ns) && *ns >= NSEC_PER_SEC && *ns <= 300 * NSEC_PER_SEC;
}

static bool parse_yes(const char *value, void *dst)
{
	*(bool *)dst = !strcmp(value, "yes");
	return *(bool *)dst || !strcmp(value, "no");
}

static bool parse_text(const char *value, void *dst)
{
	*(const char **)dst = value;
	return true;
}

/* "1%" of one CPU. */
static bool parse_budget(const char *value, void *dst)
{
	size_t len = strlen(value);
	char number[16];
	double percent;

	*(double *)dst = 0;
	if (!strcmp(value, "no"))
		return true;
	if (len < 2 || len >= sizeof(number) || value[len - 1] != '%')
		return false;
	memcpy(number, value, len - 1);
	number[len - 1] = 0;
	if (!opt_read_hz(number, &percent) || percent < 0.1 || percent > 100)
		return false;
	*(double *)dst = percent / 100;
	return true;
}

static bool parse_folder(const char *value, void *dst)
{
	return value[0] == '/' && parse_text(value, dst);
}

static bool parse_limit(const char *value, void *dst)
{
	uint64_t *bytes = dst;

	return opt_read_size(value, bytes) && *bytes >= LEAST_LIMIT;
}

static bool parse_keep(const char *value, void *dst)
{
	*(uint64_t *)dst = 0;
	return !strcmp(value, "no") || opt_read_duration(value, dst);
}

static bool parse_listen(const char *value, void *dst)
{
	return parse_text(strcmp(value, "no") ? value : "", dst);
}

static bool parse_url(const char *value, void *dst)
{
	const char *colon = strstr(value, "://");

	*(const char **)dst = "";	/* it was said, though wrongly */
	return colon && colon > value && colon[3] && !strpbrk(value, " \t") &&
	       parse_text(value, dst);
}

static bool parse_protocol(const char *value, void *dst)
{
	static const char *const words[] = { "auto", "otlp", "pyroscope", "ingest" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(value, words[i]))
			return parse_text(i ? value : "", dst);
	return false;
}

static bool parse_threads(const char *value, void *dst)
{
	static const char *const words[] = { "id", "name", "none" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(value, words[i]))
			return parse_text(value, dst);
	return false;
}

static bool parse_delivery(const char *value, void *dst)
{
	*(bool *)dst = !strcmp(value, "at-most-once");
	return *(bool *)dst || !strcmp(value, "at-least-once");
}

static bool add_text(const char *value, void *dst)
{
	struct agent_texts *t = dst;

	if (t->nr == AGENT_LIST)
		return false;
	t->v[t->nr++] = value;
	return true;
}

static bool add_word(const char *value, void *dst)
{
	const char *equals = strchr(value, '=');

	return equals && equals > value && add_text(value, dst);
}

#define AT(field) offsetof(struct agent_config, field)
#define OF(field) offsetof(struct agent_target, field)

const struct agent_key agent_keys[] = {
	{ "record", "frequency", "HZ", "97", "0.1 to 1000 (samples a second on each CPU)",
	  "samples a second on each CPU", parse_freq, AT(freq_hz), false },
	{ "record", "snapshots", "HZ", "1", "0.001 to 10 (a second), or no",
	  "walks over all threads, a second", parse_scan_freq, AT(scan_hz), false },
	{ "record", "window", "TIME", "15s", "1s to 10m",
	  "the time of one trace; it begins at a multiple of that on the clock, with an offset "
	  "that is each machine's own",
	  parse_window, AT(window_ns), false },
	{ "record", "off-cpu", "yes|no", "no", "yes or no",
	  "also off-CPU intervals, as with `record --off-cpu`", parse_yes, AT(off_cpu), false },
	{ "record", "options", "WORDS", "", "options of `probee record`",
	  "further options of `probee record`, with blanks between them: --cmdline --no-inline",
	  parse_text, AT(options), false },
	{ "record", "budget", "PERCENT", "1%", "0.1% to 100%, or no",
	  "of one CPU, for all processes of the agent. When they take more the rates are halved, "
	  "down to a 32nd; the log, the traces and the metrics say so",
	  parse_budget, AT(budget), false },
	{ "spool", "folder", "DIR", "/var/lib/probee", "a path that begins with /",
	  "where windows are kept; the last directory of the path is made", parse_folder,
	  AT(folder), false },
	{ "spool", "limit", "SIZE", "1G", "1M or more: 500M, 1G",
	  "of all windows. What was sent goes first, the oldest first, then what was not sent; "
	  "that is counted",
	  parse_limit, AT(limit_bytes), false },
	{ "spool", "keep", "TIME", "24h", "a time such as 30m or 24h, or no",
	  "how long windows stay on this machine, also when all targets have them", parse_keep,
	  AT(keep_ns), false },
	{ "metrics", "listen", "ADDRESS", "no", "127.0.0.1:PORT, [::1]:PORT, or no",
	  "where /metrics is answered, for programs of this machine", parse_listen, AT(listen),
	  false },
	{ "target", "url", "URL", NULL, "http://HOST:PORT, https://HOST, ...: no blanks",
	  "where windows are sent; must be there", parse_url, OF(url), false },
	{ "target", "protocol", "WORD", "auto", "auto, otlp, pyroscope or ingest",
	  "what is spoken there; auto: as the URL says", parse_protocol, OF(protocol), false },
	{ "target", "batch", "TIME", "2m", "1s to 30m, or no",
	  "windows of so much time are sent together, and share a table of stacks and names: fewer "
	  "bytes, that come later; no: each by itself",
	  parse_batch, OF(batch_ns), false },
	{ "target", "threads", "WORD", "name", "id, name or none",
	  "what tells samples of threads apart: number and name, or the name alone, or nothing",
	  parse_threads, OF(threads), false },
	{ "target", "service", "NAME", "", "a name",
	  "the service that all of it belongs to, instead of one by unit, cgroup or program",
	  parse_text, OF(service), false },
	{ "target", "tenant", "NAME", "", "a name", "the tenant (X-Scope-OrgID)", parse_text,
	  OF(tenant), false },
	{ "target", "label", "NAME=VALUE", NULL, "NAME=VALUE, at most 32 of them",
	  "a label of all profiles; may be repeated", add_word, OF(labels), true },
	{ "target", "header", "NAME=VALUE", NULL, "NAME=VALUE, at most 32 of them",
	  "a header of each request that is no secret; may be repeated", add_word, OF(headers),
	  true },
	{ "target", "header-file", "FILE", "", "a path that begins with /",
	  "headers that are secret, a line each; only its owner may read it", parse_folder,
	  OF(header_file), false },
	{ "target", "bearer-file", "FILE", "", "a path that begins with /",
	  "a token: `Authorization: Bearer`; only its owner may read it", parse_folder,
	  OF(bearer_file), false },
	{ "target", "basic-file", "FILE", "", "a path that begins with /",
	  "USER:PASSWORD: `Authorization: Basic`; only its owner may read it", parse_folder,
	  OF(basic_file), false },
	{ "target", "ca-file", "FILE", "", "a path that begins with /",
	  "certificates (PEM) that the receiver's must come from, instead of those of the system",
	  parse_folder, OF(ca_file), false },
	{ "target", "cert-file", "FILE", "", "a path that begins with /",
	  "the certificate (PEM) of this machine", parse_folder, OF(cert_file), false },
	{ "target", "key-file", "FILE", "", "a path that begins with /", "its key (PEM)",
	  parse_folder, OF(key_file), false },
	{ "target", "timeout", "TIME", "30s", "1s to 5m", "wait so long for an answer",
	  parse_timeout, OF(timeout_ns), false },
	{ "target", "delivery", "WORD", "at-least-once", "at-least-once or at-most-once",
	  "what happens to a request that the agent was killed over, so that it may have arrived: "
	  "it is sent again, or not. Both are counted",
	  parse_delivery, OF(is_at_most_once), false },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, false },
};

void agent_keys_table(FILE *out)
{
	fputs("| section | key | value | without it | meaning |\n|---|---|---|---|---|\n", out);
	for (const struct agent_key *k = agent_keys; k->name; k++) {
		const char *normal = k->normal && *k->normal ? k->normal : "-";

		fprintf(out, "| %s%s | `%s` | ", k->section,
			strcmp(k->section, "target") ? "" : " NAME", k->name);
		for (const char *c = k->arg; *c; c++)
			fprintf(out, *c == '|' ? "\\|" : "%c", *c);
		fprintf(out, " | %s | %s |\n", normal, k->help);
	}
}

static void put_comment(FILE *out, const char *text)
{
	unsigned column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column + len > 90)
			column = 0;
		fprintf(out, "%s%s%.*s", column || text[0] == 0 ? "" : "# ",
			column ? " " : "", (int)len, text);
		column += (unsigned)len + 1;
		text += len;
		text += strspn(text, " ");
		if (*text && column + strcspn(text, " ") > 90) {
			putc('\n', out);
			column = 0;
		}
	}
	putc('\n', out);
}

void agent_keys_example(FILE *out)
{
	const char *section = "";

	for (const struct agent_key *k = agent_keys; k->name; k++) {
		bool is_target = !strcmp(k->section, "target");

		if (strcmp(section, k->section))
			fprintf(out, "%s%s[%s]\n", *section ? "\n" : "", is_target ? "#" : "",
				is_target ? "target main" : k->section);
		section = k->section;
		put_comment(out, k->help);
		fprintf(out, "%s%s = %s\n", is_target || !k->normal || !*k->normal ? "#" : "",
			k->name, k->normal && *k->normal ? k->normal : k->arg);
	}
}
