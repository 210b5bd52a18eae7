# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Traces for the tests of tests/push, sourced after tests/consumers/lib.sh.
#
#	make_traces		plain, two, events, ... of tests/consumers/make_traces.c: fixed, and long ago
#	record_trace		$TMP/recorded.pbz: all that can be recorded of a few programs in some seconds; fails where the machine
#				cannot record

# Programs with threads that compute, sleep and touch memory; each ends by itself.
start_work() {
	cat >"$TMP/work.c" <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <time.h>
		#include <unistd.h>

		static volatile unsigned long sink;

		static inline __attribute__((always_inline)) void add_up(unsigned long n)
		{
			for (unsigned long i = 0; i < n; i++)
				sink += i;
		}

		__attribute__((noinline)) void compute(void) { add_up(2000000); }

		__attribute__((noinline)) void touch(void)
		{
			char *p = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			for (size_t i = 0; i < 1 << 22; i += 4096)
				p[i] = 1;
			munmap(p, 1 << 22);
		}

		__attribute__((noinline)) void nap(void) { usleep(3000); }

		static void *worker(void *end)
		{
			while (time(NULL) < *(time_t *)end) {
				compute();
				touch();
				nap();
			}
			return NULL;
		}

		int main(int argc, char **argv)
		{
			time_t end = time(NULL) + atoi(argv[1]);
			pthread_t t[3];

			for (int i = 0; i < 3; i++) {
				char name[16] = "worker-0";

				name[7] += i;
				pthread_create(&t[i], NULL, worker, &end);
				pthread_setname_np(t[i], name);
			}
			for (int i = 0; i < 3; i++)
				pthread_join(t[i], NULL);
		}
	END
	run "${CC:-gcc}" -g -O2 -fno-omit-frame-pointer -pthread -o "$TMP/work" "$TMP/work.c"; exits 0
	cp "$TMP/work" "$TMP/other"
	"$TMP/work" "$1" & work_pids="$!"
	"$TMP/other" "$1" & work_pids="$work_pids $!"
}

record_trace() {
	can_record || return 1
	start_work 8
	sleep 0.3
	run probee record -p "${work_pids/ /,}" -F 97 --snap-freq 4 -d 6 --off-cpu -e cpu-clock -e page-faults -e "$TMP/work:compute" \
		-o "$TMP/recorded.pbz" -q
	exits 0
	# shellcheck disable=SC2086
	kill $work_pids 2>/dev/null
	# shellcheck disable=SC2086
	wait $work_pids 2>/dev/null
	return 0
}
