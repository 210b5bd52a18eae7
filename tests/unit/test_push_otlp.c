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

static const struct push_encode_opts plain;
static const struct push_encode_opts with_addresses = { .addresses = true };

/* Of profiles with equal labels and times, Pyroscope keeps one. */
#define TIMES_DIFFER \
	"keys=[(p.time,p.period_type,tuple(sorted(p.resource.items()))) for p in profiles]\n" \
	"assert len(set(keys))==len(keys)\n"

static int emit_fixture(struct trace_writer *w)
{
	return trace_fixture_emit(trace_writer_record, w);
}

static void says_what_the_trace_says(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_fixture, &plain);
	assert_int_equal(e.err, 0);
	assert_int_equal(e.bodies, 1);
	assert_int_equal(e.samples, FIX_SAMPLES);
	assert_int_equal(e.lost, FIX_LOST);
	assert_int_equal(e.counts.samples, FIX_SAMPLES);
	assert_int_equal(e.counts.lost, FIX_LOST);
	python_says(&e,
		"by={(p.resource['service.name'],p.types[0][0]):p for p in profiles}\n"
		"assert sorted(by)==[('kernel','wall'),('probee','lost'),('server','samples'),('server','wall')],by\n"
		"cpu=by['server','samples']\n"
		"assert cpu.types==[('samples','count')] and cpu.period_type==('cpu','nanoseconds') and cpu.period==10101010\n"
		"assert cpu.total()==5\n"
		"names=sorted((';'.join(f[0] for f in frames),labels['thread.name'],values[0]) for frames,labels,values in cpu.samples)\n"
		"assert names==[('[truncated: no-fde];[unknown]','worker',1),"
		"('_start;main;handle_request(int);parse_header;[server+0x7700]','server',1),"
		"('_start;main;handle_request(int);parse_header;entry_SYSCALL_64;do_syscall_64;schedule','worker',1),"
		"('_start;main;handle_request(int);parse_header;hot_loop','server',2)],names\n"
		"assert by['probee','lost'].period_type==('probee_lost','count')\n"
		"assert {f[0][0]:v[0] for f,l,v in by['probee','lost'].samples}=={'[lost: ring-full]':7,'[lost: throttled]':2}\n"
		"w=by['server','wall']\n"
		"assert w.types==[('wall','count')] and w.period_type==('wall','count') and w.total()==2\n"
		"assert {l['thread.id']:l['thread.state'] for f,l,v in w.samples}=="
		"{100:'waiting for a lock or another thread (futex)',101:'running'}\n"
		"assert [l for f,l,v in by['kernel','wall'].samples]=="
		"[{'thread.id':7,'thread.name':'kworker/0:1','thread.state':'idle kernel thread'}]\n"
		"assert len({p.id for p in profiles})==4\n"
		"assert by['server','wall'].resource=={'service.name':'server','host.name':'fixture','host.arch':'amd64',"
		"'os.type':'linux','process.pid':100,'process.title':'server','process.executable.name':'server',"
		"'process.executable.path':'/usr/bin/server','process.linux.cgroup':'/system.slice/server.service'},"
		"by['server','wall'].resource\n");
	encoded_release(&e);
}

static void frames_have_lines_build_ids_and_types(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_fixture, &with_addresses);
	python_says(&e,
		"f={f[0]:f for p in profiles for frames,_,_ in p.samples for f in frames}\n"
		"id='deadbeef05060708090a0b0c0d0e0f1011121314'\n"
		"assert f['handle_request(int)']==('handle_request(int)','_Z14handle_requesti','src/server.cc',33,3,'native',30,"
		"'/usr/bin/server',id,0x1340),f['handle_request(int)']\n"
		"assert f['parse_header'][2:5]==('src/server.cc',55,9) and f['parse_header'][9]==0x1340\n"
		"assert f['schedule'][5:]==('kernel',0,'[kernel.kallsyms]',None,0x3000),f['schedule']\n"
		"assert f['[server+0x7700]'][1:6]==('','',0,0,'native')\n"
		"assert f['[lost: ring-full]'][5:]==(None,0,'',None,0)\n");
	encoded_release(&e);
}

