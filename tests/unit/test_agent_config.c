/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of the agent: what is understood, and where mistakes are said to be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/agent/agent_config.h"
#include "src/base/clock.h"

static struct agent_config c;
static struct agent_mistakes m;

static int parse(const char *text)
{
	agent_config_release(&c);
	return agent_config_parse(text, strlen(text), &c, &m);
}

static int teardown(void **state)
{
	(void)state;
	agent_config_release(&c);
	return 0;
}

static void test_nothing_said_is_the_usual(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	assert_true(c.freq_hz == 97 && c.scan_hz == 1 && c.budget == 0.01);
	assert_true(c.window_ns == 15000000000ull && c.keep_ns == 86400000000000ull);
	assert_true(c.limit_bytes == 1000000000 && !c.off_cpu && !c.nr_targets);
	assert_string_equal(c.folder, "/var/lib/probee");
	assert_string_equal(c.listen, "");
	assert_string_equal(c.options, "");
}

static void test_all_keys(void **state)
{
	(void)state;
	assert_int_equal(parse("# a comment\n"
			       "\t; another one\r\n"
			       "[record]\n"
			       "frequency=49.5\n"
			       " snapshots = no \n"
			       "window = 1m\noff-cpu = yes\noptions = --cmdline --no-inline\n"
			       "budget = 0.5%\n"
			       "\n[spool]\nfolder = /x y\nlimit = 20M\nkeep = no\n"
			       "[metrics]\nlisten = [::1]:9000\n"
			       "[target a-1]\nurl = https://h:1/p?q=#x\nprotocol = otlp\n"
			       "service = all\nbearer-file = /t\nheader = A=b: c\nheader = B==\n"
			       "label = k=v=w\ndelivery = at-most-once\nbatch = 5m\nthreads = id\n"
			       "[target b]\nurl = http://h"), 0);
	assert_true(c.freq_hz == 49.5 && c.scan_hz == 0 && c.budget == 0.005 && c.off_cpu);
	assert_true(c.window_ns == 60000000000ull && c.keep_ns == 0 && c.limit_bytes == 20000000);
	assert_string_equal(c.options, "--cmdline --no-inline");
	assert_string_equal(c.folder, "/x y");
	assert_string_equal(c.listen, "[::1]:9000");
	assert_int_equal(c.nr_targets, 2);
	assert_string_equal(c.targets[0].name, "a-1");
	assert_string_equal(c.targets[0].url, "https://h:1/p?q=#x");
	assert_string_equal(c.targets[0].protocol, "otlp");
	assert_int_equal(c.targets[0].headers.nr, 2);
	assert_string_equal(c.targets[0].headers.v[0], "A=b: c");
	assert_string_equal(c.targets[0].headers.v[1], "B==");
	assert_string_equal(c.targets[0].labels.v[0], "k=v=w");
	assert_true(c.targets[0].is_at_most_once && !c.targets[1].is_at_most_once);
	assert_true(c.targets[0].batch_ns == 300 * NSEC_PER_SEC);
	assert_true(c.targets[1].batch_ns == 120 * NSEC_PER_SEC);
	assert_string_equal(c.targets[0].threads, "id");
	assert_string_equal(c.targets[1].threads, "name");
	assert_string_equal(c.targets[1].url, "http://h");
	assert_string_equal(c.targets[1].protocol, "");
}

/* The only mistake of a text, its place, and a part of what is said. */
static void wrong(const char *text, unsigned line, unsigned column, const char *says)
{
	assert_int_equal(parse(text), -EINVAL);
	assert_int_equal(m.nr, 1);
	assert_int_equal(m.v[0].line, line);
	assert_int_equal(m.v[0].column, column);
	if (!strstr(m.v[0].text, says))
		fail_msg("'%s' does not say '%s'", m.v[0].text, says);
}

