/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who runs and what is mapped where: told by events, read from /proc, forgotten in time. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "src/capture/processes/lifetimes.h"
#include "tests/unit/capture_world.h"

#define TEXT 0x550000000000ull
#define OTHER 0x560000000000ull
#define JIT 0x570000000000ull
#define LOOK_AGAIN_US 110000		/* after that /proc is read again */
#define ME NO_PID
#define CHILD (NO_PID + 1)

static int setup(void **state)
{
	struct capture_world *w = test_calloc(1, sizeof(*w));

	*state = w;
	capture_world_open(w);
	return 0;
}

static int teardown(void **state)
{
	capture_world_close(*state);
	test_free(*state);
	return 0;
}

static struct process *living(struct capture_world *w, uint32_t tgid)
{
	return processes_find(&w->processes, tgid, TIME_NEVER);
}

static uint32_t binary_at(const struct process *p, uint64_t addr, uint64_t time_ns)
{
	const struct mapping *m = process_find_mapping(p, addr, time_ns);

	return m ? m->binary : 0;
}

static void execed(struct capture_world *w, uint32_t tgid, const char *name, uint64_t time_ns)
{
	told(w, &(struct task_event){ .kind = TASK_EVENT_EXEC, .tgid = tgid, .text = name,
				      .time_ns = time_ns });
}

/* ---- a child of ours that does what it is told ---- */

struct child {
	pid_t pid;
	int orders, answers;
	uint64_t *page;			/* where its mapping is; shared with it */
};

static void *sleep_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void obey(char order, uint64_t *page)
{
	static pthread_t other;

	if (order == 'm')
		*page = (uintptr_t)mmap(NULL, CW_PAGE, PROT_READ | PROT_EXEC,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (order == 'u')
		munmap((void *)(uintptr_t)*page, CW_PAGE);
	else if (order == 't')
		pthread_create(&other, NULL, sleep_for_ever, NULL);
}

static void child_main(int orders, int answers, uint64_t *page)
{
	char order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "told-what-to-do");
	while (read(orders, &order, 1) == 1) {
		obey(order, page);
		if (write(answers, &order, 1) != 1)
			break;
		if (order == 'e')
			pthread_exit(NULL);
	}
	_exit(0);
}

static struct child start_child(struct capture_world *w)
{
	struct child c = { 0 };
	int to[2], from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	c.page = mmap(NULL, CW_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(c.page, MAP_FAILED);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		close(to[1]);
		child_main(to[0], from[1], c.page);
	}
	close(to[0]);
	close(from[1]);
	c.orders = to[1];
	c.answers = from[0];
	w->real = (uint32_t)c.pid;
	return c;
}

static void order(const struct child *c, char what)
{
	char answer;

	assert_int_equal(write(c->orders, &what, 1), 1);
	assert_int_equal(read(c->answers, &answer, 1), 1);
}

static void end_child(struct child *c)
{
	kill(c->pid, SIGKILL);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
	close(c->orders);
	close(c->answers);
	munmap(c->page, CW_PAGE);
	c->pid = 0;
}

/* ---- events ---- */

static void test_child_has_what_its_parent_has(void **state)
{
	struct capture_world *w = *state;
	struct process *child;
	uint32_t file;

	forked(w, ME, 1, 10);
	file = map_own_file(w, ME, TEXT, 20)->binary;
	forked(w, CHILD, ME, 30);
	child = living(w, CHILD);
	assert_int_equal(child->parent_tgid, ME);
	assert_int_equal(binary_at(child, TEXT, 30), file);
	/* What either maps from here on is its own. */
	map_anonymous(w, ME, JIT, CW_PAGE, 40);
	assert_non_null(process_find_mapping(living(w, ME), JIT, 40));
	assert_null(process_find_mapping(child, JIT, 40));
	/* A new thread is no process. */
	told(w, &(struct task_event){ .kind = TASK_EVENT_FORK, .tgid = ME, .parent_tgid = ME,
				      .tid = ME + 7, .time_ns = 50 });
	assert_int_equal(w->processes.nr, 2);
	assert_int_equal(living(w, ME)->born_ns, 10);
}

