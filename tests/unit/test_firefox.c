/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_firefox;

static const struct render_opts plain;

/* Runs python3 on the JSON, in j; S: its strings; stack(i): functions of a stack, the innermost last. */
#define PYTHON(statements, json) \
	assert_true(is_liked_by("python3", "python3 -c \"import json,sys\nj=json.load(sys.stdin)\n" \
				"h=j['shared']; S=h['stringArray']\n" \
				"def stack(i):\n" \
				"  if i is None: return ''\n" \
				"  f=h['frameTable']['func'][h['stackTable']['frame'][i]]\n" \
				"  p=h['stackTable']['prefix'][i]\n" \
				"  return (stack(p)+';' if p is not None else '')+S[h['funcTable']['name'][f]]\n" \
				"def category(i):\n" \
				"  return j['meta']['categories'][h['frameTable']['category'][h['stackTable']['frame'][i]]]['name']\n" \
				statements "\" >&2", json))

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_firefox, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.firefox.json");
	assert_true(renderer_firefox.made(got));
	free(got);
}

/* Every column has the length that its table says, and no cell points outside the table that it is about. */
static void tables_fit_together(void **state)
{
	char *got = fixture_render(&renderer_firefox, &plain, NULL);

	(void)state;
	PYTHON("tables=[v for v in h.values() if isinstance(v,dict)]\n"
	       "for t in j['threads']: tables+=[t['samples'],t['markers']]\n"
	       "for t in tables:\n"
	       "  for k,v in t.items(): assert not isinstance(v,list) or len(v)==t['length'],(k,t)\n"
	       "def inside(column,nr): assert all(v is None or -1<=v<nr for v in column),column\n"
	       "n=lambda t: h[t]['length']\n"
	       "inside(h['stackTable']['frame'],n('frameTable')); inside(h['frameTable']['func'],n('funcTable'))\n"
	       "inside(h['funcTable']['name'],len(S)); inside(h['funcTable']['resource'],n('resourceTable'))\n"
	       "inside(h['funcTable']['source'],n('sources')); inside(h['resourceTable']['lib'],len(j['libs']))\n"
	       "inside(h['resourceTable']['name'],len(S)); inside(h['sources']['filename'],len(S))\n"
	       "assert all(p is None or p<i for i,p in enumerate(h['stackTable']['prefix']))\n"
	       "inside(h['frameTable']['category'],len(j['meta']['categories']))\n"
	       "for t in j['threads']: inside(t['samples']['stack'],n('stackTable'))", got);
	free(got);
}

/* 101 runs from 10.9 to 21 ms in the kernel, then to 31 ms in other code; the axis begins at -0.1 ms. */
static void a_sample_is_drawn_over_the_time_that_it_stands_for(void **state)
{
	char *got = fixture_render(&renderer_firefox, &plain, NULL);

	(void)state;
	PYTHON("w=j['threads'][1]; s=w['samples']\n"
	       "assert (w['name'],w['processName'],w['pid'],w['isMainThread'])==('worker','server','100',False),w\n"
	       "assert s['time']==[11,21.10101,31.10101,31.10101],s\n"
	       "assert s['weight']==[10.10101,10.10101,0,0] and s['weightType']=='tracing-ms',s\n"
	       "assert s['threadCPUDelta']==[0,10101010,10101010,0],s\n"
	       "assert [stack(i).split(';')[-1] for i in s['stack']]==['schedule','[unknown]','[unknown]',''],s\n"
	       "assert [category(i) for i in s['stack'][:2]]==['Kernel','User']\n"
	       "assert j['meta']['interval']==10.10101 and j['meta']['startTime']==1789999999999.89899,j['meta']\n"
	       "assert round(1e6*sum(w for t in j['threads'] for w in t['samples']['weight']))==50505050", got);
	free(got);
}

/* The states of the threads that have samples, and what was lost. */
static void what_snapshots_saw_and_losses_are_there(void **state)
{
	char *got = fixture_render(&renderer_firefox, &plain, NULL);

	(void)state;
	PYTHON("m=j['threads'][0]['markers']\n"
	       "assert [S[n] for n in m['name']]==['waiting for a lock or another thread (futex)'],m\n"
	       "assert m['data'][0]['type']==j['meta']['markerSchema'][0]['name'] and m['startTime']==[40.10101],m\n"
	       "x={e['label']:e['value'] for e in j['meta']['extra'][0]['entries']}\n"
	       "assert x['Lost samples']=='9' and 'ring-full 7' in x['Warning'],x\n"
	       "l=[l for l in j['libs'] if l['name']=='server'][0]\n"
	       "assert l['codeId']=='deadbeef05060708090a0b0c0d0e0f1011121314',l\n"
	       "assert l['breakpadId']=='EFBEADDE06050807090A0B0C0D0E0F100',l", got);
	free(got);
}

static void a_thread_that_waits_is_in_no_code(void **state)
{
	char *got = fixture_render_wall(&renderer_firefox, &plain, NULL);

	(void)state;
	PYTHON("c=[category(i) for t in j['threads'] for i in t['samples']['stack'] if i is not None]\n"
	       "assert sorted(set(c))==['Other','idle kernel thread','waiting for a lock or another thread (futex)'],c\n"
	       "assert sum(w for t in j['threads'] for w in t['samples']['weight'])==3", got);
	free(got);
}

static void hostile_names_stay_strings_that_show(void **state)
{
	char *got = fixture_render(&renderer_firefox, &plain, hostile_names);

	(void)state;
	check_is_harmless(got);
	assert_null(strstr(got, "</script"));
	PYTHON("assert sum(s.startswith('</script>'+chr(92)+'x1b[31m'+chr(92)+'x00'+chr(92)+'x0a;|') for s in S)==1,S\n"
	       "assert j['libs'][0]['path'].endswith('xff'+chr(92)+'xc3'),j['libs']\n"
	       "assert all(ord(c)>=32 for s in S for c in s)", got);
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_file),
		cmocka_unit_test(tables_fit_together),
		cmocka_unit_test(a_sample_is_drawn_over_the_time_that_it_stands_for),
		cmocka_unit_test(what_snapshots_saw_and_losses_are_there),
		cmocka_unit_test(a_thread_that_waits_is_in_no_code),
		cmocka_unit_test(hostile_names_stay_strings_that_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