static void test_mistakes_have_their_place(void **state)
{
	(void)state;
	wrong("[record]\nfrequency = 0x\n", 2, 13, "Allowed: 0.1 to 1000");
	wrong("[record]\nfrequency = 1001\n", 2, 13, "1001");
	wrong("[record]\n  frequensy = 1\n", 2, 3, "Allowed: frequency");
	wrong("[record]\nzzzzzzzzzz = 1\n", 2, 1, "frequency, snapshots, window");
	wrong("[target t]\nurl = a://b\nbatch = 31m\n", 3, 9, "1s to 30m");
	wrong("[target t]\nurl = a://b\nthreads = all\n", 3, 11, "id, name or none");
	wrong("[record]\nfrequency\n", 2, 1, "KEY = VALUE");
	wrong("[record]\nfrequency =\n", 2, 12, "no value");
	wrong("[record]\n= 1\n", 2, 1, "KEY = VALUE");
	wrong("[record]\nwindow = 15s\nwindow = 15s\n", 3, 1, "second time");
	wrong("frequency = 97\n", 1, 1, "before the first section");
	wrong("[recorder]\nfrequency = 1\n", 1, 2, "no section");
	wrong("[record\n", 1, 1, "[NAME]");
	wrong("[record] x\n", 1, 9, "[NAME]");
	wrong("[spool]\n[record]\n[spool]\n", 3, 2, "second time");
	wrong("[target]\nurl = http://h\n", 1, 2, "no section");
	wrong("[target a]\n", 1, 1, "no url");
	wrong("[target a b]\nurl = http://h\n", 1, 9, "no name");
	wrong("[target a]\nurl = http://h\n[target a]\nurl = http://i\n", 3, 9, "first in line 1");
	wrong("[target a]\nurl = h:4040\n", 2, 7, "http://HOST:PORT");
	wrong("[target a]\nurl = http://h\nheader = x\n", 3, 10, "NAME=VALUE");
	wrong("[target a]\nurl = http://h\nfrequency = 97\n", 3, 1, "no key of [target]");
	wrong("[record]\nbudget = 1\n", 2, 10, "0.1% to 100%");
	wrong("[record]\noptions = a\001b\n", 2, 12, "0x01");
	wrong("[spool]\nfolder = tmp\n", 2, 10, "begins with /");
	wrong("[spool]\nlimit = 1K\n", 2, 9, "1M or more");
}

static void test_octets_of_zero_are_seen(void **state)
{
	static const char text[] = "[record]\nbudget = 1%\0\n";

	(void)state;
	agent_config_release(&c);
	assert_int_equal(agent_config_parse(text, sizeof(text) - 1, &c, &m), -EINVAL);
	assert_int_equal(m.v[0].line, 2);
	assert_int_equal(m.v[0].column, 12);
}

/* All mistakes are counted, also those that are not kept. */
static void test_many_mistakes(void **state)
{
	char text[4096];
	size_t n = (size_t)snprintf(text, sizeof(text), "[record]\n");

	(void)state;
	for (int i = 0; i < 50; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "x%d = 1\n", i);
	assert_int_equal(parse(text), -EINVAL);
	assert_int_equal(m.nr, 50);
	assert_int_equal(m.v[AGENT_MISTAKES - 1].line, AGENT_MISTAKES + 1);
}

static void test_too_many_targets(void **state)
{
	char text[4096];
	size_t n = 0;

	(void)state;
	for (int i = 0; i <= AGENT_TARGETS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "[target t%d]\nurl = a://b\n", i);
	assert_int_equal(parse(text), -EINVAL);
	assert_int_equal(m.nr, 1);
	assert_int_equal(m.v[0].line, 2 * AGENT_TARGETS + 1);
}

/* What --example prints is a configuration, with the usual values. */
static void test_the_example_is_right(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	agent_keys_example(out);
	fclose(out);
	assert_int_equal(parse(text), 0);
	assert_true(c.freq_hz == 97 && c.keep_ns == 86400000000000ull && !c.nr_targets);
	for (const struct agent_key *k = agent_keys; k->name; k++)
		assert_non_null(strstr(text, k->name));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_said_is_the_usual),
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_mistakes_have_their_place),
		cmocka_unit_test(test_octets_of_zero_are_seen),
		cmocka_unit_test(test_many_mistakes),
		cmocka_unit_test(test_too_many_targets),
		cmocka_unit_test(test_the_example_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
