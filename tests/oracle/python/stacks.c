/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks SAMPLES THREADS WORKLOAD PYTHON [OPTION...]: stops a thread of a running Python somewhere, runs the frame program over
 * its memory, names the frames, and then has the thread itself write its stack (faulthandler, in the handler of a signal that
 * it gets at that very instruction). Both must be equal in every function, file and line. "list" as first OPTION: the thread's
 * state is looked for in the list of threads, not by its slot. "late": frames are named 50 ms after the thread went on, when code
 * that was made for one call may be gone; frames that are known to be gone then count as equal.
 *
 * Left out, and counted: instants at which the judge fails, crashes (the workload is begun anew then) or does not end. Python 3.13.0's faulthandler crashes where the loop was entered and
 * has no frame yet, and 3.14's gives up at some, with or without a word. Where we cannot walk, the judge is not asked, because it would
 * crash: in 3.12 there may be anything in a few instructions at the beginning of the loop's function.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "src/runtimes/python/python_layout.h"
#include "tests/oracle/python/target.h"
#include "tests/unit/runtime_own.h"
#include "unwind/frame_replay.h"

#define MAX_TEXT (1u << 18)
#define JUDGE_FRAMES 100		/* faulthandler writes no more */

static struct {
	unsigned long samples, equal, frames, loops, no_judge, stale, marks, wrong;
} count;
static bool is_late;
static bool is_judging, has_crashed;	/* the handler runs; it has ended the process */
static char truth[MAX_TEXT], own[MAX_TEXT];

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static pid_t start(char **argv, int *fd)
{
	char number[16], *args[32] = { argv[1], "-B", argv[0], NULL, "--fd", number };
	int pipes[2], ready[2], nr = 6;
	char line[64];
	pid_t pid;

	need(!pipe(pipes) && !pipe(ready), "pipe");
	args[3] = argv[2];
	for (int i = 3; argv[i] && nr < 31; i++)
		args[nr++] = argv[i];
	snprintf(number, sizeof(number), "%d", pipes[1]);
	fcntl(pipes[0], F_SETPIPE_SZ, 1 << 20);
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (!pid) {
		dup2(ready[1], 1);
		execv(args[0], args);
		_exit(127);
	}
	close(pipes[1]);
	close(ready[1]);
	need(read(ready[0], line, sizeof(line)) > 0, "the workload");
	*fd = pipes[0];
	return pid;
}

/* Lets it go on from where it stopped with that status. Only signals that were on their way to it are delivered. */
static void resume(int how, pid_t tid, int status)
{
	int sig = status >> 16 || status >> 8 == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);

	need(!ptrace(how, tid, 0, sig), "resume");
}

/* Ends with a word on why there is nothing to wait for any more. */
static void it_ended(pid_t tid, int status)
{
	has_crashed = is_judging && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
	if (has_crashed)
		return;
	if (WIFSIGNALED(status))
		printf("thread %d was killed by %s\n", tid, strsignal(WTERMSIG(status)));
	else
		printf("thread %d ended with status %d\n", tid, WEXITSTATUS(status));
	exit(1);
}

/*
 * The status that the thread stops with; 0: it did not stop within five seconds. All threads are waited for, because a
 * process that was killed has a leader that waitpid() does not give before the others.
 */
static int wait_for_stop(pid_t tid)
{
	for (int tries = 0; tries < 51000; tries++) {
		int status;
		pid_t got = waitpid(-1, &status, __WALL | WNOHANG);

		need(got >= 0, "wait");
		/* The handler writes word by word, and each takes two stops: most come at once. */
		if (!got && tries < 1000)
			sched_yield();
		else if (!got)
			usleep(100);
		else if (!WIFSTOPPED(status))
			it_ended(got, status);
		else if (got == tid)
			return status;
		else
			resume(PTRACE_CONT, got, status);
		if (has_crashed)
			return 0;
	}
	return 0;
}

static void stop(pid_t tid)
{
	int status;

	need(!ptrace(PTRACE_INTERRUPT, tid, 0, 0), "interrupt");
	while ((status = wait_for_stop(tid)) && status >> 16 != PTRACE_EVENT_STOP)
		resume(PTRACE_CONT, tid, status);
	need(status, "it does not stop");
}

/*
 * The thread gets the signal, and its handler runs before anything else. The handler has written all when it asks the kernel to
 * return from it: then it may go on, and what is in the pipe is the stack of this instant and of no other. False: it never asked.
 */
static bool go_on_with_signal(pid_t pid, pid_t tid)
{
	struct user_regs_struct regs = { 0 };
	int status;

	is_judging = true;
	syscall(SYS_tgkill, pid, tid, SIGUSR1);
	resume(PTRACE_CONT, tid, SIGTRAP | PTRACE_EVENT_STOP << 16);
	while ((status = wait_for_stop(tid))) {
		if (status >> 8 == (SIGTRAP | 0x80)) {
			need(!ptrace(PTRACE_GETREGS, tid, 0, &regs), "registers");
			if (regs.orig_rax == SYS_rt_sigreturn)
				break;
		}
		resume(PTRACE_SYSCALL, tid, status);
	}
	is_judging = false;
	if (status)
		resume(PTRACE_CONT, tid, status);
	return status;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(text + len - n, end, n);
}

