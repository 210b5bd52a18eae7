/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/push/push_resource.h"
#include "tests/unit/events_fixture.h"
#include "tests/unit/push_bodies.h"

static const struct push_encode_opts push = { .protocol = PUSH_PYROSCOPE };
static const struct push_encode_opts ingest = { .protocol = PUSH_INGEST };

static int emit_fixture(struct trace_writer *w)
{
	return trace_fixture_emit(trace_writer_record, w);
}

static int emit_two(struct trace_writer *w)
{
	int err = events_emit(w);

	if (!err)
		err = trace_writer_begin_segment(w);
	return err ? err : events_emit_more(w);
}

static void push_has_labels_stacks_and_sums(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_fixture, &push);
	assert_int_equal(e.err, 0);
	assert_int_equal(e.bodies, 1);
	assert_int_equal(e.samples, FIX_SAMPLES);
	assert_int_equal(e.lost, FIX_LOST);
	python_says(&e,
		"by={(p.resource['service_name'],p.resource['__name__']):p for p in profiles}\n"
		"assert sorted(by)==[('kernel','wall'),('probee','probee_lost'),('server','process_cpu'),('server','wall')],by\n"
		"cpu=by['server','process_cpu']\n"
		"assert cpu.types==[('samples','count'),('cpu','nanoseconds')] and cpu.period_type==('cpu','nanoseconds')\n"
		"assert cpu.period==10101010 and cpu.total(0)==5 and cpu.total(1)==50505050\n"
		"names=sorted((';'.join(f[0] for f in frames),labels['thread_name'],labels['thread_id'],values) "
		"for frames,labels,values in cpu.samples)\n"
		"assert names[3]==('_start;main;handle_request(int);parse_header;hot_loop','server','100',[2,20202020]),names\n"
		"assert len(names)==4\n"
		"f={f[0]:f for frames,_,_ in cpu.samples for f in frames}\n"
		"assert f['handle_request(int)'][:4]==('handle_request(int)','_Z14handle_requesti','src/server.cc',33)\n"
		"assert f['handle_request(int)'][7:]==('/usr/bin/server','deadbeef05060708090a0b0c0d0e0f1011121314',0x1340)\n"
		"w=by['server','wall']\n"
		"assert w.types==[('wall','count')] and w.total()==2\n"
		"lost=by['probee','probee_lost']\n"
		"assert lost.types==[('lost','count')] and lost.total()==9\n"
		"assert by['server','wall'].resource=={'__name__':'wall','service_name':'server','host_name':'fixture',"
		"'host_arch':'amd64','os_type':'linux','process_pid':'100','process_title':'server',"
		"'process_executable_name':'server','process_executable_path':'/usr/bin/server',"
		"'process_linux_cgroup':'/system.slice/server.service'},by['server','wall'].resource\n"
		"import uuid\n"
		"assert all(uuid.UUID(p.id).version==8 for p in profiles) and len({p.id for p in profiles})==4\n"
		"assert {(p.time,p.duration) for p in profiles}=={(1790000000000000000,60000001)}\n");
	encoded_release(&e);
}

static void push_sums_every_event(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_two, &push);
	assert_int_equal(e.err, 0);
	python_says(&e,
		"sums=collections.Counter()\n"
		"for p in profiles:\n"
		"  for i,t in enumerate(p.types): sums[p.resource['__name__'],t]+=p.total(i)\n"
		"ns,c=('nanoseconds'),('samples','count')\n"
		"want={('process_cpu',c):5,('process_cpu',('cpu',ns)):4*10101010+20408163,"
		"('page_faults',c):3,('page_faults',('page_faults','count')):360,"
		"('alloc',c):2,('alloc',('alloc','bytes')):4000000,"
		"('wall',c):3,('wall',('wall',ns)):3000000000,"
		"('cycles',c):1,('cycles',('cycles','cycles')):1200000000}\n"
		"assert sums==want,sums\n");
	encoded_release(&e);
}

