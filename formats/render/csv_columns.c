/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/csv_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "formats/render/csv_parts.h"
#include "formats/render/wait_list.h"
#include "formats/render/wait_text.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/profile/report.h"
#include "src/profile/state_words.h"

static void put_digits(struct csv *c, uint64_t v, unsigned digits)
{
	char buf[20];

	for (unsigned i = digits; i-- > 0; v /= 10)
		buf[i] = (char)('0' + v % 10);
	bb_bytes(&c->row, buf, digits);
}

/* Making a date is slow, and most rows have that of the row before. */
static void make_date(struct csv *c, uint64_t second)
{
	time_t t = (time_t)second;
	struct tm tm = { 0 };

	if (second == c->second && c->date[0])
		return;
	if (c->is_rfc4180)
		gmtime_r(&t, &tm);
	else
		localtime_r(&t, &tm);
	strftime(c->date, sizeof(c->date), c->is_rfc4180 ? "%Y-%m-%dT%H:%M:%S"
							 : "%Y-%m-%d %H:%M:%S", &tm);
	c->second = second;
}

/* xstack: local, in microseconds; RFC 4180: ISO 8601 in UTC, in nanoseconds. */
static int put_timestamp(struct csv *c, const struct report_sample *s)
{
	make_date(c, s->real_ns / NSEC_PER_SEC);
	csv_put_text(c, c->date);
	bb_u8(&c->row, '.');
	if (c->is_rfc4180)
		put_digits(c, s->real_ns % NSEC_PER_SEC, 9);
	else
		put_digits(c, s->real_ns % NSEC_PER_SEC / 1000, 6);
	if (c->is_rfc4180)
		bb_u8(&c->row, 'Z');
	return 0;
}

static int put_tid(struct csv *c, const struct report_sample *s)
{
	if (s->thread)
		csv_put_decimal(c, s->thread->tid);
	return 0;
}

static int put_tgid(struct csv *c, const struct report_sample *s)
{
	uint32_t tgid;

	if (report_sample_tgid(s, &tgid))
		csv_put_decimal(c, tgid);
	return 0;
}

static int put_comm(struct csv *c, const struct report_sample *s)
{
	if (s->thread)
		return csv_put_string(c, s->thread->comm);
	csv_put_text(c, "[missing]");
	return 0;
}

/* xstack knows the states of the kernel's task_state_array, and WAKING. */
static const char *xstack_state(unsigned state)
{
	switch (state) {
	case TASK_RUNNABLE: case TASK_NEW: return task_state_name(TASK_RUNNING);
	case TASK_KILLABLE: case TASK_DISK_NOLOAD: case TASK_RTLOCK: case TASK_FROZEN:
		return task_state_name(TASK_DISK);
	}
	return task_state_name(state);
}

static int put_state(struct csv *c, const struct report_sample *s)
{
	csv_put_text(c, c->xstack_states ? xstack_state(s->rec->state)
					 : task_state_name(s->rec->state));
	return 0;
}

static int put_activity(struct csv *c, const struct report_sample *s)
{
	csv_put_text(c, activity_name(sample_activity(s->rec, s->futex)));
	return 0;
}

static int put_ustack(struct csv *c, const struct report_sample *s)
{
	return csv_put_user_stack(c, s->rec);
}

static int put_kstack(struct csv *c, const struct report_sample *s)
{
	return csv_put_kernel_stack(c, s->rec);
}

static int put_stack_end(struct csv *c, const struct report_sample *s)
{
	csv_put_text(c, stack_end_name(s->rec->end));
	return 0;
}

static int put_cpu(struct csv *c, const struct report_sample *s)
{
	if (s->rec->cpu != UINT32_MAX)
		csv_put_decimal(c, s->rec->cpu);
	return 0;
}

static const struct rec_event *event_of(const struct report_sample *s)
{
	return definition_store_find_event(s->tables, s->rec->event);
}

static int put_event(struct csv *c, const struct report_sample *s)
{
	const struct rec_event *e = event_of(s);

	return e ? csv_put_string(c, e->name) : 0;
}

static int put_unit(struct csv *c, const struct report_sample *s)
{
	const struct rec_event *e = event_of(s);

	return e ? csv_put_string(c, e->unit) : 0;
}