static int emit_macro(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = fixture_emit_facts(fn, ctx);

	err = err ? err : fixture_emit_tasks(fn, ctx);
	err = err ? err : fixture_emit_stacks(fn, ctx);
	FIX_SEND(PLACE, place, { .frame = 1, .nth = 0, .file = FIX_S_FILE, .line = 7, .column = 1 });
	return err ? err : fixture_emit_samples(fn, ctx);
}

/* It would be a line of the function's file. */
static void lines_of_other_files_are_left_out(void **state)
{
	struct push_encode_opts opts = { .protocol = PUSH_OTLP };
	struct encoded e = { .end_at = 0 };

	(void)state;
	for (opts.protocol = 0; opts.protocol < PUSH_PROTOCOLS; opts.protocol++) {
		encode(&e, emit_macro, &opts);
		python_says(&e, "f={f[0]:f for p in profiles for frames,_,_ in p.samples for f in frames}\n"
				"assert f['_start'][3:5]==(0,0) and f['main'][3]==12,f\n");
		encoded_release(&e);
	}
}

/* Of those with a name: the other ones are all that is known of a frame. */
static void addresses_are_left_out(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_fixture, &plain);
	python_says(&e,
		"f={f[0]:f for p in profiles for frames,_,_ in p.samples for f in frames}\n"
		"assert f['handle_request(int)'][9]==0 and f['schedule'][9]==0\n"
		"assert f['[server+0x7700]'][9]==0x7700 and f['[unknown]'][9]==0x7f0000001234\n"
		"assert f['handle_request(int)'][3:5]==(33,3) and f['handle_request(int)'][7]=='/usr/bin/server'\n");
	encoded_release(&e);
}

/* All of the fixture is in the first 60 ms of a window. */
static void time_is_that_of_the_window_as_far_as_recorded(void **state)
{
	struct push_encode_opts opts = { .rebase_ns = -(long long)(25 * FIX_MS) };
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_fixture, &plain);
	python_says(&e, "assert {(p.time,p.duration) for p in profiles}=={(1790000000000000000,60000001)}\n");
	encoded_release(&e);
	/* Now a window ends 25 ms behind its beginning: three samples are before that, two after. */
	encode(&e, emit_fixture, &opts);
	python_says(&e,
		"sums=collections.Counter()\n"
		"for p in profiles: sums[p.types[0][0],p.time,p.duration]+=p.total()\n"
		"a,b=(1789999999975000000,25000000),(1790000000000000000,35000001)\n"
		"assert sums=={('samples',*a):3,('samples',*b):2,('wall',*b):3,('lost',*a):7,('lost',*b):2},sums\n");
	encoded_release(&e);
}

static int emit_two(struct trace_writer *w)
{
	int err = events_emit(w);

	if (!err)
		err = trace_writer_begin_segment(w);
	return err ? err : events_emit_more(w);
}

/* Sums are those of events_fixture.h. Two periods of cpu-clock are two profiles. */
static void every_event_is_a_type(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_two, &plain);
	assert_int_equal(e.err, 0);
	python_says(&e,
		"sums=collections.Counter()\n"
		"for p in profiles: sums[p.types[0],p.period_type,p.period]+=p.total()\n"
		"ns='nanoseconds'\n"
		"want={(('samples','count'),('cpu',ns),10101010):4,(('samples','count'),('cpu',ns),20408163):1,"
		"(('page_faults','count'),('page_faults','count'),100):360,"
		"(('alloc','bytes'),('alloc','bytes'),524288):4000000,"
		"(('wall',ns),('wall',ns),1000000000):3000000000,"
		"(('cycles','cycles'),('cycles','cycles'),1000000):1200000000}\n"
		"assert sums==want,sums\n"
		"idle=[s for p in profiles if p.resource['service.name']=='kernel' for s in p.samples]\n"
		"assert len(idle)==1 and idle[0][1]['thread.name']=='swapper/0',idle\n");
	encoded_release(&e);
}

static void equal_input_gives_equal_bodies(void **state)
{
	struct encoded a = { .end_at = 0 }, b = { .end_at = 0 }, part = { .end_at = 1 };
	struct push_encode_opts opts = { .bundle_windows = 1, .window_ns = 1000000000 };

	(void)state;
	encode(&a, emit_two, &opts);
	encode(&b, emit_two, &opts);
	encode(&part, emit_two, &opts);
	assert_true(a.bodies > 1);
	assert_true(encoded_equal(&a, &b));
	assert_int_equal(part.err, -ECANCELED);
	assert_int_equal(part.bodies, 1);
	encoded_release(&a);
	encoded_release(&b);
	encoded_release(&part);
}

