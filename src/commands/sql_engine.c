/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/column_list.h"
#include "src/commands/sql_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/render/csv/csv_columns.h"
#include "src/base/bytes.h"
#include "src/base/fail.h"
#include "src/base/opt.h"

#define NOT_FOUND 127			/* exit status of a program that cannot be started */
#define ARGS_MAX 10
#define SQL ((const char *)1)		/* stands for the statement among the arguments */

/*
 * An engine may write a file beside this one and rename it to this name. In /dev root would so lose
 * the link /dev/stdout; here nothing can be renamed.
 */
#define STDOUT_PATH "/proc/self/fd/1"

/* Python would otherwise import what lies in the directory where the user is. */
#define PYTHON_PATH "import sys; sys.path[:] = [p for p in sys.path if p]\n"

struct sql_engine {
	const char *name;		/* of --parquet-by */
	const char *program;
	const char *module;		/* of Python that it needs; NULL: none */
	const char *const args[ARGS_MAX];
	void (*put_sql)(struct byte_buf *sql, const struct csv_column_list *columns);
};

static void put(struct byte_buf *b, const char *s)
{
	bb_bytes(b, s, strlen(s));
}

static void put_columns(struct byte_buf *b, const struct csv_column_list *l,
			const char *const types[COLUMN_TYPES], const char *before,
			const char *between, const char *behind)
{
	for (unsigned i = 0; i < l->nr; i++) {
		const struct csv_column *c = &csv_columns[l->v[i]];

		put(b, i ? ", " : "");
		put(b, before);
		put(b, c->name);
		put(b, between);
		put(b, types[c->type]);
		put(b, behind);
	}
}

static bool has_column(const struct csv_column_list *l, const char *name)
{
	for (unsigned i = 0; i < l->nr; i++)
		if (!strcmp(csv_columns[l->v[i]].name, name))
			return true;
	return false;
}

/*
 * DuckDB sums signed weights in half the time of unsigned ones. One of more than 2^63 - 1, which no
 * real sample has, becomes that.
 *
 * A cell of a stack has up to 1 MiB, and a hostile trace may fill others. Where the order of rows
 * is to be kept, the engine's memory grows with their number.
 */
static void put_duckdb(struct byte_buf *sql, const struct csv_column_list *columns)
{
	static const char *const types[COLUMN_TYPES] = {
		[COLUMN_TEXT] = "VARCHAR", [COLUMN_INTEGER] = "UBIGINT",
		[COLUMN_DECIMAL] = "DOUBLE", [COLUMN_TIME] = "TIMESTAMP_NS",
	};

	put(sql, "SET preserve_insertion_order = false; COPY (SELECT *");
	if (has_column(columns, "weight"))
		put(sql, " REPLACE (least(weight, 9223372036854775807)::BIGINT AS weight)");
	put(sql, " FROM read_csv('/dev/stdin', auto_detect = false, header = true, "
		 "delim = ',', quote = '\"', escape = '\"', nullstr = '', new_line = '\\r\\n', "
		 "max_line_size = 8388608, columns = {");
	put_columns(sql, columns, types, "'", "': '", "'");
	put(sql, "})) TO '" STDOUT_PATH "' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)");
}

static void put_clickhouse(struct byte_buf *sql, const struct csv_column_list *columns)
{
	static const char *const types[COLUMN_TYPES] = {
		[COLUMN_TEXT] = "Nullable(String)", [COLUMN_INTEGER] = "Nullable(UInt64)",
		[COLUMN_DECIMAL] = "Nullable(Float64)",
		[COLUMN_TIME] = "Nullable(DateTime64(9, \\'UTC\\'))",
	};

	put(sql, "INSERT INTO FUNCTION file('" STDOUT_PATH "', 'Parquet') "
		 "SELECT * FROM file('/dev/stdin', 'CSVWithNames', '");
	put_columns(sql, columns, types, "", " ", "");
	put(sql, "') SETTINGS date_time_input_format = 'best_effort', "
		 "input_format_csv_empty_as_default = 1, engine_file_truncate_on_insert = 1, "
		 "output_format_parquet_compression_method = 'zstd'");
}

