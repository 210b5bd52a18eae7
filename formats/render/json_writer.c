#include "formats/render/json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "formats/render/escape.h"

static void begin(struct json *j, const char *key)
{
	if (j->comma)
		putc(',', j->out);
	if (key)
		fprintf(j->out, "\"%s\":", key);
	j->comma = true;
}

void json_open(struct json *j, const char *key, char bracket)
{
	begin(j, key);
	putc(bracket, j->out);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	putc(bracket, j->out);
	j->comma = true;
}

void json_newline(struct json *j)
{
	if (j->comma)
		putc(',', j->out);
	putc('\n', j->out);
	j->comma = false;
}

void json_string(struct json *j, const char *key, const char *s, size_t len)
{
	begin(j, key);
	putc('"', j->out);
	escape_json(j->out, s, len);
	putc('"', j->out);
}

void json_text(struct json *j, const char *key, const char *s)
{
	json_string(j, key, s, strlen(s));
}

void json_number(struct json *j, const char *key, uint64_t v)
{
	begin(j, key);
	fprintf(j->out, "%" PRIu64, v);
}

void json_bool(struct json *j, const char *key, bool v)
{
	begin(j, key);
	fputs(v ? "true" : "false", j->out);
}
