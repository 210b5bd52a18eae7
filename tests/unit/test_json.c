/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"
#include "tests/unit/tree.h"

extern const struct renderer renderer_json;

static const struct render_opts plain;

static char *render(const struct profile *p, const struct render_opts *opts)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(renderer_json.render(p, opts, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Runs python3 on the JSON, in j; its statements assert. */
#define PYTHON(statements, json) \
	assert_true(is_liked_by("python3", "python3 -c \"import json,sys\nj=json.load(sys.stdin)\n" \
				statements "\" >&2", json))

static bool has(const char *json, const char *part)
{
	return strstr(json, part) != NULL;
}

static void values_are_those_of_subtrees(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	tree_add(&p, "app_[s];main;work 3");
	tree_add(&p, "app_[s];main;read_[k] 2");
	tree_add(&p, "app_[s];main 1");
	got = render(&p, &plain);
	PYTHON("m=j['children'][0]['children'][0]\n"
	       "assert (j['name'],j['value'])==('all',6)\n"
	       "assert (m['name'],m['value'],m['self'])==('main',6,1)\n"
	       "assert [(c['name'],c['value'],c['libtype']) for c in m['children']]=="
	       "[('read',2,'kernel'),('work',3,'user')]\n"
	       "assert not any('children' in c for c in m['children'])", got);
	free(got);
	tree_release(&p);
}

/* value is weight in probee.unit; samples stand beside it. */
static void weights_and_samples_are_both_there(void **state)
{
	struct profile p;
	uint32_t n;
	char *got;

	(void)state;
	tree_init(&p);
	n = tree_add(&p, "app_[s];work 3000");
	p.nodes[n].self_samples = 3;
	p.facts.unit = "count";
	p.facts.event = "page-faults";
	p.facts.samples = 3;
	got = render(&p, &plain);
	PYTHON("w=j['children'][0]['children'][0]\nf=j['probee']\n"
	       "assert (w['value'],w['self'],w['self_samples'])==(3000,3000,3),w\n"
	       "assert (f['event'],f['unit'],f['weight'],f['samples'])==('page-faults','count',3000,3),f", got);
	free(got);
	tree_release(&p);
}

static void tells_what_a_node_is(void **state)
{
	struct profile p;
	uint32_t n;
	char *got;

	(void)state;
	tree_init(&p);
	n = tree_add(&p, "t_[s];i_[i];j_[j];n_[n];b_[b];u_[g] @dir/x.c:12 1");
	p.nodes[n].binary = tree_name(&p, "/bin/app", 8);
	p.nodes[n].flags |= NODE_INTERPRETED | NODE_OPTIMIZED;
	got = render(&p, &plain);
	PYTHON("k=[]\nassert 'tiers' not in j\n"
	       "while 'children' in j:\n"
	       "  j=j['children'][0]; k.append((j['name'],j['kind'],j.get('libtype')))\n"
	       "assert k==[('t','synthetic',None),('i','user','inlined'),('j','jit','jit'),('n','interpreted','jit'),('b','bpf','kernel'),"
	       "('u','user','user')],k\n"
	       "assert (j['file'],j['line'],j['binary'],j['guessed'])==('dir/x.c',12,'/bin/app',True)\n"
	       "assert j['tiers']==['interpreted','optimized'],j", got);
	free(got);
	tree_release(&p);
}

/* A chain of calls f0 f1 f2 ... with a sample in the last one. */
static void add_chain(struct profile *p, int depth)
{
	uint32_t n = 0;
	char name[16];

	for (int i = 0; i < depth; i++)
		n = tree_child(p, n, name, (size_t)snprintf(name, sizeof(name), "f%d", i));
	tree_weigh(p, n, 1);
}

#define COUNT_DEPTH "n=[]\nwhile 'children' in j:\n  j=j['children'][0]; n.append(j['name'])\n"

static void folds_what_readers_would_refuse(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	add_chain(&p, 600);
	tree_add(&p, "f0;f1 5");
	got = render(&p, &plain);
	PYTHON("assert j['value']==6\n" COUNT_DEPTH
	       "assert len(n)==80 and n[0]=='f0' and n[-1]=='f599',n\n"
	       "assert n[-2]=='...%d frames'%(600-len(n)+1),n", got);
	assert_true(is_liked_by("jq", "jq . >/dev/null", got));
	free(got);
	tree_release(&p);
}

static void keeps_what_fits(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	add_chain(&p, 80);
	got = render(&p, &plain);
	PYTHON(COUNT_DEPTH "assert n==['f%d'%i for i in range(80)],n", got);
	assert_true(is_liked_by("jq", "jq . >/dev/null", got));
	free(got);
	tree_release(&p);
}

static void writes_everything_when_told(void **state)
{
	const struct render_opts deep = { .deep = true };
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	add_chain(&p, 3000);
	got = render(&p, &deep);
	assert_true(has(got, "\"f2999\""));
	assert_false(has(got, " frames\""));
	free(got);
	tree_release(&p);
}

static void is_valid_without_samples(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	got = render(&p, &plain);
	PYTHON("assert j['name']=='all' and j['value']==0", got);
	free(got);
	tree_release(&p);
}

static void hostile_names_stay_strings(void **state)
{
	char *got = fixture_render(&renderer_json, &plain, hostile_names);

	(void)state;
	check_is_harmless(got);
	assert_false(has(got, "</script"));
	PYTHON("s=json.dumps(j)\nassert (j['value'],j['samples'])==(50505050,5)\n"
	       "assert '</script>\\\\\\\\u001b[31m\\\\\\\\u0000\\\\\\\\n;|' in s", got);
	assert_true(is_liked_by("jq", "jq . >/dev/null", got));
	free(got);
}

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_json, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.json");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_subtrees),
		cmocka_unit_test(weights_and_samples_are_both_there),
		cmocka_unit_test(tells_what_a_node_is),
		cmocka_unit_test(folds_what_readers_would_refuse),
		cmocka_unit_test(keeps_what_fits),
		cmocka_unit_test(writes_everything_when_told),
		cmocka_unit_test(is_valid_without_samples),
		cmocka_unit_test(hostile_names_stay_strings),
		cmocka_unit_test(matches_the_golden_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
