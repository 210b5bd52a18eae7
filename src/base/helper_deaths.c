/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/helper_deaths.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/clock.h"
#include "src/base/fail.h"

#define MAX_SAID 32			/* names and causes; further ones are counted only */
#define END_MS 200

struct helper_deaths {
	pthread_mutex_t lock;		/* of all that follows */
	uint64_t count;
	struct {
		const char *name;
		int status;
	} said[MAX_SAID];
	size_t nr_said;
};

struct helper_deaths *helper_deaths_new(void)
{
	struct helper_deaths *d = calloc(1, sizeof(*d));

	if (d)
		pthread_mutex_init(&d->lock, NULL);
	return d;
}

void helper_deaths_free(struct helper_deaths *d)
{
	if (!d)
		return;
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int helper_exit_status(int err)
{
	return err < 0 && HELPER_EXIT_ERRNO - err <= UINT8_MAX ? HELPER_EXIT_ERRNO - err : 1;
}

int helper_begin_error(int status)
{
	if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status) <= HELPER_EXIT_ERRNO)
		return 0;
	return HELPER_EXIT_ERRNO - WEXITSTATUS(status);
}

void helper_end_text(int status, char *buf, size_t size)
{
	if (status == HELPER_END_UNKNOWN)
		snprintf(buf, size, "ended");
	else if (status == HELPER_END_SILENT)
		snprintf(buf, size, "did not answer and was ended");
	else if (status == HELPER_END_STOPPED)
		snprintf(buf, size, "was stopped by somebody and therefore ended");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		snprintf(buf, size, "was killed for the CPU time that it took");
	else if (WIFSIGNALED(status))
		snprintf(buf, size, "was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (helper_begin_error(status))
		snprintf(buf, size, "could not begin: %s", strerror(-helper_begin_error(status)));
	else
		snprintf(buf, size, "ended with status %d", WEXITSTATUS(status));
}

/* true: it was not said before. The lock is held. */
static bool is_new(struct helper_deaths *d, const char *name, int status)
{
	for (size_t i = 0; i < d->nr_said; i++)
		if (!strcmp(d->said[i].name, name) && d->said[i].status == status)
			return false;
	if (d->nr_said == MAX_SAID)
		return false;
	d->said[d->nr_said].name = name;
	d->said[d->nr_said++].status = status;
	return true;
}

void helper_deaths_add(struct helper_deaths *d, const char *name, int status)
{
	bool says = true;
	char how[96];

	if (d) {
		pthread_mutex_lock(&d->lock);
		d->count++;
		says = is_new(d, name, status);
		pthread_mutex_unlock(&d->lock);
	}
	helper_end_text(status, how, sizeof(how));
	if (says)
		note("a helper process, %s, %s", name, how);
}

uint64_t helper_deaths_count(struct helper_deaths *d)
{
	uint64_t n = 0;

	if (d) {
		pthread_mutex_lock(&d->lock);
		n = d->count;
		pthread_mutex_unlock(&d->lock);
	}
	return n;
}

int helper_end_status(pid_t *pid)
{
	int status = HELPER_END_UNKNOWN;

	for (int ms = 0; *pid > 0 && ms < END_MS; ms++) {
		pid_t got = waitpid(*pid, &status, WNOHANG);

		if (got)
			*pid = 0;
		if (got)
			return got > 0 ? status : HELPER_END_UNKNOWN;
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
	}
	return HELPER_END_UNKNOWN;
}