/* Whether the outermost frame is there. */
static bool is_whole(char *text, size_t len)
{
	size_t at = len;
	int lines = 0;

	text[len] = 0;
	for (const char *p = text; (p = strstr(p, "\n  File ")); p++)
		lines++;
	/* 3.13 does not say that more frames follow. */
	if (ends_with(text, len, "  ...\n") || ends_with(text, len, " in _bootstrap\n") ||
	    (lines >= JUDGE_FRAMES && ends_with(text, len, "\n")))
		return true;
	if (!ends_with(text, len, " in <module>\n"))
		return false;
	while (at > 1 && text[at - 2] != '\n')
		at--;
	return !memmem(text + at - 1, len - at + 1, "\"<made", 6);
}

/* All that the handler has written, which is less than the pipe holds. */
static void read_truth(int fd)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, truth + len, sizeof(truth) - 1 - len)) > 0)
		len += (size_t)n;
	truth[len] = 0;
}

/* As faulthandler: what is not ASCII is escaped. */
static size_t put_text(char *to, const char *from)
{
	const uint8_t *p = (const uint8_t *)from;
	size_t at = 0;

	while (*p) {
		uint32_t c = *p++;
		int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

		c &= more ? 0x3fu >> more : 0x7fu;
		while (more--)
			c = c << 6 | (*p++ & 0x3f);
		if (c >= 32 && c < 127)
			to[at++] = (char)c;
		else
			at += (size_t)sprintf(to + at, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	}
	return at;
}

static size_t put_frame(struct target *t, uint64_t code, uint64_t rest, char *to)
{
	struct runtime_code *c = NULL;
	uint32_t line;
	size_t at;
	int err = runtime_code_read(&t->image, t->bias, &t->memory, RUNTIME_FRAME_INTERPRETED, code, (uint32_t)(rest >> 32), &c);

	if (err) {
		count.stale++;
		return (size_t)sprintf(to, "  ?\n");
	}
	at = (size_t)sprintf(to, "  File \"");
	at += put_text(to + at, c->file);
	err = runtime_code_line(c, (uint32_t)rest, &line);
	if (err == -ESTALE) {
		count.stale++;
		runtime_code_free(c);
		return (size_t)sprintf(to, "  ?\n");
	}
	at += (size_t)(err ? sprintf(to + at, "\", line ??? in ") : sprintf(to + at, "\", line %u in ", line));
	at += put_text(to + at, strrchr(c->name, '.') ? strrchr(c->name, '.') + 1 : c->name);
	to[at++] = '\n';
	to[at] = 0;
	runtime_code_free(c);
	return at;
}

static void put_stack(struct target *t, const struct frame_replay_result *r)
{
	size_t at = 0;

	own[0] = 0;
	for (uint32_t i = 0; i < r->nr_loops; i++)
		count.loops += r->loop_at[i] < (i + 1 < r->nr_loops ? r->loop_at[i + 1] : r->nr);
	for (uint32_t i = 0; i + 1 < r->nr; i += 2) {
		count.frames++;
		if (i < 2 * JUDGE_FRAMES)
			at += put_frame(t, r->words[i] & UNWIND_ADDRESS_MASK, r->words[i + 1], own + at);
	}
}

/* Whether the judge would fail here: the loop was entered and has no frame yet. */
static bool has_no_frame(struct target *t, uint64_t state_at)
{
	const struct python_layout *l = OWN(python_layout, t->image);
	uint64_t state = 0, frame = 0;
	uint8_t owner = 0;

	if (l->minor < 12)
		return false;
	target_read_u64(&t->memory, state_at, &state);
	target_read_u64(&t->memory, state + l->thread_frame, &frame);
	if (l->minor == 12)
		target_read_u64(&t->memory, frame + l->cframe_frame, &frame);
	target_read(&t->memory, frame + l->frame_owner, &owner, 1);
	return owner >= 3;
}

/* Puts what the judge says in the place of frames whose code is known to be gone, and counts the wrong ones. */
static void forgive(char *t)
{
	static char both[MAX_TEXT];
	char *p = own;
	size_t at = 0;

	while (*p) {
		size_t n = strcspn(p, "\n") + 1, m = strcspn(t, "\n") + 1;
		bool gone = !strncmp(p, "  ?", 3);

		count.wrong += !gone && (n != m || strncmp(p, t, n));
		memcpy(both + at, gone && *t ? t : p, gone && *t ? m : n);
		at += gone && *t ? m : n;
		p += n;
		t += *t ? m : 0;
	}
	both[at] = 0;
	strcpy(own, both);
}

static void compare(void)
{
	char *t = strstr(truth, "first):\n"), *p = own, *dots;

	if (!t || strstr(truth, "<invalid frame>") || strstr(truth, "  File ???") || strstr(truth, " in \n") ||
	    strstr(truth, " in ???\n") || !is_whole(truth, strlen(truth))) {
		count.no_judge++;
		return;
	}
	t += 8;
	dots = strstr(t, "  ...\n");
	if (dots)
		*dots = 0;
	count.samples++;
	if (is_late)
		forgive(t);
	if (!strcmp(t, own)) {
		count.equal++;
		return;
	}
	if (count.samples - count.equal > 3)
		return;
	while (*t && *t == *p)
		t++, p++;
	while (p > own && p[-1] != '\n')
		t--, p--;
	printf("the judge says %.*s\nwe say         %.*s\n", (int)strcspn(t, "\n"), t, (int)strcspn(p, "\n"), p);
}

static int threads_of(pid_t pid, pid_t *tids, int max)
{
	char path[64];
	struct dirent *e;
	int nr = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && nr < max)
			tids[nr++] = atoi(e->d_name);
	if (d)
		closedir(d);
	return nr;
}

