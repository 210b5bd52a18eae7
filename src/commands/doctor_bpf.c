/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that call bpf(2) and perf_event_open(2) with what probee needs. */
#include "src/commands/doctor.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "src/capture/bpf/uprobe_multi.h"
#include "src/commands/doctor_finding.h"

struct insns {
	struct bpf_insn v[2];
};

struct helper {
	enum bpf_func_id id;
	const char *name;
};

static const struct insns do_nothing = { {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
} };

static struct insns call_helper(enum bpf_func_id id)
{
	return (struct insns){ {
		{ .code = BPF_JMP | BPF_CALL, .imm = (int)id },
		{ .code = BPF_JMP | BPF_EXIT },
	} };
}

typedef int (*load_fn)(const struct insns *insns, char *log, size_t size);

static int load_sampler(const struct insns *insns, char *log, size_t size)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .log_buf = log, .log_size = (unsigned)size,
		    .log_level = log ? 1 : 0);

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "probee_doctor", "GPL", insns->v, 2, &o);
}

static int load_iterator(const struct insns *insns, char *log, size_t size)
{
	int btf_id = libbpf_find_vmlinux_btf_id("task", BPF_TRACE_ITER);
	LIBBPF_OPTS(bpf_prog_load_opts, o, .log_buf = log, .log_size = (unsigned)size,
		    .log_level = log ? 1 : 0, .expected_attach_type = BPF_TRACE_ITER,
		    .attach_btf_id = (unsigned)btf_id, .prog_flags = BPF_F_SLEEPABLE);

	if (btf_id < 0)
		return btf_id;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "probee_doctor", "GPL", insns->v, 2, &o);
}

static void explain(struct finding *f, int err)
{
	finding_set(f, FOUND_NO, "the kernel refuses: %s", strerror(-err));
	if (err == -EPERM || err == -EACCES)
		finding_remedy_setcap(f, "cap_bpf,cap_perfmon");
	else
		finding_remedy(f, "a kernel of 5.18 or later with CONFIG_BPF_SYSCALL, "
				  "CONFIG_BPF_EVENTS and CONFIG_DEBUG_INFO_BTF");
}

void doctor_look_btf(struct finding *f)
{
	struct btf *btf = btf__load_vmlinux_btf();
	long err = libbpf_get_error(btf);

	if (!err) {
		finding_set(f, FOUND_OK, "%u types", btf__type_cnt(btf) - 1);
		btf__free(btf);
		return;
	}
	finding_set(f, FOUND_NO, "/sys/kernel/btf/vmlinux: %s",
		    strerror(err == -ESRCH ? ENOENT : (int)-err));
	finding_remedy(f, "a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions build it");
}

void doctor_look_ringbuf(struct finding *f)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probee_doctor", 0, 0,
				(unsigned)sysconf(_SC_PAGESIZE), NULL);

	if (fd < 0) {
		explain(f, fd);
		return;
	}
	close(fd);
	finding_set(f, FOUND_OK, "can be made");
}

static void look_program(struct finding *f, load_fn load)
{
	int fd = load(&do_nothing, NULL, 0);

	if (fd < 0) {
		explain(f, fd);
		return;
	}
	close(fd);
	finding_set(f, FOUND_OK, "loads");
}

void doctor_look_sampler(struct finding *f)
{
	look_program(f, load_sampler);
}

void doctor_look_iterator(struct finding *f)
{
	look_program(f, load_iterator);
}

/*
 * Whether the kernel has a helper function. The verifier rejects the call in any case, because its
 * arguments are not set up; only its message tells whether the helper exists.
 * libbpf_probe_bpf_helper() knows fewer of these messages, and does not know iterators.
 */
static bool has_helper(load_fn load, enum bpf_func_id id)
{
	static const char *const refusals[] = {
		"unknown func", "invalid func", "cannot use helper",
	};
	struct insns insns = call_helper(id);
	char log[4096] = "";
	int fd = load(&insns, log, sizeof(log));

	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strstr(log, refusals[i]))
			return false;
	return fd >= 0 || log[0];
}

static void look_helpers(struct finding *f, load_fn load, const struct helper *helpers, size_t nr)
{
	int fd = load(&do_nothing, NULL, 0), n = 0;
	char missing[160] = "";

	if (fd < 0) {
		explain(f, fd);
		return;
	}
	close(fd);
	for (size_t i = 0; i < nr; i++)
		if (!has_helper(load, helpers[i].id))
			n += snprintf(missing + n, sizeof(missing) - (size_t)n, " %s",
				      helpers[i].name);
	if (!n) {
		finding_set(f, FOUND_OK, "all %zu there", nr);
		return;
	}
	finding_set(f, FOUND_NO, "this kernel lacks%s", missing);
	finding_remedy(f, "a kernel of 5.18 or later");
}