/* Rows that are shown while they are recorded have the weight of their event. */
static uint64_t weight_of(const struct report_sample *s)
{
	const struct rec_event *e = event_of(s);
	uint64_t own = s->rec->weight ? s->rec->weight : e ? e->period : 0;

	return s->weight ? s->weight : own;
}

static int put_weight(struct csv *c, const struct report_sample *s)
{
	csv_put_decimal(c, weight_of(s));
	return 0;
}

static int put_weight_us(struct csv *c, const struct report_sample *s)
{
	const struct rec_event *e = event_of(s);
	const char *unit = e ? definition_store_string(s->tables, e->unit, NULL) : "";

	if (strcmp(unit, "ns"))
		return 0;
	csv_put_decimal(c, weight_of(s) / 1000);
	bb_u8(&c->row, '.');
	put_digits(c, weight_of(s) % 1000, 3);
	return 0;
}

/* Since when a thread that is on no CPU was on one. */
static bool off_us(const struct report_sample *s, uint64_t *us)
{
	const struct rec_sample *rec = s->rec;

	*us = rec->ran_ns < rec->time_ns ? (rec->time_ns - rec->ran_ns) / 1000 : 0;
	return rec->ran_ns;
}

static int put_waited(struct csv *c, const struct report_sample *s)
{
	uint64_t us;

	if (!off_us(s, &us))
		return 0;
	csv_put_decimal(c, us / 1000000);
	bb_u8(&c->row, '.');
	put_digits(c, us % 1000000, 6);
	return 0;
}

static int put_off_us(struct csv *c, const struct report_sample *s)
{
	uint64_t us;

	if (off_us(s, &us))
		csv_put_decimal(c, us);
	return 0;
}

static int put_syscall(struct csv *c, const struct report_sample *s)
{
	uint32_t nr = s->rec->syscall;
	const char *name = nr ? syscall_name(c->calls, nr - 1) : NULL;

	if (name)
		csv_put_text(c, name);
	else if (nr)
		csv_put_decimal(c, nr - 1);
	return 0;
}

static int put_syscall_nr(struct csv *c, const struct report_sample *s)
{
	if (s->rec->syscall)
		csv_put_decimal(c, s->rec->syscall - 1);
	return 0;
}

static int put_arg(struct csv *c, const struct report_sample *s, unsigned i)
{
	const uint64_t *args = s->rec->args;
	char hex[19];

	/* Older recordings have a call without them. */
	if (!(args[0] | args[1] | args[2] | args[3] | args[4] | args[5]))
		return 0;
	snprintf(hex, sizeof(hex), "0x%" PRIx64, args[i]);
	csv_put_text(c, hex);
	return 0;
}

#define ARG_COLUMN(n) \
	static int put_arg##n(struct csv *c, const struct report_sample *s) \
	{ \
		return put_arg(c, s, (n) - 1); \
	}
ARG_COLUMN(1)
ARG_COLUMN(2)
ARG_COLUMN(3)
ARG_COLUMN(4)
ARG_COLUMN(5)
ARG_COLUMN(6)

/*
 * No path begins with a word and a blank: it begins with '/' or with '(', and other names have a
 * colon behind their word.
 */
static bool is_connection(const struct csv *c, uint32_t file)
{
	const char *s = definition_store_string(c->tables, file, NULL);
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz");

	return len && s[len] == ' ';
}

static int put_filename(struct csv *c, const struct report_sample *s)
{
	if (!s->rec->file || is_connection(c, s->rec->file))
		return 0;
	return csv_put_string(c, s->rec->file);
}

static int put_connection(struct csv *c, const struct report_sample *s)
{
	if (!s->rec->file || !is_connection(c, s->rec->file))
		return 0;
	return csv_put_string(c, s->rec->file);
}

static int put_waits_on(struct csv *c, const struct report_sample *s)
{
	char cell[WAIT_TEXT_MAX];

	csv_put_text(c, wait_word(c->calls, s->rec, cell));
	return 0;
}

static int put_object(struct csv *c, const struct report_sample *s)
{
	char cell[WAIT_TEXT_MAX];

	csv_put_text(c, wait_object_text(c->calls, s->rec, cell));
	return 0;
}

