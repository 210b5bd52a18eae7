/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/agent_state.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/clock.h"
#include "src/base/visible.h"

struct agent_state *agent_state_new(void)
{
	void *p = mmap(NULL, sizeof(struct agent_state), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void agent_state_free(struct agent_state *st)
{
	if (st)
		munmap(st, sizeof(*st));
}

/* ---- the figures ---- */

/* scale: what the number is divided by. */
struct figure {
	unsigned count;
	const char *name, *type, *help;
	double scale;
};

#define COUNTER "counter"
#define GAUGE "gauge"

static const struct figure of_agent[] = {
	{ AGENT_RECORDED, "windows_recorded_total", COUNTER, "Windows that were recorded.", 1 },
	{ AGENT_RECOVERED, "windows_recovered_total", COUNTER,
	  "Windows that an agent was killed over, and whose whole chunks were kept.", 1 },
	{ AGENT_EMPTY, "windows_empty_total", COUNTER, "Windows that had no samples.", 1 },
	{ AGENT_LOST, "windows_lost_total", COUNTER, "Windows that could not be written.", 1 },
	{ AGENT_DROPPED, "windows_dropped_total", COUNTER,
	  "Windows that were removed before all targets had them.", 1 },
	{ AGENT_DELETED, "windows_deleted_total", COUNTER,
	  "Windows that were removed when all targets had them.", 1 },
	{ AGENT_BYTES, "recorded_bytes_total", COUNTER, "Bytes of recorded windows.", 1 },
	{ AGENT_SPOOL_WINDOWS, "spool_windows", GAUGE, "Windows on the disk.", 1 },
	{ AGENT_SPOOL_BYTES, "spool_bytes", GAUGE, "Bytes of windows on the disk.", 1 },
	{ AGENT_SPOOL_LIMIT, "spool_limit_bytes", GAUGE, "As configured.", 1 },
	{ AGENT_RECORDER_STARTS, "recorder_starts_total", COUNTER, "Recorders started.", 1 },
	{ AGENT_SENDER_STARTS, "sender_starts_total", COUNTER, "Senders started.", 1 },
	{ AGENT_HANGS, "hangs_total", COUNTER, "Children that made no progress, and were ended.",
	  1 },
	{ AGENT_DAMAGED, "damaged_total", COUNTER, "Recorders that wrote what is no trace.", 1 },
	{ AGENT_RELOADS, "reloads_total", COUNTER, "Configurations read again.", 1 },
	{ AGENT_SLOWED, "rate_lowered_total", COUNTER,
	  "How often the rates were halved to keep the budget.", 1 },
	{ AGENT_RECORDING, "recording", GAUGE, "1 while a recorder runs.", 1 },
	{ AGENT_TIMES, "rate_divisor", GAUGE, "The rates are divided by this; 1: as configured.",
	  1 },
	{ AGENT_FREQ_MHZ, "rate_hertz", GAUGE, "Samples a second on each CPU, as configured.",
	  1000 },
	{ AGENT_SCAN_MHZ, "snapshot_hertz", GAUGE, "Snapshots a second, as configured.", 1000 },
	{ AGENT_COST_PPM, "cost_ratio", GAUGE,
	  "CPU time of all processes of the agent in the last window, a second.", 1e6 },
	{ AGENT_BUDGET_PPM, "budget_ratio", GAUGE, "As configured; 0: none.", 1e6 },
	{ AGENT_CPU_MS, "cpu_seconds_total", COUNTER, "CPU time of all processes of the agent.",
	  1000 },
};

static const struct figure of_target[] = {
	{ TARGET_SENT, "target_windows_sent_total", COUNTER, "Windows that the target took.", 1 },
	{ TARGET_REFUSED, "target_windows_refused_total", COUNTER,
	  "Windows of which the target refused a part for good.", 1 },
	{ TARGET_BAD, "target_windows_bad_total", COUNTER, "Windows that could not be read.", 1 },
	{ TARGET_MISSED, "target_windows_missed_total", COUNTER,
	  "Windows that were dropped, lost or empty before they were sent.", 1 },
	{ TARGET_BODIES, "target_requests_total", COUNTER, "Requests that the target took.", 1 },
	{ TARGET_BODIES_REFUSED, "target_requests_refused_total", COUNTER,
	  "Requests that the target refused for good.", 1 },
	{ TARGET_MAYBE_TWICE, "target_maybe_twice_total", COUNTER,
	  "Requests that were sent again although they may have arrived.", 1 },
	{ TARGET_MAYBE_LOST, "target_maybe_lost_total", COUNTER,
	  "Requests that were not sent again although they may not have arrived.", 1 },
	{ TARGET_BYTES, "target_sent_bytes_total", COUNTER, "Bytes of requests, compressed.", 1 },
	{ TARGET_SAMPLES, "target_samples_total", COUNTER, "Samples in the requests.", 1 },
	{ TARGET_FAILURES, "target_failures_total", COUNTER,
	  "Attempts that failed and are repeated.", 1 },
};

#define NR(v) (sizeof(v) / sizeof((v)[0]))

static uint64_t target_count(const struct target_state *t, unsigned c)
{
	return atomic_load_explicit(&t->counts[c], memory_order_relaxed);
}

uint64_t target_backlog(const struct agent_state *st, const struct target_state *t)
{
	uint64_t newest = atomic_load(&st->newest_seq), next = atomic_load(&t->next_seq);

	return next && newest >= next ? newest - next + 1 : 0;
}

static void put_head(FILE *out, const struct figure *f)
{
	fprintf(out, "# HELP probee_agent_%s %s\n# TYPE probee_agent_%s %s\n", f->name, f->help,
		f->name, f->type);
}

/* Those whose rate is lowered, and what each has cost. */
static void put_users(const struct shared_rates *r, FILE *out)
{
	uint32_t nr = atomic_load(&r->nr_users);

	put_head(out, &(struct figure){ 0, "user_cpu_seconds_total", COUNTER,
					"CPU time for processes of a user, estimated.", 1 });
	for (uint32_t i = 0; i < nr; i++)
		fprintf(out, "probee_agent_user_cpu_seconds_total{uid=\"%" PRIu32 "\"} %.9g\n",
			atomic_load(&r->users[i].user),
			(double)atomic_load(&r->users[i].cost_ns) / 1e9);
	put_head(out, &(struct figure){ 0, "user_rate_divisor", GAUGE,
					"The rate of a user is divided by this, besides.", 1 });
	for (uint32_t i = 0; i < nr; i++)
		fprintf(out, "probee_agent_user_rate_divisor{uid=\"%" PRIu32 "\"} %" PRIu32 "\n",
			atomic_load(&r->users[i].user),
			atomic_load(&r->users[i].times) > 1 ? atomic_load(&r->users[i].times) : 1);
}

/* Names of targets are letters, digits, - and _. */
void agent_state_metrics(const struct agent_state *st, FILE *out)
{
	for (size_t i = 0; i < NR(of_agent); i++) {
		put_head(out, &of_agent[i]);
		fprintf(out, "probee_agent_%s %.15g\n", of_agent[i].name,
			(double)agent_count(st, of_agent[i].count) / of_agent[i].scale);
	}
	for (size_t i = 0; i < NR(of_target); i++) {
		put_head(out, &of_target[i]);
		for (uint32_t t = 0; t < st->nr_targets; t++)
			fprintf(out, "probee_agent_%s{target=\"%s\"} %" PRIu64 "\n",
				of_target[i].name, st->targets[t].name,
				target_count(&st->targets[t], of_target[i].count));
	}
	put_head(out, &(struct figure){ 0, "target_backlog_windows", GAUGE,
					"Windows that the target does not have yet.", 1 });
	for (uint32_t t = 0; t < st->nr_targets; t++)
		fprintf(out, "probee_agent_target_backlog_windows{target=\"%s\"} %" PRIu64 "\n",
			st->targets[t].name, target_backlog(st, &st->targets[t]));
	put_users(&st->rates, out);
}

/* ---- for people ---- */

static void put_target(const struct agent_state *st, const struct target_state *t, FILE *out)
{
	uint64_t retry = atomic_load(&t->retry_ns), now = now_ns();
	char error[sizeof(t->error)];

	fprintf(out, "target %s: %" PRIu64 " sent, %" PRIu64 " refused, %" PRIu64
		" missed, %" PRIu64 " bad, %" PRIu64 " wait; %" PRIu64
		" requests, %.1f MB; %" PRIu64 " may have come twice, %" PRIu64
		" may be lost; %" PRIu64 " failures",
		t->name, target_count(t, TARGET_SENT), target_count(t, TARGET_REFUSED),
		target_count(t, TARGET_MISSED), target_count(t, TARGET_BAD), target_backlog(st, t),
		target_count(t, TARGET_BODIES), (double)target_count(t, TARGET_BYTES) / 1e6,
		target_count(t, TARGET_MAYBE_TWICE), target_count(t, TARGET_MAYBE_LOST),
		target_count(t, TARGET_FAILURES));
	if (retry > now) {
		snprintf(error, sizeof(error), "%.*s", (int)sizeof(t->error) - 1, t->error);
		fprintf(out, "; tries again in %.0f s: ", (double)(retry - now) / 1e9);
		visible_put(out, error);
	}
	putc('\n', out);
}

void agent_state_text(const struct agent_state *st, FILE *out)
{
	char line[400];

	agent_state_line(st, line, sizeof(line));
	fprintf(out, "%s\n", line);
	fprintf(out, "all in all: %" PRIu64 " windows recovered after a kill, %" PRIu64
		" empty, %" PRIu64 " deleted after sending, %.1f MB recorded; %" PRIu64
		" recorders and %" PRIu64 " senders started, %" PRIu64 " hung, %" PRIu64
		" reloads, rates lowered %" PRIu64 " times\n",
		agent_count(st, AGENT_RECOVERED), agent_count(st, AGENT_EMPTY),
		agent_count(st, AGENT_DELETED), (double)agent_count(st, AGENT_BYTES) / 1e6,
		agent_count(st, AGENT_RECORDER_STARTS), agent_count(st, AGENT_SENDER_STARTS),
		agent_count(st, AGENT_HANGS), agent_count(st, AGENT_RELOADS),
		agent_count(st, AGENT_SLOWED));
	for (uint32_t i = 0; i < st->nr_targets; i++)
		put_target(st, &st->targets[i], out);
}

void agent_state_line(const struct agent_state *st, char *buf, size_t size)
{
	double times = (double)agent_count(st, AGENT_TIMES);
	uint64_t wait = 0;

	for (uint32_t i = 0; i < st->nr_targets; i++) {
		uint64_t n = target_backlog(st, &st->targets[i]);

		wait = n > wait ? n : wait;
	}
	snprintf(buf, size,
		 "%" PRIu64 " windows recorded, %" PRIu64 " wait to be sent, %" PRIu64
		 " dropped, %" PRIu64 " lost; spool %" PRIu64 " windows, %.1f of %.0f MB; %.4g Hz, "
		 "snapshots %.3g Hz%s; cost %.2f %% of a CPU",
		 agent_count(st, AGENT_RECORDED), wait, agent_count(st, AGENT_DROPPED),
		 agent_count(st, AGENT_LOST), agent_count(st, AGENT_SPOOL_WINDOWS),
		 (double)agent_count(st, AGENT_SPOOL_BYTES) / 1e6,
		 (double)agent_count(st, AGENT_SPOOL_LIMIT) / 1e6,
		 (double)agent_count(st, AGENT_FREQ_MHZ) / 1000 / (times > 0 ? times : 1),
		 (double)agent_count(st, AGENT_SCAN_MHZ) / 1000 / (times > 0 ? times : 1),
		 times > 1 ? " (lowered)" : "",
		 (double)agent_count(st, AGENT_COST_PPM) / 1e4);
}