static void test_exec_is_another_life(void **state)
{
	struct capture_world *w = *state;
	struct process *old, *new;
	uint32_t file;

	forked(w, ME, 77, 10);
	file = map_own_file(w, ME, TEXT, 10)->binary;
	old = living(w, ME);
	old->start_boottime_ns = 5;
	execed(w, ME, "a-name-that-is-cut", 30);
	execed(w, ME, "a-name-that-is-cut", 30);
	assert_int_equal(w->processes.nr, 2);
	new = living(w, ME);
	assert_ptr_not_equal(new, old);
	assert_int_equal(old->died_ns, 30);
	assert_int_equal(new->exec_ns, 30);
	assert_int_equal(new->parent_tgid, 77);
	assert_int_equal(new->start_boottime_ns, 5);
	assert_string_equal(new->comm, "a-name-that-is-");
	assert_int_equal(new->nr_live, 0);
	assert_ptr_equal(process_tracker_find(w->tracker, ME, 29), old);
	assert_int_equal(binary_at(old, TEXT, 29), file);
}

static void test_mappings(void **state)
{
	struct capture_world *w = *state;
	const struct mapping *m;

	forked(w, ME, 1, 10);
	m = map_own_file(w, ME, TEXT, 20);
	assert_int_equal(m->end - m->start, w->own.end - w->own.start);
	assert_int_equal(m->start + m->to_vaddr,
			 binary_to_vaddr(binaries_get(&w->binaries, m->binary), w->own.start,
					 w->own.pgoff_bytes) + w->own.start);
	assert_int_equal(living(w, ME)->exe, m->binary);
	map_anonymous(w, ME, JIT, CW_PAGE, 30);
	assert_int_equal(process_find_mapping(living(w, ME), JIT, 30)->binary, 0);
	/* No code: not looked at. */
	told(w, &(struct task_event){ .kind = TASK_EVENT_MAP, .tgid = ME, .start = OTHER,
				      .len = CW_PAGE, .prot = PROT_READ, .time_ns = 40 });
	assert_null(process_find_mapping(living(w, ME), OTHER, 40));
}

/* That of the leader is the process's. */
static void test_names(void **state)
{
	struct capture_world *w = *state;

	forked(w, ME, 1, 10);
	told(w, &(struct task_event){ .kind = TASK_EVENT_COMM, .tgid = ME, .text = "first-and-long",
				      .time_ns = 20 });
	told(w, &(struct task_event){ .kind = TASK_EVENT_COMM, .tgid = ME, .text = "leader",
				      .time_ns = 20 });
	told(w, &(struct task_event){ .kind = TASK_EVENT_COMM, .tgid = ME, .tid = ME + 1,
				      .text = "thread", .time_ns = 20 });
	assert_string_equal(living(w, ME)->comm, "leader");
	assert_int_equal(living(w, ME)->comm[14], 0);
	forked(w, CHILD, ME, 30);
	assert_string_equal(living(w, CHILD)->comm, "leader");
}

static void test_end_of_a_thread_and_of_all(void **state)
{
	struct capture_world *w = *state;

	forked(w, ME, 1, 10);
	told(w, &(struct task_event){ .kind = TASK_EVENT_EXIT, .tgid = ME, .tid = ME + 1,
				      .time_ns = 20 });
	assert_non_null(living(w, ME));
	exited(w, ME, 30);
	assert_null(living(w, ME));
	assert_int_equal(processes_find(&w->processes, ME, 25)->died_ns, 30);
}

/* Its leader has ended, the process goes on. */
static void test_end_of_the_leader(void **state)
{
	struct capture_world *w = *state;
	struct child c = start_child(w);

	assert_non_null(process_tracker_find(w->tracker, w->real, now_ns()));
	order(&c, 't');
	order(&c, 'e');
	exited(w, w->real, now_ns());
	assert_non_null(living(w, w->real));
	end_child(&c);
	exited(w, w->real, now_ns());
	assert_null(living(w, w->real));
}

static void test_only_who_is_wanted(void **state)
{
	struct capture_world *w = *state;

	forked(w, 2, 1, 10);
	execed(w, 2, "other", 20);
	assert_int_equal(w->processes.nr, 0);
	/* A child of one that is wanted, before the filter knows it; and of one that is not. */
	forked(w, ME, 2, 30);
	assert_non_null(living(w, ME));
	forked(w, 3, ME, 40);
	assert_non_null(living(w, 3));
	execed(w, 3, "known", 50);
	assert_string_equal(living(w, 3)->comm, "known");
}

