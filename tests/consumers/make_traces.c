/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_traces DIR: the traces that other programs are made to read.
 *
 *	plain.pbz	trace_fixture.h
 *	hostile.pbz	the same with names that no format may carry as they are
 *	recursive.pbz	the same, but handle_request() is main(), which calls parse_header() and
 *			itself
 *	events.pbz	events_fixture.h: several events, with other units
 *	more.pbz	likewise, another recording
 *	two.pbz		plain, hostile and plain again: three recordings in one file
 *	apart.pbz	plain, and the same a day later
 *	lib.pbz		plain, but no frame is in the program's own file
 *	programs.pbz	plain, and twice lib with another program
 *	calls.pbz	plain, with arguments of read() and with names of descriptors: one is a
 *			file, one a socket
 *	odd.pbz		the same with hostile names of descriptors
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/events_fixture.h"
#include "tests/unit/fixture_report.h"

static int put_fixture(const char *path, const struct fixture_name *names)
{
	struct fixture_rename r = { .names = names };

	return trace_writer_open(path, NULL, &r.writer) || trace_fixture_emit(fixture_rename, &r) ||
	       trace_writer_close(r.writer);
}

/* Frame 3 is handle_request() with parse_header() inlined, frame 2 main(). */
static int make_recursive(void *ctx, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_NODE && rec->node.frame == 4)
		copy.node.frame = 2;
	if (rec->tag == REC_FUNC && rec->func.id == 3)
		copy.func.name = FIX_S_MAIN;
	return trace_writer_record(ctx, &copy);
}

static int add_day(void *writer, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_CLOCK)
		copy.clock.real_ns += 86400ull * 1000000000;
	return trace_writer_record(writer, &copy);
}

static int leave_program(void *writer, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_FRAME && rec->frame.binary == FIX_B_SERVER)
		copy.frame.binary = FIX_B_KERNEL;
	return trace_writer_record(writer, &copy);
}

static int leave_other_program(void *writer, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_STRING && rec->string.id == FIX_S_SERVER_PATH)
		copy.string.len = strlen(copy.string.bytes = "/opt/other");
	return leave_program(writer, &copy);
}

/* Strings that no sample needs otherwise. */
enum { FILE_NAME = FIX_S_ENTRY, SOCKET_NAME = FIX_S_SYSCALL };

struct calls {
	struct trace_writer *writer;
	const char *file, *socket;
	unsigned nr;
};

static int make_calls(void *ctx, const struct record *rec)
{
	static const uint64_t args[] = { 3, 0x7fff00001000, 4096, 0, UINT64_MAX, 1ull << 63 };
	struct calls *c = ctx;
	struct record copy = *rec;

	if (rec->tag == REC_STRING && rec->string.id == FILE_NAME)
		copy.string.len = strlen(copy.string.bytes = c->file);
	if (rec->tag == REC_STRING && rec->string.id == SOCKET_NAME)
		copy.string.len = strlen(copy.string.bytes = c->socket);
	if (rec->tag == REC_SAMPLE && c->nr++ % 3) {
		copy.sample.syscall = 1;
		copy.sample.wait = 4;
		memcpy(copy.sample.args, args, sizeof(args));
		copy.sample.file = c->nr % 3 == 2 ? FILE_NAME : SOCKET_NAME;
	}
	return trace_writer_record(c->writer, &copy);
}

static int put_calls(const char *path, const char *file, const char *socket)
{
	struct calls c = { .file = file, .socket = socket };

	return trace_writer_open(path, NULL, &c.writer) || trace_fixture_emit(make_calls, &c) ||
	       trace_writer_close(c.writer);
}

/* The fixture's records, each changed by a function that has the writer as its context. */
static int put_changed(const char *path, record_fn change)
{
	struct trace_writer *w;

	return trace_writer_open(path, NULL, &w) || trace_fixture_emit(change, w) ||
	       trace_writer_close(w);
}

static int put_events(const char *path, int (*emit)(struct trace_writer *w))
{
	struct trace_writer *w;

	return trace_writer_open(path, NULL, &w) || emit(w) || trace_writer_close(w);
}

int main(int argc, char **argv)
{
	return argc != 2 || chdir(argv[1]) || put_fixture("plain.pbz", NULL) ||
	       put_fixture("hostile.pbz", hostile_names) || put_changed("recursive.pbz", make_recursive) ||
	       put_events("events.pbz", events_emit) ||
	       put_events("more.pbz", events_emit_more) ||
	       put_calls("calls.pbz", "/var/lib/db/wal, 1",
			 "tcp 127.0.0.1:5432 -> 10.0.0.7:51344 ESTABLISHED") ||
	       put_calls("odd.pbz", "/\n\"|,;\x1b\xff\xe2\x80\xae<b>\"", "unix =1\r\n\"|, ESTABLISHED") ||
	       put_changed("later.pbz", add_day) || system("cat plain.pbz hostile.pbz plain.pbz >two.pbz") ||
	       system("cat plain.pbz later.pbz >apart.pbz") ||
	       put_changed("lib.pbz", leave_program) || put_changed("other.pbz", leave_other_program) ||
	       system("cat plain.pbz other.pbz other.pbz >programs.pbz");
}
