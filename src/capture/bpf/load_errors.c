/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/load_errors.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/rights/capabilities.h"
#include "src/rights/recording_rights.h"
#include "src/base/fail.h"
#include "src/base/memory_limit.h"
#include "src/base/process_limits.h"

#define BTF "/sys/kernel/btf/vmlinux"

/* Settings under which the kernel loads no BPF program, whatever the verifier then says. */
static const struct obstacle {
	const char *path, *word, *why;
} obstacles[] = {
	{ "/sys/kernel/security/lockdown", "[confidentiality]",
	  "lockdown=confidentiality hides memory from BPF programs. Try: boot with "
	  "lockdown=integrity or without lockdown" },
	{ "/proc/sys/net/core/bpf_jit_enable", "0",
	  "the BPF compiler is off. Try: sudo sysctl net.core.bpf_jit_enable=1" },
};

static bool is_there(const struct obstacle *o)
{
	char line[128] = "";
	FILE *f = fopen(o->path, "re");
	bool there = f && fgets(line, sizeof(line), f) && strstr(line, o->word);

	if (f)
		fclose(f);
	return there;
}

/* Says why this kernel loads no programs: -ENOTSUP. 0: no reason is known. */
static int explain_kernel(void)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (!uname(&u) && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	    (major < 5 || (major == 5 && minor < 18)))
		return fail_why(-ENOTSUP,
				"load BPF programs: this kernel, %s, is too old. Try: 5.18 or "
				"later; probee doctor",
				u.release);
	for (size_t i = 0; i < sizeof(obstacles) / sizeof(obstacles[0]); i++)
		if (is_there(&obstacles[i]))
			return fail_why(-ENOTSUP, "load BPF programs: %s", obstacles[i].why);
	return 0;
}

/* bpf() itself says EPERM; the verifier says EACCES, and so does SELinux. */
static int explain_rights(int err)
{
	const uint64_t needed = recording_rights_needed(NEED_STACKS);
	char missing[256], all[256], hint[512];
	bool has_all = !capabilities_names(needed & ~capabilities_effective(), missing,
					   sizeof(missing));

	if (has_all && err == -EACCES) {
		fail_try(err,
			 "-v, which shows what the kernel said: its verifier does not accept them, "
			 "or a security module such as SELinux forbids them; probee doctor",
			 "load BPF programs");
		return -ENOTSUP;
	}
	if (has_all)
		return fail_try(-EPERM,
				"run it outside the container, whose seccomp filter or user "
				"namespace forbids it; probee doctor",
				"load BPF programs");
	capabilities_names(needed | recording_rights_needed(NEED_NAMES), all, sizeof(all));
	snprintf(hint, sizeof(hint),
		 "sudo probee ..., or, for a group of its own (README.md), setcap %s=ep on the "
		 "program; probee doctor",
		 all);
	return fail_try(-EPERM, hint, "load BPF programs without %s", missing);
}

/* libbpf has one error for all that keeps it from the kernel's types. */
static int explain_btf(void)
{
	int err = access(BTF, R_OK) ? -errno : 0;

	if (err == -ENOENT)
		fail_why(0,
			 "load BPF programs: this kernel offers no BTF (" BTF "). "
			 "Try: a kernel with CONFIG_DEBUG_INFO_BTF; probee doctor");
	else if (err)
		fail_try(err, "probee doctor", "load BPF programs: read " BTF);
	else
		fail_why(0,
			 "load BPF programs: " BTF " is there, but could not be read as types of "
			 "the kernel. Try: run it outside the container, whose seccomp filter may "
			 "forbid it; -v shows what libbpf said");
	return -ENOTSUP;
}

int load_errors_explain(int err)
{
	struct limit_cause cause;

	if (err == -EPERM || err == -EACCES)
		return explain_rights(err);
	/* libbpf says the same where it had no memory to read the file. */
	if (err == -ESRCH && !access(BTF, R_OK) && process_limits_explain(-ENOMEM, &cause))
		return fail(-ENOMEM, "load BPF programs");
	if (err == -ESRCH || access(BTF, R_OK))
		return explain_btf();
	if (explain_kernel())
		return -ENOTSUP;
	fail_try(err, "probee doctor; -v shows what the kernel said", "load BPF programs");
	return err == -ENOMEM ? err : -ENOTSUP;
}

int load_errors_cpus(int err)
{
	fail_try(err, "sudo mount -t sysfs sysfs /sys", "read /sys/devices/system/cpu/possible");
	return err == -ENOENT || err == -EACCES ? -ENOTSUP : err;
}

/* Not even the smallest maps fit. */
int load_errors_memory(const struct memory_limit *m)
{
	return fail_why(-ENOMEM,
			"load BPF programs: too little memory: the control group may have %.1f "
			"MiB, %.1f MiB are used. Try: a limit of 128 MiB or more",
			(double)m->limit_bytes / (1 << 20), (double)m->used_bytes / (1 << 20));
}
