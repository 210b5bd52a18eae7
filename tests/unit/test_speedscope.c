/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_speedscope;

static const struct render_opts plain;

/* Runs python3 on the JSON, in j; drawn(i): (function names, weight) of profile i. */
#define PYTHON(statements, json) \
	assert_true(is_liked_by("python3", "python3 -c \"import json,sys\nj=json.load(sys.stdin)\n" \
				"def drawn(i):\n" \
				"  p=j['profiles'][i]; assert len(p['samples'])==len(p['weights'])\n" \
				"  return [(';'.join(j['shared']['frames'][f]['name'] for f in s),w) " \
				"for s,w in zip(p['samples'],p['weights'])]\n" \
				statements "\" >&2", json))

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_speedscope, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.speedscope.json");
	assert_true(renderer_speedscope.made(got));
	free(got);
}

/* 101 is first seen at 21 ms, when 10.1 ms of it had passed; all axes begin 10.1 ms before 10 ms. */
static void time_without_samples_is_a_gap(void **state)
{
	char *got = fixture_render(&renderer_speedscope, &plain, NULL);

	(void)state;
	PYTHON("assert [p['name'] for p in j['profiles']]==['server (100)','server (100): worker (101)']\n"
	       "assert drawn(0)==[('_start;main;handle_request(int);parse_header;hot_loop',20202020),"
	       "('_start;main;handle_request(int);parse_header;[server+0x7700]',10101010)],drawn(0)\n"
	       "assert [w for n,w in drawn(1)]==[11000000,10101010,10101010] and not drawn(1)[0][0],drawn(1)\n"
	       "assert j['profiles'][0]['unit']=='nanoseconds'\n"
	       "assert j['name'].endswith('; 9 samples lost (ring-full 7, throttled 2)')", got);
	free(got);
}

/* Snapshots of the fixture count threads: no time, so no gaps. */
static void counts_have_no_gaps(void **state)
{
	char *got = fixture_render_wall(&renderer_speedscope, &plain, NULL);

	(void)state;
	PYTHON("assert {p['unit'] for p in j['profiles']}=={'none'}\n"
	       "assert sum(w for i in range(3) for n,w in drawn(i))==3\n"
	       "assert all(n for i in range(3) for n,w in drawn(i))\n"
	       "assert ['kworker/0:1 (7)']==[p['name'] for p in j['profiles'] if 'kworker' in p['name']]", got);
	free(got);
}

static void hostile_names_stay_strings_that_show(void **state)
{
	char *got = fixture_render(&renderer_speedscope, &plain, hostile_names);

	(void)state;
	check_is_harmless(got);
	assert_null(strstr(got, "</script"));
	PYTHON("s=[f['name'] for f in j['shared']['frames']]\n"
	       "assert any(n.startswith('</script>'+chr(92)+'x1b[31m') for n in s),s\n"
	       "assert all(ord(c)>=32 for n in s for c in n)", got);
	free(got);
}

static void says_by_its_name_what_it_is(void **state)
{
	(void)state;
	assert_ptr_equal(renderer_of_file("a/b.speedscope.json"), &renderer_speedscope);
	assert_ptr_equal(renderer_of_file("x.y.speedscope.json"), &renderer_speedscope);
	assert_ptr_equal(renderer_of_file("speedscope.json"), renderer_find("json"));
	assert_ptr_equal(renderer_of_file("a.speedscope/b.json"), renderer_find("json"));
	assert_null(renderer_of_file("a.svg/"));
	assert_null(renderer_of_file(".svg"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_file),
		cmocka_unit_test(time_without_samples_is_a_gap),
		cmocka_unit_test(counts_have_no_gaps),
		cmocka_unit_test(hostile_names_stay_strings_that_show),
		cmocka_unit_test(says_by_its_name_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