static int put_owner(struct csv *c, const struct report_sample *s)
{
	if (s->rec->owner)
		csv_put_decimal(c, s->rec->owner);
	return 0;
}

static int put_holders(struct csv *c, const struct report_sample *s)
{
	if (s->rec->holders)
		csv_put_decimal(c, s->rec->holders - 1);
	return 0;
}

static int put_scan(struct csv *c, const struct report_sample *s)
{
	if (s->rec->scan)
		csv_put_decimal(c, s->rec->scan);
	return 0;
}

static int put_process(struct csv *c, const struct report_sample *s)
{
	return s->process ? csv_put_string(c, s->process->comm) : 0;
}

static const struct rec_binary *exe_of(const struct report_sample *s)
{
	return s->process ? definition_store_find_binary(s->tables, s->process->exe) : NULL;
}

static int put_exe(struct csv *c, const struct report_sample *s)
{
	const struct rec_binary *b = exe_of(s);

	return b ? csv_put_string(c, b->path) : 0;
}

static int put_build_id(struct csv *c, const struct report_sample *s)
{
	static const char digits[] = "0123456789abcdef";
	const struct rec_binary *b = exe_of(s);

	for (unsigned i = 0; b && i < b->build_id_len; i++) {
		bb_u8(&c->row, (uint8_t)digits[b->build_id[i] >> 4]);
		bb_u8(&c->row, (uint8_t)digits[b->build_id[i] & 15]);
	}
	return 0;
}

static int put_recording(struct csv *c, const struct report_sample *s)
{
	csv_put_decimal(c, s->segment + 1ull);
	return 0;
}

static int put_uid(struct csv *c, const struct report_sample *s)
{
	if (s->process)
		csv_put_decimal(c, s->process->uid);
	return 0;
}

static int put_cgroup(struct csv *c, const struct report_sample *s)
{
	return s->process ? csv_put_string(c, s->process->cgroup) : 0;
}

static int put_cmdline(struct csv *c, const struct report_sample *s)
{
	return s->process ? csv_put_string(c, s->process->cmdline) : 0;
}

static int put_ppid(struct csv *c, const struct report_sample *s)
{
	const struct rec_process *parent =
		s->process ? definition_store_find_process(s->tables, s->process->parent) : NULL;

	if (parent)
		csv_put_decimal(c, parent->tgid);
	return 0;
}

static int put_ns_tgid(struct csv *c, const struct report_sample *s)
{
	if (s->process)
		csv_put_decimal(c, s->process->ns_tgid ? s->process->ns_tgid : s->process->tgid);
	return 0;
}

static int put_ns_tid(struct csv *c, const struct report_sample *s)
{
	if (s->thread)
		csv_put_decimal(c, s->thread->ns_tid ? s->thread->ns_tid : s->thread->tid);
	return 0;
}

static int put_started(struct csv *c, const struct report_sample *s)
{
	if (!s->thread || !s->thread->start_boottime_ns)
		return 0;
	csv_put_decimal(c, s->thread->start_boottime_ns / NSEC_PER_SEC);
	bb_u8(&c->row, '.');
	put_digits(c, s->thread->start_boottime_ns % NSEC_PER_SEC, 9);
	return 0;
}

