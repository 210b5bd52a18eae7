/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes one of the pictures that the browser test looks at: make_svg CASE > case.svg */
#include <stdio.h>
#include <string.h>

#include "formats/render/renderer.h"
#include "tests/unit/tree.h"

extern const struct renderer renderer_svg;

#define MAIN "server [1201]_[s];_start;__libc_start_main;main @src/main.cc:42;" \
	"net::Server::run() @src/net/server.cc:118;"
#define READ MAIN "net::Connection::onReadable(net::Event const&);"
#define PARSE READ "json::Parser<char, json::Utf8>::parse(std::basic_string_view<char, std::char_traits<char> >)"
#define SYSCALL "entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];"
#define SCRIPT "server [1201]_[s];start_thread;script::Engine::"

static const char *const typical[] = {
	MAIN "net::Server::poll(std::chrono::duration<long, std::ratio<1l, 1000l> >);epoll_wait;" SYSCALL
		"do_epoll_wait_[k];schedule_hrtimeout_range_[k] 210",
	READ "recv;" SYSCALL "__sys_recvfrom_[k];tcp_recvmsg_[k];tcp_recvmsg_locked_[k];"
		"skb_copy_datagram_iter_[k] 530",
	PARSE ";json::Parser<char, json::Utf8>::object()_[i];"
		"std::map<std::string, json::Value>::operator[](std::string const&)_[i];malloc;_int_malloc 640",
	PARSE ";json::Parser<char, json::Utf8>::object()_[i];json::Parser<char, json::Utf8>::string()_[i];memcpy 410",
	PARSE " 330",
	READ "void std::sort<__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > > >(int*, int*);"
		"void std::__introsort_loop<int*, long>(int*, int*, long);std::__unguarded_partition<int*>(int*, int*)_[i];"
		"operator<(Key const&, Key const&)_[i] 270",
	SCRIPT "call(script::Function*);LazyCompile:~handler app.js:14_[j];LazyCompile:*render app.js:88_[j];"
		"Builtins_StringAdd_[j] 460",
	SCRIPT "call(script::Function*);LazyCompile:~handler app.js:14_[j];Builtins_ArrayMap_[j] 160",
	SCRIPT "collect()_[g];script::Heap::mark(script::Object*)_[g] 240",
	SCRIPT "collect()_[g] 60",
	"agent [88]_[s];" SYSCALL "__x64_sys_openat_[k];bpf_prog_6deef7357e7b4530_trace_open_[b];"
		"bpf_get_stackid_[k] 150",
	"agent [88]_[s];runtime.goexit;main.(*Agent).loop;github.com/acme/agent/metrics.(*Registry).Collect;"
		"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop 190",
	"kworker/0:1 [77]_[s];ret_from_fork_[k];kthread_[k];worker_thread_[k];process_one_work_[k];"
		"vmstat_update_[k] 90",
	"swapper/0 [0]_[s];cpu_startup_entry_[k];do_idle_[k];default_idle_call_[k];pv_native_safe_halt_[k] 60",
};

static void fill_facts(struct profile *p)
{
	p->facts.host = "db-17.example.org";
	p->facts.kernel = "Linux 6.1.0-32-amd64 x86_64";
	p->facts.event = "cpu-clock 99 Hz";
	p->facts.tool = "probee 0.1.0";
	p->facts.argv = "probee sample -F 99 -a -d 10";
	p->facts.begin_real_ns = 1700000000ull * 1000000000;
	p->facts.duration_ns = 10012345678ull;
	p->facts.roots = 978;
	p->facts.user_stacks = 1000;
	p->facts.stacks = "97.8 % of 1,000 user stacks are whole (1.1 % with guessed frames)";
	p->facts.not_whole = "1.2 % chromium: no unwind information, frame pointer chain broke; 0.6 % on a CPU during the walk; "
			     "0.4 % libfoo.so: rule not supported at 0x1234";
	p->facts.frames = 4000;
	p->facts.frames_unnamed = 31;
}

static void fill_typical(struct profile *p)
{
	uint32_t libc = tree_name(p, "/usr/lib/x86_64-linux-gnu/libc.so.6", 35);
	uint32_t exe = tree_name(p, "/opt/server/bin/server", 22);

	for (size_t i = 0; i < sizeof(typical) / sizeof(typical[0]); i++)
		tree_add(p, typical[i]);
	for (size_t i = 2; i < p->nr_nodes; i++)
		if (p->nodes[i].kind == FRAME_USER)
			p->nodes[i].binary = p->nodes[i].file || i % 3 ? exe : libc;
}