/* The first one of a name that is installed is taken. */
static const struct sql_engine engines[] = {
	{ "duckdb", "duckdb", NULL,
	  { "duckdb", "-init", "/dev/null", "-batch", "-bail", "-c", SQL, NULL }, put_duckdb },
	{ "duckdb", "python3", "duckdb",
	  { "python3", "-c", PYTHON_PATH "import duckdb\n"
	    "try:\n    duckdb.connect().execute(sys.argv[1])\n"
	    "except duckdb.Error as e:\n    sys.exit(f'duckdb: {e}')\n", SQL, NULL },
	  put_duckdb },
	{ "clickhouse", "clickhouse", NULL, { "clickhouse", "local", "--query", SQL, NULL },
	  put_clickhouse },
	{ "clickhouse", "clickhouse-local", NULL, { "clickhouse-local", "--query", SQL, NULL },
	  put_clickhouse },
	{ "clickhouse", "python3", "chdb",
	  { "python3", "-c", PYTHON_PATH "import chdb\n"
	    "try:\n    chdb.query(sys.argv[1])\n"
	    "except Exception as e:\n    sys.exit(f'chdb: {e}')\n", SQL, NULL },
	  put_clickhouse },
};
#define NR_ENGINES (sizeof(engines) / sizeof(engines[0]))

int sql_engine_parse(const struct opt *o, const char *value, void *dst)
{
	for (size_t i = 0; i < NR_ENGINES; i++)
		if (!strcmp(engines[i].name, value)) {
			*(const char **)dst = engines[i].name;
			return 0;
		}
	return fail_why(-EINVAL, "--%s %s: no such engine. Try: duckdb or clickhouse", o->name,
			value);
}

/* Whether a program of this name is on the path: execvp() would start it. */
static bool is_on_path(const char *program)
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/bin:/bin"; *p; p += strspn(p, ":")) {
		size_t len = strcspn(p, ":");
		char *name;
		bool found;

		if (asprintf(&name, "%.*s/%s", (int)len, p, program) < 0)
			return false;
		found = !access(name, X_OK);
		free(name);
		if (found)
			return true;
		p += len;
	}
	return false;
}

static _Noreturn void become(const char *const *args, int in, int out)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execvp(args[0], (char *const *)args);
	_exit(NOT_FOUND);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static bool has_module(const char *module)
{
	static const char script[] = PYTHON_PATH "from importlib.util import find_spec\n"
				     "sys.exit(0 if find_spec(sys.argv[1]) else 1)\n";
	const char *const args[] = { "python3", "-c", script, module, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = null < 0 ? -1 : fork();

	if (!pid) {
		dup2(null, STDERR_FILENO);
		become(args, null, null);
	}
	if (null >= 0)
		close(null);
	return pid > 0 && !wait_for(pid);
}

static bool is_there(const struct sql_engine *e)
{
	return is_on_path(e->program) && (!e->module || has_module(e->module));
}

const struct sql_engine *sql_engine_find(const char *name)
{
	for (size_t i = 0; i < NR_ENGINES; i++)
		if ((!name || !strcmp(name, engines[i].name)) && is_there(&engines[i]))
			return &engines[i];
	if (name && !strcmp(name, "clickhouse"))
		fail_why(-ENOENT, "there is no clickhouse, no clickhouse-local, and no python3 "
				  "with the module chdb. Try: pip install chdb");
	else
		fail_why(-ENOENT, "there is no duckdb%s, and no python3 with the module duckdb%s. "
				  "Try: pip install duckdb", name ? "" : ", no clickhouse",
			 name ? "" : " or chdb");
	return NULL;
}

int sql_engine_start(const struct sql_engine *e, const struct csv_column_list *columns, int in,
		     int out, pid_t *pid)
{
	const char *args[ARGS_MAX];
	struct byte_buf sql = { .v = NULL };
	size_t n = 0;

	e->put_sql(&sql, columns);
	bb_u8(&sql, 0);
	if (sql.bad) {
		bb_release(&sql);
		return fail(-ENOMEM, "%s", e->name);
	}
	for (; e->args[n]; n++)
		args[n] = e->args[n] == SQL ? (const char *)sql.v : e->args[n];
	args[n] = NULL;
	*pid = fork();
	if (!*pid)
		become(args, in, out);
	bb_release(&sql);
	return *pid < 0 ? fail(-errno, "start %s", e->program) : 0;
}

int sql_engine_wait(const struct sql_engine *e, pid_t pid)
{
	int status = wait_for(pid);

	if (!status)
		return 0;
	if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return fail_why(-EIO, "%s could not be started", e->program);
	if (status > 0 && WIFSIGNALED(status))
		return fail_why(-EIO, "%s was ended by signal %d, so there is no file", e->program,
				WTERMSIG(status));
	return fail_why(-EIO, "%s failed (exit status %d), so there is no file", e->program,
			WEXITSTATUS(status));
}