/* ---- many samples: 3,000 stacks of one thread in 30 s, and one that comes late ---- */

enum { MANY = 3000, STEP_MS = 10 };

static int emit_stack(record_fn fn, void *ctx, uint32_t i)
{
	char name[600];
	int err = 0, len = snprintf(name, sizeof(name), "function_%0500u", i);

	FIX_SEND(STRING, string, { FIX_STRINGS + i, name, (size_t)len });
	FIX_SEND(FRAME, frame, { .id = 100 + i, .kind = FRAME_USER, .binary = FIX_B_SERVER, .addr = 0x10000 + i });
	FIX_SEND(NODE, node, { 100 + i, 2, 100 + i });
	FIX_SEND(FUNC, func, { .id = 100 + i, .name = FIX_STRINGS + i, .sysname = FIX_STRINGS + i });
	FIX_SEND(SYMBOL, symbol, { .frame = 100 + i, .lines = &(struct rec_line){ 100 + i, 0, 0, 0 }, .nr_lines = 1 });
	return err;
}

static int emit_at(record_fn fn, void *ctx, uint64_t ms, uint32_t stack, uint64_t weight)
{
	int err = 0;

	FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + ms * FIX_MS, .event = FIX_E_CPU, .thread = FIX_T_SERVER,
				   .ustack = stack, .weight = weight, .state = TASK_RUNNING, .end = END_ROOT });
	return err;
}

static int emit_many(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = fixture_emit_facts(fn, ctx);

	err = err ? err : fixture_emit_tasks(fn, ctx);
	err = err ? err : fixture_emit_stacks(fn, ctx);
	for (uint32_t i = 0; i < MANY && !err; i++) {
		err = emit_stack(fn, ctx, i);
		err = err ? err : emit_at(fn, ctx, i * STEP_MS, 100 + i, FIX_PERIOD);
	}
	err = err ? err : trace_writer_flush(w);
	err = err ? err : emit_at(fn, ctx, 5, 4, FIX_PERIOD);
	FIX_SEND(END, end, { .time_ns = FIX_T0 + 30000 * FIX_MS, .samples = MANY + 1, .target_status = -1 });
	return err;
}

static void limits_are_kept_by_splitting(void **state)
{
	struct push_encode_opts opts = { .max_samples = 100, .bundle_windows = 1 };
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_many, &opts);
	assert_int_equal(e.err, 0);
	assert_int_equal(e.samples, MANY + 1);
	assert_int_equal(e.counts.late, 1);
	assert_true(e.counts.split >= 27);
	python_says(&e,
		"assert sum(p.total() for p in profiles)==3001\n"
		"assert max(len(p.samples) for p in profiles)==100\n"
		"assert len({p.id for p in profiles})==len(profiles)==31,len(profiles)\n"
		"assert sorted(collections.Counter(p.time//10**10 for p in profiles).values())==[10,10,11]\n"
		"assert all(p.time%10**10<11*2**19 for p in profiles)\n" TIMES_DIFFER);
	encoded_release(&e);

	opts = (struct push_encode_opts){ .max_body_bytes = 200000, .max_profile_bytes = 50000 };
	encode(&e, emit_many, &opts);
	assert_int_equal(e.err, 0);
	assert_true(e.bodies >= 3000 * 500 / 200000);
	assert_true(e.largest <= 200000);
	python_says(&e, "assert sum(p.total() for p in profiles)==3001\n"
			"assert max(len(p.samples) for p in profiles)<100\n" TIMES_DIFFER);
	encoded_release(&e);
}

/* Three windows are one bundle, wherever on the clock the first one begins. */
static void bundles_begin_with_the_trace(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct push_encode_opts opts = { .bundle_windows = 3, .rebase_ns = i * 10000000000 };

		encode(&e, emit_many, &opts);
		assert_int_equal(e.err, 0);
		assert_int_equal(e.samples, MANY + 1);
		assert_int_equal(e.bodies, 1);
		encoded_release(&e);
		opts.bundle_windows = 1;	/* the last window goes with the one before it */
		encode(&e, emit_many, &opts);
		assert_int_equal(e.bodies, 2);
		encoded_release(&e);
	}
}