/* The name that the receiver would give a profile, by the rules that push_pyroscope.c states. */
#define RECEIVER_NAME \
	"def name(p):\n" \
	"  types=[t for t,_ in p.types]\n" \
	"  if 'wall' in types: return 'wall'\n" \
	"  config=p.config or {'samples':{'display-name':'cpu'},'contentions':{'display-name':'mutex_count'}}\n" \
	"  for t in types:\n" \
	"    t=config.get(t,{}).get('display-name') or t\n" \
	"    if 'cpu' in t: return 'process_cpu'\n" \
	"    if 'alloc_' in t or 'inuse_' in t or t in ('space','objects'): return 'memory'\n" \
	"    for word,n in (('mutex_','mutex'),('block_','block'),('goroutines','goroutines')):\n" \
	"      if word in t: return n\n" \
	"  return t\n"

static void ingest_is_found_under_its_name(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_two, &ingest);
	assert_int_equal(e.err, 0);
	assert_true(e.bodies > 5);
	python_says(&e, RECEIVER_NAME
		"sums=collections.Counter()\n"
		"for p in profiles:\n"
		"  sums[name(p),p.types[-1]]+=p.total()\n"
		"  assert p.body['profiles']==1\n"
		"  assert not any('-' in t for t,_ in p.types)\n"
		"  assert p.query['spyName']=='probee'\n"
		"  assert int(p.query['from'])==p.time and int(p.query['until'])==p.time+p.duration\n"
		"  assert p.name==p.resource['service_name'] in ('appcpp','kernel')\n"
		"ns='nanoseconds'\n"
		"want={('process_cpu',('cpu',ns)):4*10101010+20408163,('page_faults',('page_faults','count')):360,"
		"('alloc',('alloc','bytes')):4000000,('wall',('wall',ns)):3000000000,('cycles',('cycles','cycles')):1200000000}\n"
		"assert sums==want,sums\n");
	encoded_release(&e);
}

/* ---- events whose names are words of the receiver's ---- */

static const char *const odd_names[] = {
	"off-cpu", "off:cpu", "cpu-migrations", "block_rq", "mutex_lock", "alloc_pages", "inuse_x", "space", "goroutines",
	"", "process_cpu", "wall", "a b;c", "task-clock", "cpu-clock",
};
enum { ODD = sizeof(odd_names) / sizeof(odd_names[0]) };

static int emit_odd(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = fixture_emit_facts(fn, ctx);

	err = err ? err : fixture_emit_tasks(fn, ctx);
	err = err ? err : fixture_emit_stacks(fn, ctx);
	for (uint32_t i = 0; i < ODD; i++) {
		bool is_clock = strstr(odd_names[i], "-clock");

		FIX_SEND(STRING, string, { FIX_STRINGS + i, odd_names[i], strlen(odd_names[i]) });
		FIX_SEND(EVENT, event, { .id = 10 + i, .name = FIX_STRINGS + i, .unit = FIX_S_NS,
					 .kind = is_clock ? EVENT_CPU_CLOCK : i ? EVENT_TRACEPOINT : EVENT_SCHED });
		FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + i * FIX_MS, .event = 10 + i, .thread = FIX_T_SERVER, .ustack = 4,
					   .weight = 1000 + i, .state = i ? TASK_RUNNING : TASK_DISK, .end = END_ROOT });
	}
	return err;
}

static void odd_names_stay_apart(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_odd, &ingest);
	assert_int_equal(e.err, 0);
	assert_int_equal(e.bodies, ODD);
	python_says(&e, RECEIVER_NAME
		"names=[name(p) for p in profiles]\n"
		"assert len(set(names))==15,names\n"
		"assert names.count('process_cpu')==1 and [p.total() for p in profiles if name(p)=='process_cpu']==[1013],names\n"
		"assert not any(c in n for n in names for c in '-: ;'),names\n"
		"assert [p.types for p in profiles if name(p)=='off_processor']==[[('samples','count'),('off_cpu','nanoseconds')]],names\n");
	encoded_release(&e);
	encode(&e, emit_odd, &push);
	python_says(&e,
		"by={p.resource['__name__']:p for p in profiles}\n"
		"assert len(by)==15 and by['off_cpu'].period_type==('',''),sorted(by)\n"
		"assert by['off_cpu'].samples[0][1]['thread_state']=='waiting for a disk or file server (D)'\n"
		"assert by['process_cpu'].total()==1013 and by['cpu_clock'].total()==1014\n"
		"assert all(p.period>=1 for n,p in by.items() if n!='off_cpu')\n");
	encoded_release(&e);
}

/* ---- limits ---- */