static void fill_lossy(struct profile *p)
{
	fill_typical(p);
	p->facts.lost = 1234;
	p->facts.incomplete = true;
	p->facts.warning = "1,234 samples were lost because the ring buffer was full, and the trace has no end: "
		"the machine or probee was stopped while recording. Try a larger buffer.";
}

/* One recursion, 1,200 deep. */
static void fill_deep(struct profile *p)
{
	uint32_t file = tree_name(p, "fib.c", 5);
	uint32_t n = tree_frame(p, 0, "fib [7]_[s]", 11);

	n = tree_frame(p, n, "main", 4);
	for (int i = 0; i < 1200; i++) {
		n = tree_child(p, n, "recurse(unsigned long)", 22);
		p->nodes[n].file = file;
		p->nodes[n].line = 12;
		tree_weigh(p, n, i % 7 == 0);
	}
	tree_weigh(p, n, 300);
	tree_add(p, "fib [7]_[s];main;print 120");
}

/* Two deep stacks of a few samples above a graph that is not deep. */
static void fill_tips(struct profile *p)
{
	uint32_t n = tree_frame(p, 0, "load [7]_[s]", 12), at;

	fill_typical(p);
	for (int i = 0; i < 165; i++) {
		n = tree_frame(p, n, i % 2 ? "import_find" : "import_load", 11);
		at = n;
	}
	tree_weigh(p, at, 20);
}

static void fill_names(struct profile *p)
{
	tree_add(p, "app [7]_[s];java.util.concurrent.ConcurrentHashMap.computeIfAbsent(java.lang.Object, int)_[j] 10");
	tree_weigh(p, tree_child(p, 1, "Lcom/acme/billing/Bank;::transfer", 33), 10);
	tree_add(p, "app [7]_[s];github.com/acme/agent/metrics.(*Registry).Collect 10");
	tree_add(p, "app [7]_[s];<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop 10");
	tree_add(p, "app [7]_[s];app::server::connection::run::{{closure}} 10");
	tree_add(p, "app [7]_[s];LazyCompile:~handler /srv/www/app.js:14_[j] 10");
	tree_add(p, "app [7]_[s];schedule_hrtimeout_range_clock_[k] 10");
}

static void fill_one(struct profile *p)
{
	tree_add(p, "sh [3]_[s];main;wait4 1");
}

static void fill_empty(struct profile *p)
{
	p->facts.samples_total = 4711;
}

static void fill_hostile(struct profile *p)
{
	tree_add(p, "</title><script>document.documentElement.setAttribute('owned',1)</script> 10");
	tree_add(p, "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload='owned=1'/> 10");
	tree_add(p, "a & b < c > d \" e ' f ]]> \x01\x1b[31m\x7f \xff\xfe \xe2\x80\xae\xc3 10");
	tree_add(p, "\xe6\xbc\xa2\xe5\xad\x97\xe9\x96\xa2\xe6\x95\xb0::\xd1\x84\xd1\x83\xd0\xbd\xd0\xba() 10");
	p->facts.host = "]]></script><x onload=\"1\">";
}

/* Many narrow boxes, as from a large C++ program: limits are met, most nodes are hidden. */
static void fill_towers(struct profile *p, size_t nodes)
{
	uint64_t seed = 1;
	char name[96];

	while (p->nr_nodes < nodes) {
		uint32_t n = 0;

		for (int depth = 0; depth < 60; depth++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			snprintf(name, sizeof(name), "ns::Class%u<int, std::allocator<int> >::method%u(int, char const*)",
				 (unsigned)(seed >> 61), depth);
			n = tree_child(p, n, name, strlen(name));
		}
		tree_weigh(p, n, 1 + (seed >> 50) % 100);
	}
}

static void fill_medium(struct profile *p)
{
	fill_towers(p, 5000);
}

static void fill_big(struct profile *p)
{
	fill_towers(p, 100000);
}

static const struct {
	const char *name;
	void (*fill)(struct profile *p);
} cases[] = {
	{ "typical", fill_typical }, { "lossy", fill_lossy }, { "deep", fill_deep }, { "tips", fill_tips },
	{ "names", fill_names }, { "one", fill_one },
	{ "empty", fill_empty }, { "hostile", fill_hostile }, { "medium", fill_medium }, { "big", fill_big },
};

int main(int argc, char **argv)
{
	struct render_opts opts = { 0 };
	int err = -1;

	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile p;

		if (strcmp(argv[1], cases[i].name))
			continue;
		tree_init(&p);
		fill_facts(&p);
		cases[i].fill(&p);
		err = renderer_svg.render(&p, &opts, stdout);
		tree_release(&p);
	}
	return err || fflush(stdout) ? 1 : 0;
}
