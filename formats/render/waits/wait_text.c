/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/waits/wait_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/waits/wait_list.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/waits/wait_graph.h"

bool wait_is_off_cpu(const struct rec_sample *rec)
{
	return rec->state != TASK_RUNNING && rec->state != TASK_RUNNABLE && rec->cpu == UINT32_MAX;
}

const char *wait_call_name(const struct syscall_names *calls, const struct rec_sample *rec,
			   char buf[WAIT_CALL_MAX])
{
	const char *name = rec->syscall ? syscall_name(calls, rec->syscall - 1) : NULL;

	if (name)
		return name;
	if (rec->syscall)
		snprintf(buf, WAIT_CALL_MAX, "syscall %u", rec->syscall - 1);
	else if (rec->end == END_KTHREAD)
		snprintf(buf, WAIT_CALL_MAX, "[kernel thread]");
	else if (!wait_is_off_cpu(rec))
		snprintf(buf, WAIT_CALL_MAX, "[%s]",
			 rec->state == TASK_RUNNABLE ? "ready to run" : "running");
	else
		snprintf(buf, WAIT_CALL_MAX, "[%s]", task_state_name(rec->state));
	return buf;
}

enum direction { ANY, IN, OUT };

static enum direction direction(const struct syscall_names *calls, const struct rec_sample *rec)
{
	const char *call = rec->syscall ? syscall_name(calls, rec->syscall - 1) : NULL;

	if (!call)
		return ANY;
	if (strstr(call, "write") || strstr(call, "send") || !strcmp(call, "vmsplice"))
		return OUT;
	return strstr(call, "read") || strstr(call, "recv") ? IN : ANY;
}

/* What is wanted of the object, and the object. */
static const struct {
	const char *wanted[3];		/* by enum direction */
	const char *object;		/* with the number of the inode; NULL: unknown */
} kinds[WAIT_KINDS] = {
	[WAIT_PIPE] = { { "", "data from ", "room in " }, "pipe:[%" PRIu64 "]" },
	[WAIT_FIFO] = { { "", "data from ", "room in " }, "FIFO %" PRIu64 },
	[WAIT_UNIX] = { { "", "data from ", "room in " }, "socket:[%" PRIu64 "]" },
	[WAIT_TCP] = { { "", "data from ", "room in " }, "TCP socket:[%" PRIu64 "]" },
	[WAIT_LISTENER] = { { "connections at " }, "socket:[%" PRIu64 "]" },
	[WAIT_SOCKET] = { { "" }, "socket:[%" PRIu64 "]" },
	[WAIT_FILE_LOCK] = { { "a lock of " }, "file %" PRIu64 },
	[WAIT_CHILD] = { { "" }, "its child" },
	[WAIT_VFORK] = { { "" }, "its vfork child" },
};

static const char *wanted(const struct syscall_names *calls, const struct rec_sample *rec)
{
	const char *text;

	if (rec->wait_kind >= WAIT_KINDS || !kinds[rec->wait_kind].object)
		return NULL;
	text = kinds[rec->wait_kind].wanted[direction(calls, rec)];
	return text ? text : kinds[rec->wait_kind].wanted[ANY];
}

const char *wait_object_text(const struct syscall_names *calls, const struct rec_sample *rec,
			     char buf[WAIT_TEXT_MAX])
{
	const char *first = wanted(calls, rec);
	size_t len;

	if (!first)
		return "";
	len = (size_t)snprintf(buf, WAIT_TEXT_MAX, "%s", first);
	snprintf(buf + len, WAIT_TEXT_MAX - len, kinds[rec->wait_kind].object, rec->object);
	return buf;
}

bool wait_put_object(const struct definition_store *t, const struct syscall_names *calls,
		     const struct rec_sample *rec, FILE *out)
{
	const char *first = wanted(calls, rec), *name;
	char buf[WAIT_TEXT_MAX];
	size_t len = 0;

	name = rec->file ? definition_store_string(t, rec->file, &len) : "";
	fputs(first && len ? first : wait_object_text(calls, rec, buf), out);
	if (!first && len)
		fprintf(out, "%s ", wait_call_name(calls, rec, buf));
	escape_text(out, name, len);
	return first || len;
}

enum wait_value wait_value(const struct syscall_names *calls,
			   const struct rec_sample *rec, uint64_t *value)
{
	const char *call = rec->syscall ? syscall_name(calls, rec->syscall - 1) : NULL;

	*value = rec->wait;
	if (!rec->wait)
		return WAIT_NO_VALUE;
	if (call && !strncmp(call, "futex", 5))
		return WAIT_FUTEX;
	if (rec->wait_kind >= WAIT_CHILD || (call && !strncmp(call, "wait", 4)))
		return WAIT_PID;
	if (!call && rec->wait_kind == WAIT_UNKNOWN)
		return WAIT_RAW;
	--*value;
	return WAIT_FD;
}

const char *wait_word(const struct syscall_names *calls, const struct rec_sample *rec,
		      char buf[WAIT_TEXT_MAX])
{
	static const char *const formats[] = {
		[WAIT_FUTEX] = "futex 0x%" PRIx64, [WAIT_FD] = "fd %" PRIu64,
		[WAIT_PID] = "pid %" PRIu64, [WAIT_RAW] = "0x%" PRIx64,
	};
	uint64_t value;
	enum wait_value is = wait_value(calls, rec, &value);

	if (is == WAIT_NO_VALUE)
		return "";
	snprintf(buf, WAIT_TEXT_MAX, formats[is], value);
	return buf;
}

const char *wait_seconds(uint64_t ns, char buf[WAIT_SECONDS_MAX])
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 >= 500000);

	snprintf(buf, WAIT_SECONDS_MAX, "%" PRIu64 ".%03u s", ms / 1000, (unsigned)(ms % 1000));
	return buf;
}

const char *wait_advice(const char *ask, uint32_t tgid, char buf[WAIT_TEXT_MAX])
{
	const char *pid = strstr(ask, "PID");

	if (!pid || !tgid)
		return ask;
	snprintf(buf, WAIT_TEXT_MAX, "%.*s%u%s", (int)(pid - ask), ask, tgid, pid + 3);
	return buf;
}

void wait_put_comm(const struct definition_store *t, const struct wait_row *row, FILE *out)
{
	const struct rec_thread *thread = definition_store_find_thread(t, row->rec.thread);
	const char *comm;
	size_t len;

	if (row->absent) {
		fputs("[not in this snapshot]", out);
		return;
	}
	comm = definition_store_string(t, thread ? thread->comm : UINT32_MAX, &len);
	escape_text(out, comm, len);
}

void wait_put_process(const struct definition_store *t, const struct wait_row *row, FILE *out)
{
	const struct rec_thread *thread = definition_store_find_thread(t, row->rec.thread);
	const struct rec_process *p =
		thread ? definition_store_find_process(t, thread->process) : NULL;
	const char *comm;
	size_t len;

	if (row->absent || !row->tgid)
		return;
	comm = definition_store_string(t, p ? p->comm : UINT32_MAX, &len);
	fputs(" (", out);
	escape_text(out, comm, len);
	fprintf(out, " %u)", row->tgid);
}

void wait_put_thread(const struct definition_store *t, const struct wait_row *row, FILE *out)
{
	fprintf(out, "%u ", row->tid);
	wait_put_comm(t, row, out);
	if (!row->absent && row->tgid && row->tgid != row->tid)
		fprintf(out, " (process %u)", row->tgid);
}
