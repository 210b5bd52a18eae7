/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts FILE FAULTS SLEEPS: a thread that touches FAULTS new pages in touch_pages(), and one that
 * gives up the CPU SLEEPS times in sleep_often(). What the kernel counted of each meanwhile goes to
 * FILE: "page-faults N" and "context-switches N".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static long nr_faults, nr_sleeps;
static long faults_seen, switches_seen;

static long faults(void)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	return ru.ru_minflt + ru.ru_majflt;
}

static long switches(void)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	return ru.ru_nvcsw + ru.ru_nivcsw;
}

__attribute__((noinline)) static void touch_pages(volatile char *p)
{
	for (long i = 0; i < nr_faults; i++)
		p[i * 4096] = 1;
}

__attribute__((noinline)) static void sleep_often(void)
{
	for (long i = 0; i < nr_sleeps; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static void *toucher(void *unused)
{
	char *p = mmap(NULL, (size_t)nr_faults * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	if (p == MAP_FAILED || madvise(p, (size_t)nr_faults * 4096, MADV_NOHUGEPAGE))
		exit(3);
	prctl(PR_SET_NAME, "toucher");
	faults_seen = faults();
	touch_pages(p);
	faults_seen = faults() - faults_seen;
	return NULL;
}

static void *sleeper(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "sleeper");
	switches_seen = switches();
	sleep_often();
	switches_seen = switches() - switches_seen;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	FILE *f;

	if (argc != 4)
		return 2;
	nr_faults = atol(argv[2]);
	nr_sleeps = atol(argv[3]);
	if (pthread_create(&t[0], NULL, toucher, NULL) || pthread_create(&t[1], NULL, sleeper, NULL))
		return 3;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	f = fopen(argv[1], "w");
	if (!f)
		return 3;
	fprintf(f, "page-faults %ld\ncontext-switches %ld\n", faults_seen, switches_seen);
	return fclose(f) ? 3 : 0;
}
