/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks SAMPLES AGENT CLASSES JAVA [OPTION...]: stops the main thread of a running JavaMix somewhere, runs the frame program over
 * its memory, names the frames, and then has the JVM itself say where the thread is (AsyncGetCallTrace in the handler of a signal that
 * it gets at that very instruction; agent.c). Both must be equal in every method, file and line. Last line: a summary.
 *
 * Only instants in generated code are looked at. Left out, and counted: instants at which the judge has no answer. The line of an interpreted
 * frame that was interrupted is not compared, because the judge takes the place of the last call instead. Where interrupted compiled code
 * has no debug information, we know no line, and the judge says that of the first bytecode. Stubs are not Java's frames.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "src/model/record.h"
#include "src/runtimes/hotspot/hotspot_program.h"
#include "tests/oracle/python/target.h"
#include "unwind/frame_replay.h"

#include ARCH_HEADER

#define MAX_TEXT (1u << 20)
#define CODES 20000

static struct {
	unsigned long samples, equal, native, frames, outside, no_judge, marks, gone, short_of_root, turns;
} count;
static char truth[MAX_TEXT], own[MAX_TEXT];
static struct target target;
static struct unwind_runtimes runtimes;
#define runtime runtimes.slots[0]
static struct frame_program program;
static int to_agent;
static FILE *from_agent;
static char first_line[64];

/* Code objects that were read: as a recording keeps them. */
static struct { uint64_t word; uint32_t cookie; struct runtime_code *code; } codes[CODES];
static unsigned nr_codes;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static pid_t start(const char *agent, char **argv)
{
	char agent_option[512], *args[40] = { argv[1], agent_option, "-cp", argv[0] };
	int in[2], out[2], nr = 4;
	pid_t pid;

	need(!pipe(in) && !pipe(out), "pipe");
	snprintf(agent_option, sizeof(agent_option), "-agentpath:%s=%d,%d", agent, in[0], out[1]);
	for (int i = 2; argv[i] && nr < 38; i++)
		args[nr++] = argv[i];
	args[nr] = "JavaMix";
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(args[0], args);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	to_agent = in[1];
	from_agent = fdopen(out[0], "r");
	need(fgets(first_line, sizeof(first_line), from_agent), "the agent");
	return pid;
}

/* A thread that goes on is not traced any more. While it is traced, the signals that HotSpot sends to it (safepoints) would wait here. */
static void stop(pid_t tid)
{
	int status;

	need(!ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD), "seize");
	need(!ptrace(PTRACE_INTERRUPT, tid, 0, 0), "interrupt");
	do
		need(waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status), "it ended");
	while (status >> 16 != PTRACE_EVENT_STOP && !ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status)));
}

static int wait_for_stop(pid_t tid)
{
	int status;

	need(waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status), "it ended");
	return WSTOPSIG(status);
}

/* The handler runs before anything else; it has run when it asks the kernel to return. HotSpot's own signals are delivered. */
static void go_on_with_signal(pid_t pid, pid_t tid)
{
	struct user_regs_struct regs = { 0 };
	bool began = false;
	int sig;

	syscall(SYS_tgkill, pid, tid, SIGUSR1);
	need(!ptrace(PTRACE_CONT, tid, 0, 0), "continue");
	sig = wait_for_stop(tid);
	while (!began || regs.orig_rax != SYS_rt_sigreturn) {
		began |= sig == SIGUSR1;
		need(!ptrace(PTRACE_SYSCALL, tid, 0, sig == (SIGTRAP | 0x80) || sig == SIGTRAP ? 0 : sig), "deliver");
		sig = wait_for_stop(tid);
		if (sig == (SIGTRAP | 0x80))
			need(!ptrace(PTRACE_GETREGS, tid, 0, &regs), "registers");
	}
	need(!ptrace(PTRACE_DETACH, tid, 0, 0), "go on");
}

/* What the agent says, without the number of frames; that is the result. */
static int judge(char *text)
{
	char line[2048];
	size_t len = 0;
	int nr;

	need(write(to_agent, "?", 1) == 1 && fgets(line, sizeof(line), from_agent), "the agent");
	nr = atoi(line);
	text[0] = 0;
	while (fgets(line, sizeof(line), from_agent) && strcmp(line, "\n"))
		if (len + strlen(line) < MAX_TEXT)
			len += (size_t)sprintf(text + len, "%s", line);
	return nr;
}

static struct runtime_code *code_of(uint64_t word, uint32_t cookie)
{
	struct runtime_code *c;

	for (unsigned i = 0; i < nr_codes; i++)
		if (codes[i].word == word && codes[i].cookie == cookie)
			return codes[i].code;
	if (runtime_code_read(&target.image, target.bias, &target.memory, word >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS,
			      word & UNWIND_ADDRESS_MASK, cookie, &c))
		c = NULL;
	need(nr_codes < CODES, "too much code");
	codes[nr_codes].word = word;
	codes[nr_codes].cookie = cookie;
	codes[nr_codes++].code = c;
	return c;
}

/*
 * Where the thread was interrupted: of an interpreted frame 0, and where compiled code has no debug information the line of its first
 * bytecode, because that is what the judge says then.
 */
static uint32_t line_of(const struct runtime_line *l, bool is_leaf)
{
	if (is_leaf && l->tier == TIER_INTERPRETED)
		return 0;
	return l->line || !is_leaf ? l->line : l->first_line;
}