static int emit_long_names(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = fixture_emit_facts(fn, ctx);

	err = err ? err : fixture_emit_tasks(fn, ctx);
	err = err ? err : fixture_emit_stacks(fn, ctx);
	for (uint32_t i = 0; i < 400; i++) {
		char name[900];
		int len = snprintf(name, sizeof(name), "f%0800u", i);

		FIX_SEND(STRING, string, { FIX_STRINGS + i, name, (size_t)len });
		FIX_SEND(FRAME, frame, { .id = 100 + i, .kind = FRAME_USER, .addr = 0x10000 + i });
		FIX_SEND(NODE, node, { 100 + i, 2, 100 + i });
		FIX_SEND(FUNC, func, { .id = 100 + i, .name = FIX_STRINGS + i });
		FIX_SEND(SYMBOL, symbol, { .frame = 100 + i, .lines = &(struct rec_line){ 100 + i, 0, 0, 0 }, .nr_lines = 1 });
		FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + i * FIX_MS, .event = FIX_E_CPU, .thread = FIX_T_SERVER,
					   .ustack = 100 + i, .weight = FIX_PERIOD, .end = END_ROOT });
	}
	return err;
}

static void limits_are_kept_by_splitting(void **state)
{
	struct push_encode_opts opts = { .protocol = PUSH_PYROSCOPE, .max_profile_bytes = 20000, .max_body_bytes = 60000 };
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_long_names, &opts);
	assert_int_equal(e.err, 0);
	assert_true(e.largest <= 60000);
	python_says(&e,
		"assert max(p.size for p in profiles)<=20000 and len(profiles)>=400*800/20000\n"
		"assert sum(p.total(0) for p in profiles)==400 and sum(p.total(1) for p in profiles)==400*10101010\n"
		"assert len({p.id for p in profiles})==len(profiles)\n");
	encoded_release(&e);
	opts = (struct push_encode_opts){ .protocol = PUSH_INGEST, .max_samples = 150 };
	encode(&e, emit_long_names, &opts);
	assert_int_equal(e.bodies, 3);
	assert_int_equal(e.counts.split, 2);
	python_says(&e, "assert [len(p.samples) for p in profiles]==[150,150,100]\n");
	encoded_release(&e);
}

static void equal_input_gives_equal_bodies(void **state)
{
	struct encoded a = { .end_at = 0 }, b = { .end_at = 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		encode(&a, emit_two, i ? &push : &ingest);
		encode(&b, emit_two, i ? &push : &ingest);
		assert_true(a.bodies > 0);
		assert_true(encoded_equal(&a, &b));
		encoded_release(&a);
		encoded_release(&b);
	}
}

/* ---- services ---- */

static const char *service_of(const char *cgroup)
{
	static char name[300];

	return push_cgroup_service(cgroup, strlen(cgroup), name, sizeof(name)) ? name : NULL;
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void cgroups_name_services(void **state)
{
	char id[65];

	(void)state;
	assert_string_equal(service_of("/system.slice/nginx.service"), "nginx");
	assert_string_equal(service_of("/system.slice/system-getty.slice/getty@tty1.service"), "getty@tty1");
	assert_string_equal(service_of("/user.slice/user-0.slice/user@0.service/app.slice/x.service/init.scope"), "x");
	assert_string_equal(service_of("/system.slice/docker-" ID ".scope"), "container-0123456789ab");
	assert_string_equal(service_of("/system.slice/docker.service/" ID), "container-0123456789ab");
	assert_string_equal(service_of("/kubepods.slice/cri-containerd-" ID ".scope/sub"), "container-0123456789ab");
	assert_null(service_of(""));
	assert_null(service_of("/"));
	assert_null(service_of("/user.slice/session-3.scope"));
	assert_null(service_of("/.service"));
	assert_true(push_cgroup_container("/docker/" ID, 72, id));
	assert_string_equal(id, ID);
	assert_false(push_cgroup_container("/docker/" ID "0", 73, id));
	assert_false(push_cgroup_container("/docker/x" ID, 73, id));
	assert_false(push_cgroup_container(ID, 63, id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(push_has_labels_stacks_and_sums),
		cmocka_unit_test(push_sums_every_event),
		cmocka_unit_test(ingest_is_found_under_its_name),
		cmocka_unit_test(odd_names_stay_apart),
		cmocka_unit_test(limits_are_kept_by_splitting),
		cmocka_unit_test(equal_input_gives_equal_bodies),
		cmocka_unit_test(cgroups_name_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
