/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_headers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/fail.h"
#include "src/push/secret_text.h"

/* RFC 9110: what the name of a header consists of. */
static const char token[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "!#$%&'*+-.^_`|~";

/* Those that describe the body, or the connection. */
static const char *const ours[] = {
	"Content-Type", "Content-Encoding", "Content-Length", "Transfer-Encoding", "Host", "Expect",
	"Connection", "TE", "Trailer", "Upgrade", "Accept-Encoding",
};

static bool is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!name[i] || !strchr(token, name[i]))
			return false;
	return len;
}

static bool is_value(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f)
			return false;
	return true;
}

static bool is_ours(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strlen(ours[i]) == len && !strncasecmp(ours[i], name, len))
			return true;
	return false;
}

/* Where a header of this name is, or the next free place. */
static char **place_of(struct push_headers *h, const char *name, size_t len)
{
	for (size_t i = 0; i < h->nr; i++)
		if (!strncasecmp(h->v[i], name, len) && h->v[i][len] == ':')
			return &h->v[i];
	return h->nr < PUSH_HEADERS_MAX ? &h->v[h->nr] : NULL;
}

static void trim(const char **s, size_t *len)
{
	while (*len && (**s == ' ' || **s == '\t')) {
		++*s;
		--*len;
	}
	while (*len && ((*s)[*len - 1] == ' ' || (*s)[*len - 1] == '\t'))
		--*len;
}

int push_headers_add(struct push_headers *h, const char *what, const char *name, size_t name_len,
		     const char *value, size_t value_len)
{
	char **place, *line;

	trim(&name, &name_len);
	trim(&value, &value_len);
	if (!is_name(name, name_len))
		return fail_why(-EINVAL, "%s: that is no name of a header and =, and its value",
				what);
	/* libcurl would leave out a header without a value. */
	if (!value_len)
		return fail_why(-EINVAL, "%s: %.*s has no value", what, (int)name_len, name);
	if (!is_value(value, value_len) || name_len + value_len + 3 > PUSH_HEADER_MAX)
		return fail_why(-EINVAL, "%s: the value of %.*s is too long or has characters "
				"that no header can have", what, (int)name_len, name);
	if (is_ours(name, name_len))
		return fail_why(-EINVAL, "%s: %.*s is set by probee itself", what, (int)name_len,
				name);
	place = place_of(h, name, name_len);
	if (!place)
		return fail_why(-E2BIG, "%s: more than %d headers", what, PUSH_HEADERS_MAX);
	if (asprintf(&line, "%.*s: %.*s", (int)name_len, name, (int)value_len, value) < 0)
		return fail(-ENOMEM, "%s", what);
	h->nr += place == &h->v[h->nr];
	secret_text_free(*place);
	*place = line;
	return 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* In place; a % that begins no %XX stays. The length. */
static size_t decode_percent(char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		bool coded = s[i] == '%' && i + 2 < len && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0;

		s[n++] = coded ? (char)(hex(s[i + 1]) << 4 | hex(s[i + 2])) : s[i];
		i += coded ? 2 : 0;
	}
	return n;
}

static int add_pair(struct push_headers *h, const char *what, char *pair)
{
	char *value = strchr(pair, '=');

	if (!value)
		return fail_why(-EINVAL, "%s: each header is NAME=VALUE", what);
	value++;
	return push_headers_add(h, what, pair, (size_t)(value - 1 - pair), value,
				decode_percent(value, strlen(value)));
}

int push_headers_of_variable(struct push_headers *h, const char *what, const char *text)
{
	char *copy = strdup(text), *rest = copy, *pair;
	int err = copy ? 0 : fail(-ENOMEM, "%s", what);

	while (!err && (pair = strsep(&rest, ",")))
		if (pair[strspn(pair, " \t")])
			err = add_pair(h, what, pair);
	if (copy)
		explicit_bzero(copy, strlen(text));	/* it was cut up */
	free(copy);
	return err;
}

static int add_line(struct push_headers *h, const char *what, const char *line, size_t len)
{
	size_t name = 0;

	while (name < len && line[name] != ':' && line[name] != '=')
		name++;
	if (name == len)
		return fail_why(-EINVAL, "%s: a line is no NAME: VALUE", what);
	return push_headers_add(h, what, line, name, line + name + 1, len - name - 1);
}

int push_headers_of_lines(struct push_headers *h, const char *what, const char *text)
{
	int err = 0;

	while (*text && !err) {
		size_t len = strcspn(text, "\n"), end = len;

		while (end && text[end - 1] == '\r')
			end--;
		if (end && *text != '#' && strspn(text, " \t") < end)
			err = add_line(h, what, text, end);
		text += len + (text[len] == '\n');
	}
	return err;
}

void push_headers_release(struct push_headers *h)
{
	while (h->nr)
		secret_text_free(h->v[--h->nr]);
}