static void rows_are_bounded(void **state)
{
	struct push_encode_opts opts = { .max_rows = 64 };
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_many, &opts);
	assert_int_equal(e.err, 0);
	assert_true(e.bodies >= MANY / 64);
	assert_int_equal(e.samples, MANY + 1);
	python_says(&e, "assert sum(p.total() for p in profiles)==3001\n"
			"assert len({p.id for p in profiles})==len(profiles)\n" TIMES_DIFFER);
	encoded_release(&e);
}

/* ---- weights of all kinds ---- */

static int emit_weights(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = fixture_emit_facts(fn, ctx);

	err = err ? err : fixture_emit_tasks(fn, ctx);
	err = err ? err : fixture_emit_stacks(fn, ctx);
	for (uint64_t i = 0; i < 40 && !err; i++)
		err = emit_at(fn, ctx, 100 + i, 1 + i % 4, 1000 * (1 + i % 20));
	return err;
}

/* Eight weights have a profile each; those of the others have their divisor, 1000, in common. */
static void cpu_time_is_exact_whatever_samples_weigh(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_weights, &plain);
	assert_int_equal(e.err, 0);
	python_says(&e,
		"assert len(profiles)==9\n"
		"assert sum(p.total()*p.period for p in profiles)==2*1000*sum(range(1,21))\n"
		"assert sorted(p.period for p in profiles)[:-1]==[1000,2000,3000,4000,5000,6000,6000,7000],[p.period for p in profiles]\n" TIMES_DIFFER);
	encoded_release(&e);
}

/* ---- processes that are called the same ---- */

static int emit_twins(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = fixture_emit_facts(fn, ctx);

	err = err ? err : fixture_emit_tasks(fn, ctx);
	err = err ? err : fixture_emit_stacks(fn, ctx);
	for (uint32_t i = 0; i < 3; i++) {
		FIX_SEND(PROCESS, process, { .id = 3 + i, .tgid = 100, .start_boottime_ns = i, .comm = FIX_S_SERVER,
					     .exe = i < 2 ? FIX_B_SERVER : 0, .cgroup = FIX_S_CGROUP });
		FIX_SEND(THREAD, thread, { 4 + i, 3 + i, 100, FIX_S_SERVER, i, 0 });
		FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + i * FIX_MS, .event = FIX_E_CPU, .thread = 4 + i,
					   .ustack = 4, .weight = FIX_PERIOD, .end = END_ROOT });
	}
	return err ? err : emit_at(fn, ctx, 9, 4, FIX_PERIOD);
}

/* All but the one that runs another program are one process, with one thread. */
static void equal_processes_are_one(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_twins, &plain);
	assert_int_equal(e.err, 0);
	python_says(&e, "assert sorted([v for f,l,v in p.samples] for p in profiles)==[[[1]],[[3]]]\n" TIMES_DIFFER);
	encoded_release(&e);
}

/* ---- names ---- */

static int hostile(void *ctx, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_STRING && (rec->string.id == FIX_S_MAIN || rec->string.id == FIX_S_SERVER ||
				       rec->string.id == FIX_S_CGROUP || rec->string.id == FIX_S_WORKER)) {
		copy.string.bytes = "a\xff\0b\x1b[31m\xc3\xa4";
		copy.string.len = 11;
	}
	return trace_writer_record(ctx, &copy);
}

static int emit_hostile(struct trace_writer *w)
{
	return trace_fixture_emit(hostile, w);
}

static void names_are_valid_utf8(void **state)
{
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_hostile, &plain);
	assert_int_equal(e.err, 0);
	python_says(&e,
		"name='a'+chr(92)+'xff'+chr(92)+'x00b'+chr(92)+'x1b[31m\\u00e4'\n"
		"frames={f[0] for p in profiles for frames,_,_ in p.samples for f in frames}\n"
		"assert name in frames,frames\n"
		"r=[p.resource for p in profiles if p.resource.get('process.pid')==100][0]\n"
		"assert r['process.title']==name and r['process.linux.cgroup']==name and r['service.name']=='server',r\n"
		"assert any(l.get('thread.name')==name for p in profiles for f,l,v in p.samples)\n");
	encoded_release(&e);
}

