/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of /proc, /sys, and the rights and limits of this process. */
#include "src/commands/doctor.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/file_limit.h"
#include "src/base/process_limits.h"
#include "src/commands/doctor_finding.h"
#include "src/probes/tracefs.h"
#include "src/proc/kallsyms.h"
#include "src/proc/pid_namespace.h"
#include "src/rights/capabilities.h"
#include "src/rights/recording_rights.h"
#include "src/rights/sandbox.h"
#include "src/runtimes/runtime.h"
#include "src/symbolize/kernel_hidden.h"

#include ARCH_HEADER

void doctor_first_line(const char *path, char *buf, unsigned size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(buf, (int)size, f))
		buf[0] = 0;
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = 0;
}

/* Not a property of this machine but for its architecture. */
void doctor_look_interpreters(struct finding *f)
{
	char text[RUNTIME_KNOWN_BYTES];

	runtime_known(ARCH_ELF_MACHINE, text);
	finding_set(f, FOUND_OK, "functions of %s are shown", text);
}

void doctor_look_kernel(struct finding *f)
{
	struct utsname u;
	int major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	if (major > 5 || (major == 5 && minor >= 18)) {
		finding_set(f, FOUND_OK, "%.64s %.32s", u.release, u.machine);
		return;
	}
	finding_set(f, FOUND_NO, "%.64s %.32s is older than 5.18", u.release, u.machine);
	finding_remedy(f, "a kernel of 5.18 or later");
}

/* What is missing of the capabilities of this need, as names; their number. */
static size_t missing_of(enum recording_need need, char *names, size_t size)
{
	return capabilities_names(recording_rights_needed(need) & ~capabilities_effective(), names,
				  size);
}

void doctor_look_caps(struct finding *f)
{
	char missing[64], all[64];

	capabilities_names(recording_rights_needed(NEED_STACKS), all, sizeof(all));
	if (missing_of(NEED_STACKS, missing, sizeof(missing))) {
		finding_set(f, FOUND_NO, "missing %s", missing);
		finding_remedy_setcap(f, all);
	} else if (capabilities_in_user_namespace()) {
		finding_set(f, FOUND_WARN, "held in a user namespace, where they may not count");
		finding_remedy(f, "run it outside the container");
	} else {
		finding_set(f, FOUND_OK, "%s", all);
	}
}

void doctor_look_symbol_caps(struct finding *f)
{
	uint64_t names = recording_rights_needed(NEED_NAMES);
	char missing[160], all[160];

	if (!missing_of(NEED_NAMES, missing, sizeof(missing))) {
		capabilities_names(names, all, sizeof(all));
		finding_set(f, FOUND_OK, "%s", all);
		return;
	}
	capabilities_names(names | recording_rights_needed(NEED_STACKS), all, sizeof(all));
	finding_set(f, FOUND_WARN, "missing %s, so some functions will be addresses", missing);
	finding_remedy_setcap(f, all);
}

void doctor_look_lockdown(struct finding *f)
{
	char modes[128];

	doctor_first_line("/sys/kernel/security/lockdown", modes, sizeof(modes));
	if (strstr(modes, "[confidentiality]")) {
		finding_set(f, FOUND_NO, "confidentiality mode hides memory from BPF programs");
		finding_remedy(f, "boot with lockdown=integrity or without lockdown");
	} else {
		finding_set(f, FOUND_OK, "%s", modes[0] ? modes : "not visible here");
	}
}

/*
 * Whether any address is not 0. The first line does not tell: before Linux 6.15 per-CPU variables
 * of x86 begin at 0.
 */
void doctor_look_kallsyms(struct finding *f)
{
	bool seen;
	int err = kallsyms_shows_addresses(&seen);
	struct kernel_hidden hidden;
	char cause[128], help[128];

	if (seen) {
		finding_set(f, FOUND_OK, "/proc/kallsyms shows addresses");
		return;
	}
	kernel_hidden_look(&hidden);
	kernel_hidden_text(&hidden, cause, sizeof(cause), help, sizeof(help));
	finding_set(f, FOUND_WARN, "/proc/kallsyms %s: %s",
		    err ? "cannot be read" : "hides addresses", cause);
	if (hidden.kptr_restrict <= 1 && !hidden.has_syslog)
		finding_remedy_setcap(f, "cap_bpf,cap_perfmon,cap_syslog");
	else
		finding_remedy(f, "%s", help);
}

