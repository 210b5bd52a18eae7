/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ready-made parsers of option values. See opt.h. */
#include "src/base/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"

/* The longest id list. Ranges are expanded, and "1-4000000000" must not use up the memory. */
#define IDS_MAX (1u << 20)

static int bad_value(const struct opt *o, const char *value, const char *want)
{
	return fail_why(-EINVAL, "--%s: '%s' is not %s", o->name, value, want);
}

int opt_one(const struct opt *o, const char *value, void *dst)
{
	bool on;

	if (opt_flag(o, value, &on))
		return -EINVAL;
	*(uint32_t *)dst = on;
	return 0;
}

int opt_flag(const struct opt *o, const char *value, void *dst)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };

	*(bool *)dst = true;
	if (!value)
		return 0;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		*(bool *)dst = !strcmp(value, yes[i]);
		if (*(bool *)dst || !strcmp(value, no[i]))
			return 0;
	}
	return bad_value(o, value, "true or false");
}

int opt_string(const struct opt *o, const char *value, void *dst)
{
	(void)o;
	*(const char **)dst = value;
	return 0;
}

/* Digits alone, no sign and no blanks; *end is behind them. */
static bool read_u64(const char *s, const char **end, uint64_t *v)
{
	*v = 0;
	for (*end = s; **end >= '0' && **end <= '9'; ++*end) {
		unsigned digit = (unsigned)(**end - '0');

		if (*v > (UINT64_MAX - digit) / 10)
			return false;
		*v = *v * 10 + digit;
	}
	return *end != s;
}

int opt_u32(const struct opt *o, const char *value, void *dst)
{
	const char *end;
	uint64_t v;

	if (!read_u64(value, &end, &v) || *end || v > UINT32_MAX)
		return bad_value(o, value, "a whole number");
	*(uint32_t *)dst = (uint32_t)v;
	return 0;
}

/*
 * A plain decimal such as 0.5; strtod() would also take blanks, hex, "inf" and the locale's comma.
 */
static bool read_decimal(const char *s, const char **end, double *v)
{
	const char *p = s;
	double scale = 1;

	*v = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		*v = *v * 10 + (*p - '0');
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			*v += (*p - '0') * (scale /= 10);
	*end = p;
	return p - s > 1 || (p != s && *s != '.');
}

bool opt_read_hz(const char *value, double *hz)
{
	const char *end;
	double v;

	if (!read_decimal(value, &end, &v) || *end || v < 0.001 || v > 100000)
		return false;
	*hz = v;
	return true;
}

int opt_hz(const struct opt *o, const char *value, void *dst)
{
	return opt_read_hz(value, dst) ? 0
				       : bad_value(o, value, "a frequency from 0.001 to 100000");
}

bool opt_read_duration(const char *value, uint64_t *duration_ns)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "", 1e9 },   { "s", 1e9 },  { "ms", 1e6 },
		{ "us", 1e3 }, { "m", 60e9 }, { "h", 3600e9 },
	};
	const char *end;
	double v;

	if (!read_decimal(value, &end, &v))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double ns = v * units[i].ns + 0.5;

		/* At most 100 years: more would overflow later arithmetic. */
		if (strcmp(end, units[i].name) || ns < 1 || ns > 100 * 365.25 * 86400e9)
			continue;
		*duration_ns = (uint64_t)ns;
		return true;
	}
	return false;
}

int opt_duration(const struct opt *o, const char *value, void *dst)
{
	return opt_read_duration(value, dst)
		       ? 0
		       : bad_value(o, value, "a duration such as 10, 1.5s, 200ms, 5m or 1h");
}

bool opt_read_size(const char *value, uint64_t *size)
{
	static const struct { const char *name; uint64_t bytes; } units[] = {
		{ "", 1 }, { "K", 1000 }, { "M", 1000000 }, { "G", 1000000000 },
	};
	const char *end;
	double v;

	if (!read_decimal(value, &end, &v))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double bytes = v * (double)units[i].bytes;

		if (strcmp(end, units[i].name) || bytes < 1 || bytes > 1e15)
			continue;
		*size = (uint64_t)bytes;
		return true;
	}
	return false;
}

int opt_size(const struct opt *o, const char *value, void *dst)
{
	return opt_read_size(value, dst) ? 0
					 : bad_value(o, value, "a size such as 500K, 10M or 1G");
}

static int add_range(struct id_list *l, uint64_t first, uint64_t last)
{
	if (last - first >= IDS_MAX - l->nr ||
	    array_reserve(&l->v, &l->cap, l->nr + last - first + 1))
		return -ENOMEM;
	for (uint64_t id = first; id <= last; id++)
		l->v[l->nr++] = (uint32_t)id;
	return 0;
}

int opt_id_list(const struct opt *o, const char *value, void *dst)
{
	struct id_list *l = dst;
	const char *p = value;

	for (;; p++) {
		uint64_t first, last;

		if (!read_u64(p, &p, &first))
			break;
		last = first;
		if (*p == '-' && !read_u64(p + 1, &p, &last))
			break;
		if (last < first || last > UINT32_MAX || (*p && *p != ','))
			break;
		if (add_range(l, first, last))
			return fail_why(-EINVAL, "--%s: '%s' names too many", o->name, value);
		if (!*p)
			return 0;
	}
	return bad_value(o, value, "a list such as 1,2,10-12");
}

bool id_list_has(const struct id_list *l, uint32_t id)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i] == id)
			return true;
	return false;
}

/* Nothing is sent to anybody without this option, whatever the environment says. */
int opt_servers(const struct opt *o, const char *value, void *dst)
{
	const char *urls = value ? value : getenv("DEBUGINFOD_URLS");

	if (!urls || !*urls)
		return fail_why(-EINVAL,
				"--%s: which server? Try: --%s=https://debuginfod.debian.net, "
				"or set DEBUGINFOD_URLS",
				o->name, o->name);
	*(const char **)dst = urls;
	return 0;
}