static void the_user_names_services_and_labels(void **state)
{
	static const char *const names[PUSH_MAX_LABELS] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
	const struct push_label labels[] = { { "team", "shop" }, { "k8s.pod", "a-1" } };
	struct push_label many[PUSH_MAX_LABELS];
	struct push_encode_opts opts = { .service = "till", .labels = labels, .nr_labels = 2,
					 .threads = PUSH_THREADS_NONE };
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_fixture, &opts);
	assert_int_equal(e.err, 0);
	python_says(&e,
		"assert {p.resource['service.name'] for p in profiles}=={'till','kernel'}\n"
		"assert all(p.resource['team']=='shop' and p.resource['k8s.pod']=='a-1' for p in profiles)\n"
		"assert not any('thread.id' in l or 'thread.name' in l for p in profiles for f,l,v in p.samples)\n"
		"assert any('thread.state' in l for p in profiles for f,l,v in p.samples)\n");
	encoded_release(&e);
	/* With "container.id", and five that Pyroscope adds, no more than the 30 that it takes. */
	for (size_t i = 0; i < PUSH_MAX_LABELS; i++)
		many[i] = (struct push_label){ names[i], "x" };
	opts = (struct push_encode_opts){ .labels = many, .nr_labels = PUSH_MAX_LABELS };
	encode(&e, emit_fixture, &opts);
	assert_int_equal(e.err, 0);
	python_says(&e, "assert max(len(p.resource)+len(l) for p in profiles for f,l,v in p.samples)+1+5<=30\n"
			"assert all(p.resource['j']=='x' for p in profiles)\n");
	encoded_release(&e);
	opts.labels = &(struct push_label){ "host.name", "x" };
	opts.nr_labels = 1;
	encode(&e, emit_fixture, &opts);
	assert_int_equal(e.err, -EINVAL);
	assert_int_equal(e.bodies, 0);
	encoded_release(&e);
}

/* Threads of one name become one: all that is left out is the number. */
static void threads_by_name(void **state)
{
	struct push_encode_opts opts = { .threads = PUSH_THREADS_NAME };
	struct encoded e = { .end_at = 0 };

	(void)state;
	encode(&e, emit_fixture, &opts);
	assert_int_equal(e.err, 0);
	python_says(&e,
		"samples=[s for p in profiles for s in p.samples]\n"
		"assert not any('thread.id' in l for f,l,v in samples)\n"
		"assert sum('thread.name' in l for f,l,v in samples)>1\n"
		"keys=[(id(p),str(f),str(sorted(l.items()))) for p in profiles for f,l,v in p.samples]\n"
		"assert len(keys)==len(set(keys))\n");
	encoded_release(&e);
}

static void labels_are_checked(void **state)
{
	char name[66];

	(void)state;
	memset(name, 'a', 65);
	name[65] = 0;
	assert_non_null(push_label_fault(name, "x"));
	name[64] = 0;
	assert_null(push_label_fault(name, "x"));
	assert_null(push_label_fault("a.b_c9", "\xc3\xa4 x"));
	assert_null(push_label_fault("_a", "x"));
	assert_non_null(push_label_fault("", "x"));
	assert_non_null(push_label_fault("9a", "x"));
	assert_non_null(push_label_fault("a-b", "x"));
	assert_non_null(push_label_fault("__name__", "x"));
	assert_non_null(push_label_fault("service_name", "x"));
	assert_non_null(push_label_fault("thread.id", "x"));
	assert_non_null(push_label_fault("a", ""));
	assert_non_null(push_label_fault("a", "\xff"));
	assert_non_null(push_label_fault("a", "x\ny"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_the_trace_says),
		cmocka_unit_test(frames_have_lines_build_ids_and_types),
		cmocka_unit_test(lines_of_other_files_are_left_out),
		cmocka_unit_test(addresses_are_left_out),
		cmocka_unit_test(time_is_that_of_the_window_as_far_as_recorded),
		cmocka_unit_test(every_event_is_a_type),
		cmocka_unit_test(equal_input_gives_equal_bodies),
		cmocka_unit_test(limits_are_kept_by_splitting),
		cmocka_unit_test(bundles_begin_with_the_trace),
		cmocka_unit_test(rows_are_bounded),
		cmocka_unit_test(cpu_time_is_exact_whatever_samples_weigh),
		cmocka_unit_test(equal_processes_are_one),
		cmocka_unit_test(names_are_valid_utf8),
		cmocka_unit_test(the_user_names_services_and_labels),
		cmocka_unit_test(threads_by_name),
		cmocka_unit_test(labels_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