/* One mapping of a process that is not wanted asks, and no other until it forks or execs. */
static void test_unwanted_are_asked_for_once(void **state)
{
	struct capture_world *w = *state;

	w->nr_asked = 0;
	for (uint32_t i = 1; i <= 30; i++)
		map_anonymous(w, 2 + i % 2, TEXT * i, 4096, 20);
	assert_int_equal(w->nr_asked, 2);
	/* The number was given again, to a child of one that is wanted. */
	forked(w, 2, ME, 30);
	assert_non_null(living(w, 2));
	assert_non_null(map_own_file(w, 2, TEXT, 40));
	assert_null(map_own_file(w, 3, TEXT, 40));
}

static void test_unknown_with_a_mapping(void **state)
{
	struct capture_world *w = *state;

	/* Its fork was not told. What it is follows from the event alone: /proc has nothing. */
	assert_non_null(map_own_file(w, ME, TEXT, 20));
	assert_int_equal(living(w, ME)->born_ns, 20);
}

/* ---- who was it? ---- */

static void test_find_reads_proc(void **state)
{
	struct capture_world *w = *state;
	struct child c = start_child(w);
	struct process *p;

	order(&c, 'm');
	p = process_tracker_find(w->tracker, w->real, now_ns());
	assert_non_null(p);
	assert_true(p->scanned);
	assert_string_equal(p->comm, "told-what-to-do");
	assert_int_equal(p->parent_tgid, getpid());
	assert_int_not_equal(p->start_boottime_ns, 0);
	assert_int_not_equal(p->exe, 0);
	assert_int_equal(process_find_mapping(p, *c.page, now_ns())->binary, 0);
	assert_ptr_equal(process_tracker_find(w->tracker, w->real, now_ns()), p);
	/* Who is gone is known by number alone. */
	p = process_tracker_find(w->tracker, ME, 100);
	assert_int_equal(process_nr_mappings(p), 0);
	assert_int_equal(w->processes.nr, 2);
	end_child(&c);
}

/* The number is another process's since: a sample from before must not find that one's code. */
static void test_number_used_again(void **state)
{
	struct capture_world *w = *state;
	struct process *now, *before;

	forked(w, ME, 1, 100);
	assert_non_null(map_own_file(w, ME, TEXT, 110));
	now = living(w, ME);
	before = process_tracker_find(w->tracker, ME, 90);
	assert_ptr_not_equal(before, now);
	assert_int_equal(process_nr_mappings(before), 0);
	assert_int_equal(before->died_ns, 100);
	assert_ptr_equal(process_tracker_find(w->tracker, ME, 90), before);
	/* An earlier sample of that life is not yet another life. */
	assert_ptr_equal(process_tracker_find(w->tracker, ME, 80), before);
	/* And the one that lives still does. */
	assert_ptr_equal(living(w, ME), now);
	assert_int_equal(now->died_ns, TIME_NEVER);
	assert_ptr_equal(process_tracker_find(w->tracker, ME, 100), now);
}

/* Nobody told when it began: what is known of it since later holds for before. */
static void test_known_since_later(void **state)
{
	struct capture_world *w = *state;
	struct process *p;

	assert_non_null(map_own_file(w, ME, TEXT, 100));
	p = process_tracker_find(w->tracker, ME, 90);
	assert_ptr_equal(p, living(w, ME));
	assert_int_equal(w->processes.nr, 1);
	assert_int_not_equal(binary_at(p, TEXT, 90), 0);
}

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Of a process that made room for code its /tmp is held open until it is forgotten. */
static void test_tmp_outlives_its_process(void **state)
{
	struct capture_world *w = *state;
	struct child c = start_child(w);
	struct process_tmp tmp;
	struct process *p;
	unsigned before;

	p = process_tracker_find(w->tracker, w->real, now_ns());
	before = open_files();
	map_anonymous(w, w->real, JIT, CW_PAGE, now_ns());
	map_anonymous(w, w->real, JIT + CW_PAGE, CW_PAGE, now_ns());
	assert_int_equal(open_files(), before + 1);
	end_child(&c);
	before -= 2;
	process_tracker_open_tmp(w->tracker, p, &tmp);
	assert_true(tmp.dir >= 0);
	assert_int_equal(tmp.ns_tgid, w->real);
	assert_int_equal(open_files(), before + 2);
	close(tmp.dir);
	exited(w, w->real, now_ns());
	process_tracker_prune(w->tracker, now_ns() + 2 * ENDED_KEPT_NS);
	assert_int_equal(open_files(), before);
	/* One that made none is gone with it. */
	p = process_tracker_find(w->tracker, w->real, now_ns());
	process_tracker_open_tmp(w->tracker, p, &tmp);
	assert_int_equal(tmp.dir, -1);
}