const struct csv_column csv_columns[] = {
	{ "timestamp", "when the kernel took it", put_timestamp },
	{ "tid", "number of the thread", put_tid },
	{ "tgid", "number of the process", put_tgid },
	{ "comm", "name of the thread", put_comm },
	{ "state", "state of the thread: RUNNING, SLEEP, DISK, ...", put_state },
	{ "ustack", "user stack", put_ustack },
	{ "kstack", "kernel stack", put_kstack },
	{ "waited_s", "seconds since the thread ran", put_waited },
	{ "syscall", "system call that it is in", put_syscall },
	{ "waits_on", "what it waits for: futex 0x7f00, fd 1, pid 12", put_waits_on },
	{ "owner", "the thread that holds it", put_owner },
	{ "activity", "the state in words: waiting for a CPU, ...", put_activity },
	{ "cpu", "CPU that it ran on", put_cpu },
	{ "event", "event that the sample is of", put_event },
	{ "unit", "unit of the weight", put_unit },
	{ "weight", "weight of the sample, in the unit of its event", put_weight },
	{ "weight_us", "the same in microseconds, where it is time", put_weight_us },
	{ "off_us", "microseconds since the thread ran", put_off_us },
	{ "syscall_nr", "number of the system call", put_syscall_nr },
	{ "sysc_arg1", "its first argument, in hexadecimal, as it was at the call", put_arg1 },
	{ "sysc_arg2", "its second argument", put_arg2 },
	{ "sysc_arg3", "its third argument", put_arg3 },
	{ "sysc_arg4", "its fourth argument", put_arg4 },
	{ "sysc_arg5", "its fifth argument", put_arg5 },
	{ "sysc_arg6", "its sixth argument", put_arg6 },
	{ "filename", "the file that its descriptor is: a path, pipe:[4711], ...", put_filename },
	{ "connection", "the socket that it is, with both ends and its state", put_connection },
	{ "object", "the pipe, socket or file that it waits for", put_object },
	{ "holders", "processes that hold the other end", put_holders },
	{ "scan", "number of the snapshot", put_scan },
	{ "stack_end", "why the user stack ended", put_stack_end },
	{ "recording", "which of the recordings in the file: 1, 2, ...", put_recording },
	{ "process", "name of the process", put_process },
	{ "exe", "path of its program", put_exe },
	{ "exe_build_id", "build id of that program", put_build_id },
	{ "uid", "number of its user", put_uid },
	{ "cgroup", "its cgroup", put_cgroup },
	{ "cmdline", "its command line, where that was recorded", put_cmdline },
	{ "ppid", "number of its parent", put_ppid },
	{ "ns_tgid", "number of the process in its own PID namespace", put_ns_tgid },
	{ "ns_tid", "number of the thread there", put_ns_tid },
	{ "started_s", "when the thread started, in seconds since the machine did", put_started },
	{ NULL, NULL, NULL },
};

_Static_assert(sizeof(csv_columns) / sizeof(csv_columns[0]) <= CSV_COLUMNS_MAX, "bits of a list");

static bool add(struct csv_column_list *l, const char *name, size_t len)
{
	for (uint8_t i = 0; csv_columns[i].name; i++) {
		if (strlen(csv_columns[i].name) != len || memcmp(csv_columns[i].name, name, len))
			continue;
		if (l->nr < CSV_COLUMNS_MAX)
			l->v[l->nr++] = i;
		return true;
	}
	return false;
}

void csv_columns_add(struct csv_column_list *l, const char *name)
{
	add(l, name, strlen(name));
}

void csv_columns_help(FILE *out)
{
	for (const struct csv_column *c = csv_columns; c->name; c++)
		fprintf(out, "%-13s %s\n", c->name, c->help);
}

static int refuse(const struct opt *o, const char *name, size_t len)
{
	char all[1024] = "all";
	size_t n = 3;

	for (size_t i = 0; csv_columns[i].name && n < sizeof(all); i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, ", %s", csv_columns[i].name);
	return fail_why(-EINVAL, "--%s: '%.*s' is no column. Try: some of %s", o->name, (int)len,
			name, all);
}

int csv_columns_parse(const struct opt *o, const char *value, void *dst)
{
	struct csv_column_list *l = dst;

	l->nr = 0;
	l->wants_help = !strcmp(value, "help");
	if (l->wants_help)
		return 0;
	for (const char *p = value;; p++) {
		size_t len = strcspn(p, ",");

		if (len == 3 && !memcmp(p, "all", 3))
			for (size_t i = 0; csv_columns[i].name; i++)
				csv_columns_add(l, csv_columns[i].name);
		else if (!add(l, p, len))
			return refuse(o, p, len);
		p += len;
		if (!*p)
			return 0;
	}
}

int csv_dialect_parse(const struct opt *o, const char *value, void *dst)
{
	*(bool *)dst = !strcmp(value, "rfc4180");
	if (*(bool *)dst || !strcmp(value, "xstack"))
		return 0;
	return fail_why(-EINVAL, "--%s %s: no such dialect. Try: xstack or rfc4180", o->name,
			value);
}