static size_t put_frame(uint64_t word, uint64_t rest, char *text, bool is_leaf)
{
	struct runtime_line lines[RUNTIME_MAX_LINES];
	struct runtime_code *c = code_of(word, (uint32_t)(rest >> 32));
	int nr = c ? runtime_code_lines(c, (uint32_t)rest, lines, RUNTIME_MAX_LINES) : -ESTALE;
	size_t len = 0;

	if (nr < 0) {
		count.gone++;
		return (size_t)sprintf(text, "gone\n");
	}
	for (int i = 0; i < nr; i++)
		if (lines[i].tier != TIER_BUILTIN)
			len += (size_t)sprintf(text + len, "%s|%s|%u\n", lines[i].name, lines[i].file ? lines[i].file : "",
					       line_of(&lines[i], is_leaf));
	count.frames += (unsigned)nr;
	return len;
}

static void registers(pid_t tid, uint64_t regs[ARCH_NR_REGS])
{
	struct user_regs_struct r;

	_Static_assert(sizeof(r) >= ARCH_NR_REGS * 8, "as the kernel keeps them");
	need(!ptrace(PTRACE_GETREGS, tid, 0, &r), "registers");
	memcpy(regs, &r, ARCH_NR_REGS * 8);
}

static bool is_generated(uint64_t pc)
{
	for (int i = 0; i < PROGRAM_HEAPS; i++)
		if (pc - runtime.heaps[i].begin < runtime.heaps[i].bytes)
			return true;
	return false;
}

/* The line of the innermost frame of the judge is left out where ours is. */
static void drop_first_line(char *text)
{
	char *end = strchr(text, '\n'), *bar = end;

	while (bar && bar > text && *bar != '|')
		bar--;
	if (!bar || bar == text)
		return;
	memmove(bar + 2, end, strlen(end) + 1);
	bar[1] = '0';
}

static void compare(const uint64_t *regs, const struct frame_replay_result *r, bool leaf_is_interpreted)
{
	static unsigned shown;
	size_t i = 0, n = 0;

	if (leaf_is_interpreted)
		drop_first_line(truth);
	count.samples++;
	count.native += r->nr / 2;
	count.turns += r->turns;
	count.marks += r->failure != 0;
	if (!strcmp(truth, own)) {
		count.equal++;
		return;
	}
	for (; truth[i] && truth[i] == own[i]; i++)
		n += truth[i] == '\n';
	while (i && truth[i - 1] != '\n')
		i--;
	count.short_of_root += !strcmp(own + i, "");
	if (shown++ >= 10)
		return;
	printf("differs at frame %zu of %u, pc %llx, failure %u: ours %.*s, the JVM's %.*s\n", n, r->nr / 2, (unsigned long long)regs[ARCH_REG_PC],
	       r->failure, (int)strcspn(own + i, "\n"), own + i, (int)strcspn(truth + i, "\n"), truth + i);
}

static void look(pid_t pid, pid_t tid)
{
	static struct frame_replay_result r;
	uint64_t regs[ARCH_NR_REGS];
	struct frame_replay_input in = { .program = &program, .read = target_memory_read, .ctx = &target, .runtimes = &runtimes, .regs = regs };
	size_t len = 0;
	bool is_interpreted;

	stop(tid);
	registers(tid, regs);
	if (!is_generated(regs[ARCH_REG_PC])) {
		count.outside++;
		need(!ptrace(PTRACE_DETACH, tid, 0, 0), "go on");
		return;
	}
	memcpy(in.consts, runtime.consts, sizeof(in.consts));
	frame_replay(&in, &r);
	own[0] = 0;
	is_interpreted = r.nr && !(r.words[0] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS);
	for (uint32_t i = 0; i + 1 < r.nr && len < MAX_TEXT - 100000; i += 2)
		if ((r.words[i] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS) != RUNTIME_FRAME_MARK)
			len += put_frame(r.words[i], r.words[i + 1], own + len, !i);
	go_on_with_signal(pid, tid);
	if (judge(truth) <= 0)
		count.no_judge++;
	else
		compare(regs, &r, is_interpreted);
}

int main(int argc, char **argv)
{
	unsigned long want = argc > 4 ? strtoul(argv[1], NULL, 10) : 0;
	pid_t pid, tid;
	int err;

	alarm(550);
	need(argc > 4 && argc < 30, "usage");
	pid = start(argv[2], argv + 3);
	tid = atoi(first_line);
	usleep(2000000);
	need(!target_open(&target, pid) && target.image.is_known, "the runtime");
	err = runtime_attach(&target.image, target.bias, &target.memory, &runtime);
	errno = -err;
	need(!err && !runtime_program(&target.image, &program), "attach");
	runtime.flags |= RUNTIME_IS_THERE;
	srand(1);
	while (count.samples < want && count.outside + count.no_judge < 20 * want + 1000) {
		usleep(500 + (useconds_t)rand() % 4000);
		look(pid, tid);
	}
	printf("java %u.%u.%u: %lu of %lu stacks equal (%.2f %%), %lu frames from %lu native ones, %.1f turns each; %lu cut, %lu code gone, %lu shorter; "
	       "%lu without a judge, %lu elsewhere\n",
	       target.image.version >> 24, target.image.version >> 16 & 255, target.image.version >> 8 & 255, count.equal, count.samples,
	       100. * (double)count.equal / (double)(count.samples + !count.samples), count.frames, count.native,
	       (double)count.turns / (double)(count.native + !count.native), count.marks, count.gone, count.short_of_root, count.no_judge, count.outside);
	kill(pid, SIGKILL);
	return count.samples && (double)count.equal >= .99 * (double)count.samples ? 0 : 1;
}