/* ---- /proc again ---- */

#define NOWHERE 8		/* an address that is never mapped */

static void test_look_again(void **state)
{
	struct capture_world *w = *state;
	struct child c = start_child(w);
	struct process *p;
	uint64_t before;

	order(&c, 'm');
	p = process_tracker_find(w->tracker, w->real, now_ns());
	before = now_ns();
	order(&c, 'u');
	usleep(LOOK_AGAIN_US);
	assert_int_equal(process_tracker_learn(w->tracker, p, NOWHERE), PROCESS_LEARNT_MORE);
	assert_null(process_find_mapping(p, *c.page, now_ns()));
	assert_non_null(process_find_mapping(p, *c.page, before));
	usleep(LOOK_AGAIN_US);
	assert_int_equal(process_tracker_learn(w->tracker, p, NOWHERE), PROCESS_LEARNT_NOTHING);
	process_exit(p, now_ns());
	order(&c, 'm');
	usleep(LOOK_AGAIN_US);
	assert_int_equal(process_tracker_learn(w->tracker, p, NOWHERE), PROCESS_LEARNT_NOTHING);
	end_child(&c);
}

static void test_losses_are_counted_and_mended(void **state)
{
	struct capture_world *w = *state;
	struct child c = start_child(w);

	told(w, &(struct task_event){ .kind = TASK_EVENT_LOST, .lost = 5 });
	told(w, &(struct task_event){ .kind = TASK_EVENT_LOST, .lost = 2 });
	assert_int_equal(process_tracker_lost(w->tracker), 7);
	assert_null(living(w, w->real));
	assert_int_equal(process_tracker_update(w->tracker), 0);
	assert_non_null(living(w, w->real));
	assert_true(living(w, w->real)->nr_live > 0);
	end_child(&c);
}

static void test_scan_of_targets(void **state)
{
	struct capture_world *w = *state;
	struct child c = start_child(w);
	uint32_t pids[] = { w->real, NO_PID, 1 };

	assert_int_equal(process_tracker_scan(w->tracker, pids, 3), 0);
	assert_int_equal(living(w, w->real)->born_ns, 0);
	assert_null(living(w, 1));
	/* What has this number now and was not there before is new. */
	process_exit(living(w, w->real), now_ns());
	assert_int_equal(process_tracker_scan(w->tracker, pids, 1), 0);
	assert_int_not_equal(living(w, w->real)->born_ns, 0);
	end_child(&c);
}

/* ---- the end ---- */

static void test_prune(void **state)
{
	struct capture_world *w = *state;
	uint64_t now = now_ns(), end = now - ENDED_KEPT_NS;

	forked(w, ME, 1, end - 100);
	forked(w, CHILD, 1, end - 100);
	exited(w, ME, end - 50);
	exited(w, CHILD, end + NSEC_PER_SEC);
	process_tracker_prune(w->tracker, now);
	assert_null(processes_find(&w->processes, ME, end));
	assert_non_null(processes_find(&w->processes, CHILD, end));
	/* Nobody told the end of those that /proc does not know. */
	forked(w, ME, 1, now);
	process_tracker_prune(w->tracker, now + NSEC_PER_SEC);
	assert_non_null(living(w, ME));			/* looked for each 10 s */
	process_tracker_prune(w->tracker, now + 11 * NSEC_PER_SEC);
	assert_null(living(w, ME));
	assert_int_equal(processes_find(&w->processes, ME, now)->died_ns, now + 11 * NSEC_PER_SEC);
}

/* One that a stack waits for stays as long as the stack may wait, with what it had mapped. */
static void test_awaited(void **state)
{
	struct capture_world *w = *state;
	uint64_t now = now_ns(), begin = now - STACK_WAITS_NS;
	struct process *p;
	uint32_t file;

	forked(w, ME, 1, begin);
	file = map_own_file(w, ME, TEXT, begin)->binary;
	map_anonymous(w, ME, TEXT, 1ull << 30, begin + 100);
	exited(w, ME, begin + 200);
	process_tracker_await(w->tracker, ME, begin + 50);
	process_tracker_await(w->tracker, ME, begin - 50);	/* of no life that is known */
	process_tracker_await(w->tracker, CHILD, begin);
	process_tracker_prune(w->tracker, now);
	p = processes_find(&w->processes, ME, begin + 50);
	assert_non_null(p);
	assert_int_equal(binary_at(p, TEXT, begin + 50), file);
	/* Never for ever. */
	process_tracker_await(w->tracker, ME, begin + 50);
	process_tracker_prune(w->tracker, begin + 300 + AWAITED_KEPT_NS);
	assert_null(processes_find(&w->processes, ME, begin + 50));
}

