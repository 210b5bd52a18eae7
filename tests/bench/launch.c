/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch OUT COMMAND...: runs COMMAND and writes to OUT
 *	pid N, mono_ns N, real_ns N	just before its exec
 *	cpu_ms N, wall_ms N, rss_kib N, status N	after its end
 * SIGINT and SIGTERM are for COMMAND: launch waits for it.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static double ms_of(struct timeval tv)
{
	return (double)tv.tv_sec * 1e3 + (double)tv.tv_usec / 1e3;
}

static int in_child(FILE *out, char **argv)
{
	fprintf(out, "pid %d\nmono_ns %" PRIu64 "\nreal_ns %" PRIu64 "\n", (int)getpid(),
		clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME));
	fflush(out);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rusage use;
	uint64_t begin_ns;
	int status;
	FILE *out;
	pid_t pid;

	out = argc > 2 ? fopen(argv[1], "we") : NULL;
	if (!out) {
		fprintf(stderr, "usage: launch OUT COMMAND...\n");
		return 2;
	}
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	pid = fork();
	if (!pid)
		return in_child(out, argv + 2);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		return 1;
	fseek(out, 0, SEEK_END);
	fprintf(out, "cpu_ms %.3f\nwall_ms %.3f\nrss_kib %ld\nstatus %d\n", ms_of(use.ru_utime) + ms_of(use.ru_stime),
		(double)(clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6, use.ru_maxrss, status);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
