/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/column_list.h"
#include "formats/render/csv/csv_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "formats/render/csv/csv_parts.h"
#include "formats/render/waits/wait_list.h"
#include "formats/render/waits/wait_text.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/report/report.h"
#include "src/report/state_words.h"

#define LONGEST_WORD 16			/* of those for sockets: TRACE.md 5, file */

static void put_digits(struct csv *c, uint64_t v, unsigned digits)
{
	char buf[20];

	for (unsigned i = digits; i-- > 0; v /= 10)
		buf[i] = (char)('0' + v % 10);
	bb_bytes(&c->row, buf, digits);
}

/* Making a date is slow, and most rows have that of the row before. */
static const char *date_of(struct csv *c, uint64_t second)
{
	if (second != c->second || !c->date[0])
		csv_make_date(c, second, c->date);
	c->second = second;
	return c->date;
}

/* xstack: in microseconds; the others: in nanoseconds. */
static int put_timestamp(struct csv *c, const struct report_sample *s)
{
	csv_put_text(c, date_of(c, s->real_ns / NSEC_PER_SEC));
	bb_u8(&c->row, '.');
	if (c->dialect == CSV_XSTACK)
		put_digits(c, s->real_ns % NSEC_PER_SEC / 1000, 6);
	else
		put_digits(c, s->real_ns % NSEC_PER_SEC, 9);
	if (c->dialect != CSV_XSTACK)
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
	size_t len = 0;

	while (len < LONGEST_WORD && s[len] >= 'a' && s[len] <= 'z')
		len++;
	return len && s[len] == ' ';
}

static int put_filename(struct csv *c, const struct report_sample *s)
{
	if (!s->rec->file || is_connection(c, s->rec->file))
		return 0;
	return csv_put_string(c, s->rec->file);
}

