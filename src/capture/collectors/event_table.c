/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/event_table.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/nearest.h"
#include "src/base/opt.h"
#include "src/capture/collectors/collector_ids.h"
#include "src/capture/collectors/cpu_events.h"
#include "src/capture/collectors/event_modes.h"
#include "src/capture/collectors/pmu_event.h"
#include "src/model/record.h"

#define HW(name, alias, unit, config) \
	{ name, alias, unit, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, EVENT_HARDWARE, false }
#define SW(name, alias, config) \
	{ name, alias, "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, EVENT_SOFTWARE, false }
#define CLOCK(name, config) \
	{ name, NULL, "ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, EVENT_CPU_CLOCK, true }

/* include/uapi/linux/perf_event.h: cache | operation << 8 | result << 16. */
#define CACHE(name, cache, op, result)                                          \
	{ name, NULL, "count", PERF_TYPE_HW_CACHE,                              \
	  PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |      \
		  PERF_COUNT_HW_CACHE_RESULT_##result << 16,                    \
	  EVENT_HARDWARE, false }
#define CACHE_READ(name, cache)                        \
	CACHE(name "-loads", cache, READ, ACCESS),     \
	CACHE(name "-load-misses", cache, READ, MISS)
#define CACHE_WRITE(name, cache)                       \
	CACHE(name "-stores", cache, WRITE, ACCESS),   \
	CACHE(name "-store-misses", cache, WRITE, MISS)
#define CACHE_PREFETCH(name, cache)                         \
	CACHE(name "-prefetches", cache, PREFETCH, ACCESS), \
	CACHE(name "-prefetch-misses", cache, PREFETCH, MISS)

const struct event_type event_types[] = {
	{ "cycles", "cpu-cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
	  EVENT_CYCLES, false },
	CLOCK("cpu-clock", CPU_CLOCK),
	CLOCK("task-clock", TASK_CLOCK),
	SW("page-faults", "faults", PAGE_FAULTS),
	SW("minor-faults", NULL, PAGE_FAULTS_MIN),
	SW("major-faults", NULL, PAGE_FAULTS_MAJ),
	SW("context-switches", "cs", CONTEXT_SWITCHES),
	SW("cpu-migrations", "migrations", CPU_MIGRATIONS),
	SW("cgroup-switches", NULL, CGROUP_SWITCHES),
	SW("alignment-faults", NULL, ALIGNMENT_FAULTS),
	SW("emulation-faults", NULL, EMULATION_FAULTS),
	HW("instructions", NULL, "count", INSTRUCTIONS),
	HW("cache-references", NULL, "count", CACHE_REFERENCES),
	HW("cache-misses", NULL, "count", CACHE_MISSES),
	HW("branches", "branch-instructions", "count", BRANCH_INSTRUCTIONS),
	HW("branch-misses", NULL, "count", BRANCH_MISSES),
	HW("bus-cycles", NULL, "cycles", BUS_CYCLES),
	HW("ref-cycles", NULL, "cycles", REF_CPU_CYCLES),
	HW("stalled-cycles-frontend", "idle-cycles-frontend", "cycles", STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend", "idle-cycles-backend", "cycles", STALLED_CYCLES_BACKEND),
	CACHE_READ("L1-dcache", L1D),
	CACHE_WRITE("L1-dcache", L1D),
	CACHE_PREFETCH("L1-dcache", L1D),
	CACHE_READ("L1-icache", L1I),
	CACHE_PREFETCH("L1-icache", L1I),
	CACHE_READ("LLC", LL),
	CACHE_WRITE("LLC", LL),
	CACHE_PREFETCH("LLC", LL),
	CACHE_READ("dTLB", DTLB),
	CACHE_WRITE("dTLB", DTLB),
	CACHE_PREFETCH("dTLB", DTLB),
	CACHE_READ("iTLB", ITLB),
	CACHE_READ("branch", BPU),
	CACHE_READ("node", NODE),
	CACHE_WRITE("node", NODE),
	CACHE_PREFETCH("node", NODE),
	{ .name = NULL },
};

static bool is_word(const char *word, const char *value, size_t len)
{
	return word && strlen(word) == len && !strncmp(word, value, len);
}

const struct event_type *event_type_find(const char *name, size_t len)
{
	for (const struct event_type *t = event_types; t->name; t++)
		if (is_word(t->name, name, len) || is_word(t->alias, name, len))
			return t;
	return NULL;
}

/* The kinds of capture that have a name. */
static const struct named {
	const char *event, *heading;
	enum collector_id kind;
} named[] = {
#define NAMED(NAME, event, heading) { event, heading, COLLECTOR_##NAME },
#include "bpf/kinds.def"
	{ NULL, NULL, COLLECTORS },
};

_Static_assert(COLLECTORS <= 32, "event_list.named has a bit for each");

/* The kind that this name asks for, or NULL. */
static const struct named *find_named(const char *name, size_t len)
{
	for (const struct named *n = named; n->event; n++)
		if (is_word(n->event, name, len))
			return n;
	return NULL;
}

static int unknown_event(const struct opt *o, const char *name, size_t len)
{
	char word[64], list[2048];
	struct nearest near;
	size_t n = 0;

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	near = nearest_to(word);
	list[0] = 0;
	for (const struct event_type *t = event_types; t->name && n < sizeof(list); t++) {
		nearest_offer(&near, t->name);
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s, ", t->name);
	}
	for (const struct named *k = named; k->event && n < sizeof(list); k++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s, ", k->event);
	list[(n < sizeof(list) ? n : sizeof(list)) - 2] = 0;
	if (near.best)
		return fail_why(-EINVAL, "--%s %s: no such event. Try: %s; or one of %s", o->name,
				word, near.best, list);
	return fail_why(-EINVAL, "--%s %s: no such event. Try one of: %s", o->name, word, list);
}

/* "period=100" or "freq=99", len bytes long. */
static int parse_setting(const struct opt *o, const char *text, size_t len, struct event_spec *e)
{
	char word[64];
	uint32_t period;

	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	if (!strncmp(word, "freq=", 5))
		return opt_hz(o, word + 5, &e->freq_hz);
	if (strncmp(word, "period=", 7))
		return fail_why(-EINVAL,
				"--%s %s: no such setting. Try: %s/period=100/ or /freq=99/",
				o->name, word, e->type->name);
	if (e->type->by_time)
		return fail_why(-EINVAL, "--%s %s: a clock has a frequency. Try: %s/freq=99/",
				o->name, word, e->type->name);
	if (opt_u32(o, word + 7, &period))
		return -EINVAL;
	e->period = period;
	return period ? 0 : fail_why(-EINVAL, "--%s %s: at least 1", o->name, word);
}

static void set_name(struct event_spec *e)
{
	const char *mode = e->no_user ? "k" : e->no_kernel ? "u" : "";

	snprintf(e->name, sizeof(e->name), "%s%s%s%.*s", e->type->name,
		 *mode || e->precise ? ":" : "", mode, e->precise, "ppp");
}

static int add(const struct opt *o, const struct event_spec *e, struct event_list *l)
{
	int err = 0;

	for (size_t i = 0; i < l->nr && !err; i++)
		if (!strcmp(l->v[i].name, e->name))
			err = fail_why(-EINVAL, "--%s %s: it is there already", o->name, e->name);
	if (!err && l->nr == WIRE_MAX_EVENTS - 1)	/* scans are an event, too */
		err = fail_why(-EINVAL, "--%s: at most %d events", o->name, WIRE_MAX_EVENTS - 1);
	if (err)
		free(e->own);
	else
		l->v[l->nr++] = *e;
	return err;
}

/* One event of the table, len bytes long: "name:modes" or "name:modes/setting/". */
static int parse_row(const struct opt *o, const char *text, size_t len, struct event_list *l)
{
	const char *slash = memchr(text, '/', len);
	size_t name_len = slash ? (size_t)(slash - text) : len;
	const char *colon = memchr(text, ':', name_len);
	size_t type_len = colon ? (size_t)(colon - text) : name_len;
	struct event_spec e = { .type = event_type_find(text, type_len) };

	if (!e.type && slash)
		return fail_why(-EINVAL, "--%s %.*s: there is no event and no PMU of that name "
				"here. Try: probee sample -e help", o->name, (int)len, text);
	if (!e.type)
		return unknown_event(o, text, name_len);
	if (colon &&
	    event_modes_parse(o, e.type->name, colon + 1, name_len - type_len - 1, &e))
		return -EINVAL;
	set_name(&e);
	if (slash && (len < name_len + 3 || text[len - 1] != '/'))
		return fail_why(-EINVAL, "--%s %.*s: a setting stands between slashes. "
				"Try: %s/period=100/", o->name, (int)len, text, e.type->name);
	if (slash && parse_setting(o, slash + 1, len - name_len - 2, &e))
		return -EINVAL;
	return add(o, &e, l);
}

/* Whether it is one of pmu_event.h. Names of the table come first. */
static bool is_of_pmu(const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);

	return pmu_event_is_raw(text, colon ? (size_t)(colon - text) : len) ||
	       (!event_type_find(text, strcspn(text, "/:")) &&
		pmu_event_is_pmu(PMU_DEVICES, text, len));
}

static int parse_one(const struct opt *o, const char *text, size_t len, struct event_list *l)
{
	struct event_spec e = { 0 };

	const struct named *kind = find_named(text, strcspn(text, ":/,"));

	if (kind) {
		l->named |= 1u << kind->kind;
		return len == strlen(kind->event)
			       ? 0
			       : fail_why(-EINVAL, "--%s %.*s: this event has neither modes nor "
					  "settings. Try: %s", o->name, (int)len, text,
					  kind->event);
	}
	if (!is_of_pmu(text, len))
		return parse_row(o, text, len, l);
	return pmu_event_parse(o, PMU_DEVICES, text, len, &e) ? -EINVAL : add(o, &e, l);
}

/* A word that is like no event is the name of a function. */
static bool is_function(const char *value)
{
	const char *slash = strchr(value, '/');
	size_t len = strcspn(value, ":/");
	char word[64];
	struct nearest near;

	if (is_of_pmu(value, pmu_event_len(value)))
		return false;
	/* A regular expression, or behind a path: ./app:main. Settings (/freq=9/) have no colon. */
	if (*value == '/' || (slash && strchr(slash, ':') && !strchr(value, ',')))
		return true;
	if (!*value || strchr(value, ',') || value[len] == '/' || len >= sizeof(word))
		return false;
	snprintf(word, sizeof(word), "%.*s", (int)len, value);
	near = nearest_to(word);
	if (find_named(word, len))
		return false;
	for (const struct event_type *t = event_types; t->name; t++) {
		if (is_word(t->name, word, len) || is_word(t->alias, word, len))
			return false;
		nearest_offer(&near, t->name);
	}
	return !near.best && strcspn(word, " -") == len;
}

int event_list_parse(const struct opt *o, const char *value, void *dst)
{
	struct event_list *l = dst;

	if (!strcmp(value, "help")) {
		l->wants_help = true;
		return 0;
	}
	/* The name of a probe may have commas in it. */
	if (probe_spec_has_prefix(value) || is_function(value))
		return probe_list_add(o, value, &l->probes);
	for (const char *p = value;; p++) {
		size_t len = pmu_event_len(p);

		if (parse_one(o, p, len, dst))
			return -EINVAL;
		p += len;
		if (!*p)
			return 0;
	}
}

int event_list_complete(struct event_list *l, double freq_hz, uint64_t period)
{
	bool counts = false;

	for (size_t i = 0; i < l->nr; i++) {
		struct event_spec *e = &l->v[i];

		counts |= !e->type->by_time;
		if (!e->type->by_time && !e->freq_hz && !e->period)
			e->period = period;
		if (!e->freq_hz && !e->period)
			e->freq_hz = freq_hz;
	}
	if (period && !counts)
		return fail_why(-EINVAL, "-c %llu: a period is for events that count. "
				"Try: -F HZ, or -e page-faults", (unsigned long long)period);
	return 0;
}

void event_list_release(struct event_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->v[i].own);
	l->nr = 0;
	probe_list_release(&l->probes);
}

static bool counts_here(const struct event_type *t)
{
	struct event_spec e = { .type = t, .freq_hz = 1 };

	return cpu_events_can_open(&e, 0);
}

void event_table_help(FILE *out)
{
	fputs("Events, with * if this machine does not count them (or not for this user):\n", out);
	for (const struct event_type *t = event_types; t->name; t++)
		fprintf(out, "%s %s%s%s\n", counts_here(t) ? " " : "*", t->name,
			t->alias ? " or " : "", t->alias ? t->alias : "");
	fputs("Events that PMUs of this machine name, and raw ones:\n", out);
	pmu_event_list(PMU_DEVICES, out);
	fputs("  cpu/event=0x3c,umask=0x01/u\n"
	      "  r13c\n", out);
	for (const struct named *n = named; n->event; n++)
		fprintf(out, "%s:\n  %s\n", n->heading, n->event);
	fputs("Probes, which probee probes lists:\n"
	      "  u:FUNCTION ur:FUNCTION u:FILE:FUNCTION u:FILE:SOURCE:LINE\n"
	      "  k:FUNCTION kr:FUNCTION fentry:FUNCTION fexit:FUNCTION\n"
	      "  t:CATEGORY:NAME raw_tp:NAME\n"
	      "Behind a name: :u (in programs only), :k (in the kernel only), :pp (exact places),\n"
	      "/period=N/, /freq=HZ/\n", out);
}