static void sample(struct target *t, struct frame_replay_input *r, uint64_t slot, pid_t tid, int fd)
{
	static struct frame_replay_result result;
	struct user_regs_struct regs;

	stop(tid);
	need(!ptrace(PTRACE_GETREGS, tid, 0, &regs), "registers");
	r->thread_pointer = regs.fs_base;
	frame_replay(r, &result);
	if (!is_late)
		put_stack(t, &result);
	if (result.failure || has_no_frame(t, regs.fs_base + slot)) {
		count.samples += !!result.failure;
		count.marks += !!result.failure;
		count.no_judge += !result.failure;
		need(!ptrace(PTRACE_CONT, tid, 0, 0), "continue");
		return;
	}
	if (!go_on_with_signal(t->pid, tid)) {
		count.no_judge++;
		return;
	}
	read_truth(fd);
	if (is_late) {
		usleep(50000);
		put_stack(t, &result);
	}
	compare();
}

/* A workload that runs, with all of its threads traced. */
struct run {
	struct target t;
	struct frame_replay_input in;
	struct frame_program program;
	uint64_t slot;			/* of the thread's state */
	pid_t tids[64];
	int fd, nr;
};

static void begin(struct run *r, char **args, bool by_list)
{
	struct unwind_runtime rt;
	pid_t pid = start(args, &r->fd);

	usleep(300000);
	need(!target_open(&r->t, pid) && r->t.image.is_known, "the runtime");
	need(!runtime_program(&r->t.image, &r->program), "the program");
	runtime_constants(&r->t.image, r->t.bias, &rt);
	need(!runtime_shorten(&r->t.image, r->t.bias, &r->t.memory, &rt), "the slot");
	r->in = (struct frame_replay_input){ .program = &r->program, .read = target_memory_read, .ctx = &r->t };
	memcpy(r->in.consts, rt.consts, sizeof(r->in.consts));
	r->slot = rt.consts[1];
	if (by_list)
		r->in.consts[1] = 0;
	r->nr = threads_of(pid, r->tids, 64);
	for (int i = 0; i < r->nr; i++)
		need(!ptrace(PTRACE_SEIZE, r->tids[i], 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD), "seize");
}

static void end(struct run *r)
{
	int status;

	kill(r->t.pid, SIGKILL);
	while (waitpid(-1, &status, __WALL) > 0)
		;
	close(r->fd);
}

int main(int argc, char **argv)
{
	static struct run r;
	char title[RUNTIME_TITLE_BYTES], wrong[64];
	unsigned long want = argc > 4 ? strtoul(argv[1], NULL, 10) : 0, crashes = 0;
	char *args[32] = { argv[3], argv[4], argv[2] };
	bool by_list = argc > 5 && !strcmp(argv[5], "list");
	bool is_mode = by_list || (argc > 5 && !strcmp(argv[5], "late"));

	alarm(100 + want / 10);
	need(argc > 4 && argc < 30, "usage");
	is_late = is_mode && !by_list;
	for (int i = 5 + is_mode, n = 3; i < argc; i++)
		args[n++] = argv[i];
	begin(&r, args, by_list);
	srand(1);
	for (unsigned long i = 0; i < want; i++) {
		usleep(200 + rand() % 3000);
		sample(&r.t, &r.in, r.slot, r.tids[i % (unsigned)r.nr], r.fd);
		if (!has_crashed)
			continue;
		has_crashed = false;
		need(++crashes <= 3 + want / 500, "its judge crashes all the time");
		end(&r);
		begin(&r, args, by_list);
	}
	end(&r);
	runtime_title(&r.t.image, title);
	snprintf(wrong, sizeof(wrong), ", %lu frames named wrongly", count.wrong);
	printf("%s: %lu stacks, %lu equal (%.2f %%), %.1f frames and %.1f loops each, %lu marks, %lu frames whose code was gone, %lu left out (%lu crashes of the judge)%s\n",
	       title, count.samples, count.equal, 100.0 * count.equal / (count.samples + !count.samples),
	       1.0 * count.frames / want, 1.0 * count.loops / want, count.marks, count.stale, count.no_judge,
	       crashes, is_late ? wrong : "");
	/*
	 * In 3.11 and 3.12 the judge says the frames of an earlier call in a few instructions at the beginning
	 * of the loop's function, where we say none.
	 */
	return (count.samples - count.equal) * 200 > count.samples || count.samples < want / 2;
}