void doctor_look_tracefs(struct finding *f)
{
	int fd = tracefs_open();

	if (fd >= 0) {
		close(fd);
		finding_set(f, FOUND_OK, "%s", access("/sys/kernel/tracing/events", X_OK)
						       ? "not mounted, but probee can open it"
						       : "/sys/kernel/tracing");
		return;
	}
	finding_set(f, FOUND_WARN, "%s, so tracepoints have no fields for --if", strerror(-fd));
	finding_remedy(f, "as root: mount -t tracefs tracefs /sys/kernel/tracing");
}

void doctor_look_files(struct finding *f)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long need = process_limits_files(nr_cpus > 0 ? (unsigned)nr_cpus : 1, 1);
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	if (r.rlim_max >= need) {
		finding_set(f, FOUND_OK, "at most %lu, %lu are needed",
			    (unsigned long)r.rlim_max, need);
		return;
	}
	finding_set(f, FOUND_NO, "at most %lu, but %lu are needed",
		    (unsigned long)r.rlim_max, need);
	finding_remedy(f, "ulimit -n %lu", need);
}

void doctor_look_pid_namespace(struct finding *f)
{
	int err = pid_namespace_check_proc("/proc/self/status");

	if (err) {
		finding_set(f, FOUND_NO, "/proc %s",
			    err == -EXDEV ? "shows another one than ours"
					  : "does not know this process");
		finding_remedy(f, "sudo mount -t proc proc /proc, or unshare --mount-proc");
	} else if (!pid_namespace_is_inner()) {
		finding_set(f, FOUND_OK, "the machine's own: every process is visible");
	} else {
		finding_set(f, FOUND_WARN, "a container's: processes outside of it are left out");
		finding_remedy(f, "to see them, run it with the PID namespace of the host "
				  "(docker run --pid=host)");
	}
}

void doctor_look_kprobes(struct finding *f)
{
	char line[16];

	doctor_first_line("/sys/bus/event_source/devices/kprobe/type", line, sizeof(line));
	if (line[0])
		finding_set(f, FOUND_OK, "in this kernel");
	else
		finding_set(f, FOUND_WARN, "not in this kernel; sample and snapshot do not need "
					   "them");
}

void doctor_look_jit(struct finding *f)
{
	char line[16];

	doctor_first_line("/proc/sys/net/core/bpf_jit_enable", line, sizeof(line));
	if (line[0] != '0') {
		finding_set(f, FOUND_OK, "%s", line[0] ? "on" : "its setting is not visible here");
		return;
	}
	finding_set(f, FOUND_NO, "off, and only compiled programs may have loops by callback");
	finding_remedy(f, "sudo sysctl net.core.bpf_jit_enable=1");
}

/*
 * What a sandbox puts in force here, tried by a child that enters one. -1: not even the first part.
 */
static int sandbox_tried(const struct sandbox_rules *rules)
{
	int status = 0, parts;
	pid_t pid = fork();

	if (!pid) {
		parts = sandbox_enter(rules);
		_exit(parts < 0 ? 0 : parts);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Landlock only repeats what the filter of system calls forbids, so that is no warning. */
void doctor_look_sandbox(struct finding *f)
{
	const unsigned needed = SANDBOX_RIGHTS | SANDBOX_LIMITS | SANDBOX_CALLS;
	const struct sandbox_rules rules = { SANDBOX_WORKER, .memory_bytes = 64 << 20 };
	int tried = sandbox_tried(&rules);
	unsigned parts = tried < 0 ? 0 : (unsigned)tried;
	char held[128], missing[128];

	sandbox_text(parts, held, sizeof(held));
	sandbox_text(sandbox_parts_of(&rules) & ~parts, missing, sizeof(missing));
	finding_set(f, needed & ~parts ? FOUND_WARN : FOUND_OK, "%s%s%s", held,
		    !missing[0] ? "" : held[0] ? ", but not " : "none: no ", missing);
	if (needed & ~parts)
		finding_remedy(f, "run it outside the container, or a kernel with "
				  "CONFIG_SECCOMP_FILTER");
}