void doctor_look_sampler_helpers(struct finding *f)
{
	static const struct helper helpers[] = {
		{ BPF_FUNC_loop, "bpf_loop" },
		{ BPF_FUNC_get_stack, "bpf_get_stack" },
		{ BPF_FUNC_task_pt_regs, "bpf_task_pt_regs" },
		{ BPF_FUNC_ringbuf_reserve, "bpf_ringbuf_reserve" },
	};

	look_helpers(f, load_sampler, helpers, sizeof(helpers) / sizeof(helpers[0]));
}

void doctor_look_iterator_helpers(struct finding *f)
{
	static const struct helper helpers[] = {
		{ BPF_FUNC_loop, "bpf_loop" },
		{ BPF_FUNC_copy_from_user_task, "bpf_copy_from_user_task" },
		{ BPF_FUNC_find_vma, "bpf_find_vma" },
		{ BPF_FUNC_get_task_stack, "bpf_get_task_stack" },
		{ BPF_FUNC_seq_write, "bpf_seq_write" },
	};

	look_helpers(f, load_iterator, helpers, sizeof(helpers) / sizeof(helpers[0]));
}

/* Opens an event of all processes, on the first CPU that has it. The descriptor or -errno. */
static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = type, .config = config,
		.freq = 1, .sample_freq = 99, .disabled = 1,
	};
	int fd = -1;

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && fd < 0; cpu++) {
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno != ENODEV)
			return -errno;
	}
	return fd < 0 ? -ENODEV : fd;
}

static void explain_event(struct finding *f, int err)
{
	char paranoid[16];

	doctor_first_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	finding_set(f, FOUND_NO, "perf_event_open: %s (perf_event_paranoid is %s)", strerror(-err),
		    paranoid[0] ? paranoid : "not visible");
	if (err == -EACCES && paranoid[0] > '2')
		finding_remedy(f, "sudo sysctl kernel.perf_event_paranoid=2");
	else if (err == -EACCES)
		finding_remedy_setcap(f, "cap_bpf,cap_perfmon");
	else if (err == -EPERM)
		finding_remedy(f, "run it outside the container, whose seccomp filter forbids it");
	else
		finding_remedy(f, "a kernel with CONFIG_PERF_EVENTS=y");
}

/* Opens the event and attaches a program to it, as sampling does. */
void doctor_look_cpu_clock(struct finding *f)
{
	int event = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK), prog, link;

	if (event < 0) {
		explain_event(f, event);
		return;
	}
	prog = load_sampler(&do_nothing, NULL, 0);
	link = prog < 0 ? prog : bpf_link_create(prog, event, BPF_PERF_EVENT, NULL);
	if (link < 0) {
		explain(f, link);
	} else {
		finding_set(f, FOUND_OK, "opens and takes a program");
		close(link);
	}
	if (prog >= 0)
		close(prog);
	close(event);
}

void doctor_look_cycles(struct finding *f)
{
	int event = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (event < 0) {
		finding_set(f, FOUND_WARN, "%s; cpu-clock is used instead",
			    event == -ENOENT
				    ? "no hardware counter here, as in most virtual machines"
				    : strerror(-event));
		return;
	}
	close(event);
	finding_set(f, FOUND_OK, "opens");
}

void doctor_look_uprobes(struct finding *f)
{
	if (uprobe_multi_is_there())
		finding_set(f, FOUND_OK, "many at once (one link for each file)");
	else if (!access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		finding_set(f, FOUND_OK, "one by one; Linux 6.6 puts many at once");
	else
		finding_set(f, FOUND_WARN, "not in this kernel (CONFIG_UPROBE_EVENTS), or not "
					   "visible: -e u:FUNCTION does not work");
}

void doctor_look_off_cpu(struct finding *f)
{
	int id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP);
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = (unsigned)id);
	int fd = id < 0 ? id : bpf_prog_load(BPF_PROG_TYPE_TRACING, "probee_doctor", "GPL",
					     do_nothing.v, 2, &o);

	if (fd < 0) {
		finding_set(f, FOUND_WARN, "no program runs at switches: %s, so --off-cpu does not "
					   "work", strerror(-fd));
		return;
	}
	close(fd);
	finding_set(f, FOUND_OK, "programs run at switches");
}