static void test_not_awaited_any_more(void **state)
{
	struct capture_world *w = *state;
	uint64_t now = now_ns();

	forked(w, ME, 1, now - 9 * NSEC_PER_SEC);
	exited(w, ME, now - 8 * NSEC_PER_SEC);
	process_tracker_await(w->tracker, ME, now - 8 * NSEC_PER_SEC);
	process_tracker_prune(w->tracker, now);
	assert_non_null(processes_find(&w->processes, ME, now));
	process_tracker_prune(w->tracker, now);
	assert_null(processes_find(&w->processes, ME, now));
}

/* ---- the kernel's tables ---- */

/* What the kernel side finds: the number of mappings; -1: it knows nothing of the process. */
static int shown(int map, uint32_t tgid)
{
	struct unwind_process value;

	return bpf_map_lookup_elem(map, &tgid, &value) ? -1 : (int)(value.slice >> 32);
}

static int open_tables(struct capture_world *w)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "processes", 4, sizeof(struct unwind_process),
				 16, &opts);
	struct unwind_loader_options o = { .fds = w->fds, .new_slab = cw_new_slab,
					   .on_evict = cw_on_evict, .ctx = w };

	if (map < 0) {
		print_message("needs the right to create BPF maps\n");
		skip();
	}
	o.fds.processes = map;
	unwind_loader_free(w->loader);
	assert_int_equal(unwind_loader_new(&o, &w->loader), 0);
	return map;
}

static void test_published(void **state)
{
	struct capture_world *w = *state;
	int map = open_tables(w);
	uint64_t now = now_ns(), later = now + 10 * NSEC_PER_SEC;	/* it settles until then */
	uint32_t me = ME;

	forked(w, ME, 1, now);
	map_own_file(w, ME, TEXT, now);
	assert_int_equal(shown(map, ME), -1);
	assert_int_equal(process_tracker_start(w->tracker, w->loader), 0);
	assert_int_equal(shown(map, ME), 1);
	map_anonymous(w, ME, JIT, CW_PAGE, now);
	assert_int_equal(process_tracker_update(w->tracker), 0);
	assert_int_equal(shown(map, ME), 2);
	/* A child runs on its parent's until it maps something itself; the kernel side copies. */
	forked(w, CHILD, ME, now);
	assert_int_equal(process_tracker_update(w->tracker), 0);
	assert_int_equal(shown(map, CHILD), -1);
	map_anonymous(w, CHILD, OTHER, CW_PAGE, now);
	assert_int_equal(process_tracker_update(w->tracker), 0);
	assert_int_equal(shown(map, CHILD), 3);
	assert_int_equal(shown(map, ME), 2);
	/* The kernel side drops it at an exec, maybe after the new one was there. */
	execed(w, ME, "new", later);
	map_own_file(w, ME, TEXT, later);
	assert_int_equal(process_tracker_update(w->tracker), 0);
	assert_int_equal(shown(map, ME), 1);
	assert_int_equal(bpf_map_delete_elem(map, &me), 0);
	assert_int_equal(process_tracker_update(w->tracker), 0);
	assert_int_equal(shown(map, ME), 1);
	/* Nor does it outlive its process. */
	exited(w, ME, later);
	process_tracker_prune(w->tracker, later + 2 * ENDED_KEPT_NS);
	assert_int_equal(shown(map, ME), -1);
	close(map);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_child_has_what_its_parent_has),
		T(test_exec_is_another_life),
		T(test_mappings),
		T(test_names),
		T(test_end_of_a_thread_and_of_all),
		T(test_end_of_the_leader),
		T(test_only_who_is_wanted),
		T(test_unwanted_are_asked_for_once),
		T(test_unknown_with_a_mapping),
		T(test_find_reads_proc),
		T(test_number_used_again),
		T(test_known_since_later),
		T(test_tmp_outlives_its_process),
		T(test_look_again),
		T(test_losses_are_counted_and_mended),
		T(test_scan_of_targets),
		T(test_prune),
		T(test_awaited),
		T(test_not_awaited_any_more),
		T(test_published),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