static int put_mount(struct csv *c, const struct report_sample *s)
{
	return s->rec->mount ? csv_put_string(c, s->rec->mount) : 0;
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

static int put_exe_build_id(struct csv *c, const struct report_sample *s)
{
	csv_put_digits_of(c, exe_of(s));
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
	{ "timestamp", "when the kernel took it", COLUMN_TIME, true, put_timestamp },
	{ "tid", "number of the thread", COLUMN_INTEGER, true, put_tid },
	{ "tgid", "number of the process", COLUMN_INTEGER, true, put_tgid },
	{ "comm", "name of the thread", COLUMN_TEXT, true, put_comm },
	{ "state", "state of the thread: RUNNING, SLEEP, DISK, ...", COLUMN_TEXT, true, put_state },
	{ "ustack", "user stack", COLUMN_TEXT, false, put_ustack },
	{ "kstack", "kernel stack", COLUMN_TEXT, false, put_kstack },
	{ "waited_s", "seconds since the thread ran", COLUMN_DECIMAL, false, put_waited },
	{ "syscall", "system call that it is in", COLUMN_TEXT, true, put_syscall },
	{ "waits_on", "what it waits for: futex 0x7f00, fd 1, pid 12",
	  COLUMN_TEXT, true, put_waits_on },
	{ "owner", "the thread that holds it", COLUMN_INTEGER, true, put_owner },
	{ "activity", "the state in words: waiting for a CPU, ...",
	  COLUMN_TEXT, true, put_activity },
	{ "cpu", "CPU that it ran on", COLUMN_INTEGER, true, put_cpu },
	{ "event", "event that the sample is of", COLUMN_TEXT, true, put_event },
	{ "unit", "unit of the weight", COLUMN_TEXT, true, put_unit },
	{ "weight", "weight of the sample, in the unit of its event",
	  COLUMN_INTEGER, true, put_weight },
	{ "weight_us", "the same in microseconds, where it is time",
	  COLUMN_DECIMAL, false, put_weight_us },
	{ "off_us", "microseconds since the thread ran", COLUMN_INTEGER, true, put_off_us },
	{ "syscall_nr", "number of the system call", COLUMN_INTEGER, false, put_syscall_nr },
	{ "sysc_arg1", "its first argument, in hexadecimal, as it was at the call",
	  COLUMN_TEXT, false, put_arg1 },
	{ "sysc_arg2", "its second argument", COLUMN_TEXT, false, put_arg2 },
	{ "sysc_arg3", "its third argument", COLUMN_TEXT, false, put_arg3 },
	{ "sysc_arg4", "its fourth argument", COLUMN_TEXT, false, put_arg4 },
	{ "sysc_arg5", "its fifth argument", COLUMN_TEXT, false, put_arg5 },
	{ "sysc_arg6", "its sixth argument", COLUMN_TEXT, false, put_arg6 },
	{ "filename", "the file that its descriptor is: a path, pipe:[4711], ...",
	  COLUMN_TEXT, true, put_filename },
	{ "mount", "where that file is mounted, of a wait of 0.1 s: ext4 /dev/vdb /mnt",
	  COLUMN_TEXT, true, put_mount },
	{ "connection", "the socket that it is, with both ends and its state",
	  COLUMN_TEXT, true, put_connection },
	{ "object", "the pipe, socket or file that it waits for", COLUMN_TEXT, false, put_object },
	{ "holders", "processes that hold the other end", COLUMN_INTEGER, false, put_holders },
	{ "scan", "number of the snapshot", COLUMN_INTEGER, true, put_scan },
	{ "stack_end", "why the user stack ended", COLUMN_TEXT, true, put_stack_end },
	{ "recording", "which of the recordings in the file: 1, 2, ...",
	  COLUMN_INTEGER, true, put_recording },
	{ "process", "name of the process", COLUMN_TEXT, true, put_process },
	{ "exe", "path of its program", COLUMN_TEXT, true, put_exe },
	{ "exe_build_id", "build id of that program", COLUMN_TEXT, true, put_exe_build_id },
	{ "uid", "number of its user", COLUMN_INTEGER, true, put_uid },
	{ "cgroup", "its cgroup", COLUMN_TEXT, true, put_cgroup },
	{ "container", "its container: the id in the name of its cgroup",
	  COLUMN_TEXT, true, csv_put_container },
	{ "cmdline", "its command line, where that was recorded", COLUMN_TEXT, false, put_cmdline },
	{ "ppid", "number of its parent", COLUMN_INTEGER, false, put_ppid },
	{ "ns_tgid", "number of the process in its own PID namespace",
	  COLUMN_INTEGER, false, put_ns_tgid },
	{ "ns_tid", "number of the thread there", COLUMN_INTEGER, false, put_ns_tid },
	{ "started_s", "when the thread started, in seconds since the machine did",
	  COLUMN_DECIMAL, false, put_started },
	{ "trace", "the file that the sample is from; empty while it is recorded",
	  COLUMN_TEXT, true, csv_put_trace },
	{ "host", "name of the machine", COLUMN_TEXT, true, csv_put_host },
	{ "kernel", "release of its kernel", COLUMN_TEXT, true, csv_put_kernel },
	{ "arch", "its architecture: x86_64, aarch64", COLUMN_TEXT, true, csv_put_arch },
	{ "recording_id", "a number that no other recording has; empty while it is recorded",
	  COLUMN_TEXT, true, csv_put_recording_id },
	{ "recording_start", "when the recording began; empty while it is recorded",
	  COLUMN_TIME, true, csv_put_recording_start },
	{ "function", "the innermost function, of the kernel if the thread was in it",
	  COLUMN_TEXT, true, csv_put_function },
	{ "kind", "what that is: user, inlined, kernel, jit, bpf",
	  COLUMN_TEXT, true, csv_put_kind },
	{ "file", "its source file", COLUMN_TEXT, true, csv_put_file },
	{ "line", "the line in that file", COLUMN_INTEGER, true, csv_put_line },
	{ "binary", "path of its program or library", COLUMN_TEXT, true, csv_put_binary },
	{ "user_function", "the innermost function outside of the kernel",
	  COLUMN_TEXT, true, csv_put_user_function },
	{ "user_binary", "path of its program or library", COLUMN_TEXT, true, csv_put_user_binary },
	{ "build_id", "build id of that program or library", COLUMN_TEXT, true, csv_put_build_id },
	{ "stack", "all functions, outermost first, as in folded stacks",
	  COLUMN_TEXT, true, csv_put_stack },
	{ NULL, NULL, COLUMN_TEXT, false, NULL },
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

void csv_columns_add_sql(struct csv_column_list *l)
{
	for (const struct csv_column *c = csv_columns; c->name; c++)
		if (c->is_sql)
			csv_columns_add(l, c->name);
}

void csv_columns_once(struct csv_column_list *l)
{
	unsigned nr = l->nr;

	l->nr = 0;
	for (unsigned i = 0; i < nr; i++)
		if (!memchr(l->v, l->v[i], l->nr))
			l->v[l->nr++] = l->v[i];
}

void csv_columns_help(FILE *out)
{
	for (const struct csv_column *c = csv_columns; c->name; c++)
		fprintf(out, "%-15s %s\n", c->name, c->help);
}

static int refuse(const struct opt *o, const char *name, size_t len)
{
	char all[2048] = "all, sql";
	size_t n = 8;

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
		else if (len == 3 && !memcmp(p, "sql", 3))
			csv_columns_add_sql(l);
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
