/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording of trace_fixture.h, written, opened again and rendered:
 *
 *	char *text = fixture_render(&renderer_csv, &opts, NULL);	the caller frees it
 *	char *text = fixture_render_wall(...)			the rows of its walk, not its CPU time
 *	check_golden(text, "fixture.csv")				compares with tests/golden/fixture.csv
 *
 * With names, strings of the recording are replaced: names[i] stands for fixture_strings[i] if it is not NULL.
 * A golden file that should change: look at the difference, then PROBEE_GOLDEN=write and run the test again.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/render/renderer.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "tests/unit/trace_fixture.h"

struct fixture_name {
	const char *s;
	size_t len;
};

struct fixture_rename {
	struct trace_writer *writer;
	const struct fixture_name *names;	/* FIX_STRINGS of them */
};

static inline int fixture_rename(void *ctx, const struct record *rec)
{
	struct fixture_rename *r = ctx;
	struct record copy = *rec;

	if (rec->tag == REC_STRING && r->names && r->names[rec->string.id].s) {
		copy.string.bytes = r->names[rec->string.id].s;
		copy.string.len = r->names[rec->string.id].len;
	}
	return trace_writer_record(r->writer, &copy);
}

/* Leaves a trace in a new file; path is a template for mkstemp(). */
static inline void fixture_write(char *path, const struct fixture_name *names)
{
	struct fixture_rename r = { .names = names };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_int_equal(trace_writer_open(path, NULL, &r.writer), 0);
	assert_int_equal(trace_fixture_emit(fixture_rename, &r), 0);
	assert_int_equal(trace_writer_close(r.writer), 0);
}

static inline char *fixture_render_query(const struct renderer *r, const struct render_opts *opts,
					 const struct fixture_name *names, const struct query *query)
{
	char path[] = "/tmp/probee-report-XXXXXX", *text = NULL;
	struct profile *prof = NULL;
	struct report *rep = NULL;
	size_t len = 0;
	FILE *out;

	fixture_write(path, names);
	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(report_open(path, query, &rep), 0);
	unlink(path);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	if (r->stream) {
		assert_int_equal(r->stream(rep, opts, out), 0);
	} else {
		assert_int_equal(fold_report(rep, NULL, &prof), 0);
		assert_int_equal(r->render(prof, opts, out), 0);
	}
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), len);	/* no NUL ever comes out */
	profile_free(prof);
	report_close(rep);
	return text;
}

static inline char *fixture_render(const struct renderer *r, const struct render_opts *opts,
				   const struct fixture_name *names)
{
	return fixture_render_query(r, opts, names, NULL);
}

/* Of the rows of its walk; fixture_render() shows its CPU time. */
static const struct query fixture_wall = { .weight = WEIGHT_WALL };

static inline char *fixture_render_wall(const struct renderer *r, const struct render_opts *opts,
					const struct fixture_name *names)
{
	return fixture_render_query(r, opts, names, &fixture_wall);
}

static inline void check_golden(const char *text, const char *name)
{
	const char *mode = getenv("PROBEE_GOLDEN");
	char path[256], *want = calloc(1, strlen(text) + 2);
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	f = fopen(path, mode && !strcmp(mode, "write") ? "w+" : "r");
	if (!f)
		fail_msg("%s is not there", path);
	if (mode && !strcmp(mode, "write")) {
		fputs(text, f);
		rewind(f);
	}
	len = fread(want, 1, strlen(text) + 1, f);
	fclose(f);
	want[len] = 0;
	assert_string_equal(text, want);
	free(want);
}

/* Text through a shell command that fails when it does not like it; true as well when the tool is missing. */
static inline bool is_liked_by(const char *tool, const char *command, const char *text)
{
	char probe[128];
	FILE *in;

	snprintf(probe, sizeof(probe), "command -v %s >/dev/null", tool);
	if (system(probe))
		return true;
	in = popen(command, "w");
	assert_non_null(in);
	fwrite(text, 1, strlen(text), in);
	return pclose(in) == 0;
}

/* One of everything that a name must not do to a format. */
#define HOSTILE "</script>\x1b[31m\0\n;|\"\\\xe2\x80\xa8\xff\xc3"
#define HOSTILE_LEN (sizeof(HOSTILE) - 1)

static const struct fixture_name hostile_names[FIX_STRINGS] = {
	[FIX_S_SERVER] = { HOSTILE, HOSTILE_LEN },
	[FIX_S_WORKER] = { "=cmd|' /C calc'!A0", 18 },
	[FIX_S_MAIN] = { HOSTILE, HOSTILE_LEN },
	[FIX_S_HOT] = { "-[Object method]", 16 },
	[FIX_S_FILE] = { HOSTILE, HOSTILE_LEN },
	[FIX_S_SERVER_PATH] = { "/usr/bin/" HOSTILE, 9 + HOSTILE_LEN },
	[FIX_S_SCHEDULE] = { HOSTILE, HOSTILE_LEN },
};

/* Nothing that would reach a terminal or break a line. */
static inline void check_is_harmless(const char *text)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		if ((*s < 0x20 && *s != '\n') || *s == 0x7f || *s == 0xff)
			fail_msg("byte 0x%02x comes through", *s);
	}
	assert_null(strstr(text, "\xe2\x80\xa8"));
}
