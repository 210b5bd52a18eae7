/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the kernel's symbols are read. The files are opened at the start, with the rights that this
 * needs (kernel_symbols.h). They are read by a worker without rights: for scans at once, because
 * nearly every row has frames of the kernel; for samples when the first one has such a frame, which
 * of many programs none ever has. Until then samples are held (held_stacks.h), and only what
 * cannot be held waits. A recording of who wakes threads begins when they are read, because the
 * kernel's side has to be told where interrupts enter the kernel.
 */
#include <poll.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/processes/task_events.h"
#include "src/capture/recorder_parts.h"
#include "src/capture/session/kernel_trim.h"
#include "src/capture/session/session.h"
#include "src/parse/kernel_file.h"
#include "src/symbolize/kernel_symbols.h"

/* Behind tables that stacks wait for, before all others (binary_store.c). */
#define PRIORITY_KERNEL -75
#define LOOK_MS 50

/* Its debug information, where that is installed. */
static void find_debug_file(struct kernel_job *k)
{
	const struct kernel_region *r = kernel_symbols_region_named(k->symbols, "vmlinux");
	struct kernel_wanted wanted = { 0 };
	struct utsname uts;
	struct stat st;
	int fd;

	if (!r || uname(&uts))
		return;
	wanted = (struct kernel_wanted){ uts.release, r->build_id, r->build_id_len };
	fd = kernel_file_find(k->opener, k->parsers, &wanted, &st);
	if (fd < 0)
		return;
	k->debug = (struct kernel_debug){
		fd, { st.st_dev, st.st_ino, st.st_uid, st.st_ctim },
	};
}

static void kernel_run(struct worker_job *job)
{
	struct kernel_job *k = (struct kernel_job *)job;

	if (!kernel_symbols_read(&k->files, &k->symbols) && !k->no_names)
		find_debug_file(k);
}

static void kernel_done(struct worker_job *job, bool cancelled)
{
	struct kernel_job *k = (struct kernel_job *)job;

	(void)cancelled;
	kernel_files_close(&k->files);
	k->is_read = true;
}

static void ask(struct recorder *r)
{
	struct kernel_job *k = &r->kernel;

	if (k->is_asked)
		return;
	k->is_asked = true;
	k->job.run = kernel_run;
	k->job.done = kernel_done;
	k->job.priority = PRIORITY_KERNEL;
	worker_submit(r->pool, &k->job);
}

void recorder_kernel_open(struct recorder *r)
{
	r->kernel.files = (struct kernel_files){ -1, -1 };
	r->kernel.debug.fd = -1;
	r->kernel.opener = r->opener;
	r->kernel.parsers = r->parsers;
	r->kernel.no_names = r->opts.no_names;
	r->kernel.is_there = r->opts.user_only;
	if (r->opts.user_only)
		return;
	kernel_files_open(&r->kernel.files);
	kernel_hidden_look(&r->kernel.hidden);
	if (r->opts.programs & CAPTURE_SNAPSHOT)
		ask(r);
}

static void say_hidden(const struct kernel_hidden *hidden)
{
	char cause[128], remedy[128];

	kernel_hidden_text(hidden, cause, sizeof(cause), remedy, sizeof(remedy));
	note_kept("kernel functions stay without names, because the kernel hides their addresses: "
		  "%s. Try: %s", cause, remedy);
}

static int give_held(void *ctx, const struct wire_stack *stack)
{
	return session_sample(((struct recorder *)ctx)->session, stack, 0);
}

/* Printed only once there is a session: who may not record at all should read that error alone. */
int recorder_kernel_take(struct recorder *r)
{
	struct kernel_job *k = &r->kernel;

	if (k->is_there || !k->is_read || !r->session)
		return 0;
	k->is_there = true;
	if (k->symbols && kernel_symbols_hidden(k->symbols))
		say_hidden(&k->hidden);
	session_kernel(r->session, &(struct session_kernel){ k->symbols, &k->debug, &k->code });
	return held_stacks_give(&k->held, give_held, r);
}

int recorder_kernel_wait(struct recorder *r)
{
	struct pollfd pfd = { .fd = worker_fd(r->pool), .events = POLLIN };

	if (!r->kernel.is_asked)
		return 0;
	for (worker_reap(r->pool); !r->kernel.is_read; worker_reap(r->pool))
		poll(&pfd, 1, LOOK_MS);
	return recorder_kernel_take(r);
}

int recorder_kernel_entries(struct recorder *r, struct kernel_entries *entries)
{
	int err = 0;

	if (!r->kernel.is_there) {
		ask(r);
		err = recorder_kernel_wait(r);
	}
	*entries = kernel_trim_entries(r->kernel.symbols);
	return err;
}

int recorder_kernel_settle(struct recorder *r)
{
	return r->kernel.held.first ? recorder_kernel_wait(r) : 0;
}

int recorder_give(struct recorder *r, const struct wire_stack *stack, uint32_t scan)
{
	int err = 0;

	if (!r->kernel.is_there && stack->head->nr_kernel) {
		ask(r);
		if (!scan && held_stacks_can(stack) && !held_stacks_add(&r->kernel.held, stack))
			return 0;
		err = recorder_kernel_wait(r);
	}
	if (!err && session_must_wait(r->session, stack) && !scan && held_stacks_can(stack) &&
	    !held_stacks_add(&r->code_held, stack))
		return 0;
	return err ? err : session_sample(r->session, stack, scan);
}

static bool has_names(void *ctx, const struct wire_stack *stack)
{
	return !session_must_wait(((struct recorder *)ctx)->session, stack);
}

int recorder_code_take(struct recorder *r)
{
	return held_stacks_give_some(&r->code_held, has_names, give_held, r);
}

int recorder_code_settle(struct recorder *r, struct patience *wait)
{
	int err = recorder_code_take(r);

	while (!err && r->code_held.first && patience_lasts(wait)) {
		session_hurry(r->session);
		err = session_names(r->session, NULL);
		if (!err)
			err = recorder_code_take(r);
	}
	return err ? err : held_stacks_give(&r->code_held, give_held, r);
}

void recorder_kernel_code(void *recorder, const struct task_event *ev)
{
	struct recorder *r = recorder;

	kernel_code_event(&r->kernel.code,
			  &(struct kernel_code_event){ ev->time_ns, ev->start, (uint32_t)ev->len,
						       ev->is_bpf, ev->is_end, ev->text });
}

void recorder_kernel_close(struct recorder *r)
{
	kernel_code_release(&r->kernel.code);
	kernel_files_close(&r->kernel.files);
	held_stacks_release(&r->kernel.held);
	held_stacks_release(&r->code_held);
	kernel_symbols_free(r->kernel.symbols);
	if (r->kernel.debug.fd >= 0)
		close(r->kernel.debug.fd);
}
