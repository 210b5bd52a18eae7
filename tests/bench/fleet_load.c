/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_load PORT DIR [NAME=VALUE]...: many agents at once, each of which posts a window, waits for
 * the answer, and has the next one ready an interval later. To 127.0.0.1.
 *
 *	agents=1000		connections
 *	windows=1		of each agent
 *	interval_ms=15000	from one window to the next
 *	jitter=1		agents begin at random within the interval; 0: all at once
 *	fresh=0			1: a connection for each request; 0: for each agent
 *	hosts=100		bodies are of so many hosts: agents share them in turns
 *	timeout_s=60		of a request
 *	tenant=NAME		X-Scope-OrgID
 *
 * DIR is what fleet_bodies left. The label fleet_host of a body gets the number of the host, which
 * has as many bytes, so all is as long as it was before compression. An agent whose answer comes
 * later than its next window is due sends that at once, and is counted as late. There is no second
 * attempt.
 *
 * Prints a name and a number a line: requests by what became of them, the most that were begun in
 * 100 ms and in a second, the most that waited for an answer, times until the answer in ms.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/push/push_gzip.h"

#define PLACE "fleet-host-000000"
enum { MOST_BODIES = 64, ANSWER = 8192, STATUS_CODES = 600 };
enum { AGENTS, WINDOWS, INTERVAL_MS, JITTER, FRESH, HOSTS, TIMEOUT_S, NUMBERS };

struct bytes {
	uint8_t *v;
	size_t nr;
};

struct agent {
	int fd;				/* -1: none */
	bool is_busy;
	uint64_t due_ns, begin_ns;
	uint64_t windows;		/* begun */
	const struct bytes *request;
	size_t sent, got;
	char answer[ANSWER + 1];
};

struct load {
	uint16_t port;
	uint64_t number[NUMBERS];
	const char *tenant;
	struct bytes heads[MOST_BODIES], bodies[MOST_BODIES];	/* as the files are */
	bool is_gzip[MOST_BODIES];
	size_t nr_bodies;
	struct bytes *requests;		/* of host h and body b: at h * nr_bodies + b */
	struct agent *agents;
	struct pollfd *polls;
	uint64_t start_ns;
	/* what became of them */
	uint64_t status[STATUS_CODES];	/* 0: no answer */
	uint64_t late, busy, most_busy, bytes, connections;
	uint64_t *times, nr_times;	/* until the answer, ns */
	uint64_t *begun, nr_begun;	/* when, ns after start_ns */
	int error;			/* errno of the last one without an answer */
};

/* ---- bodies ---- */

static int read_all(const char *dir, const char *name, struct bytes *b)
{
	char path[512];
	FILE *f;
	long size;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0)
		return fail(-errno, "read %s", path);
	rewind(f);
	b->v = calloc(1, (size_t)size + 1);
	b->nr = b->v ? fread(b->v, 1, (size_t)size, f) : 0;
	fclose(f);
	return b->nr == (size_t)size ? 0 : fail(-EIO, "read %s", path);
}

static int is_body(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && !strcmp(dot, ".body");
}

static int unpack(struct bytes *b)
{
	size_t cap = b->nr * 64 + (1 << 16);
	z_stream z = { .next_in = b->v, .avail_in = (unsigned)b->nr };
	uint8_t *raw = malloc(cap);
	int rc = raw ? inflateInit2(&z, 15 + 16) : Z_MEM_ERROR;

	if (rc == Z_OK) {
		z.next_out = raw;
		z.avail_out = (unsigned)cap;
		rc = inflate(&z, Z_FINISH);
		inflateEnd(&z);
	}
	free(b->v);
	*b = (struct bytes){ raw, z.total_out };
	return rc == Z_STREAM_END ? 0 : fail_why(-EINVAL, "a body cannot be unpacked");
}

static int read_bodies(struct load *l, const char *dir)
{
	struct dirent **found;
	int nr = scandir(dir, &found, is_body, alphasort), err = 0;

	for (int i = 0; i < nr && l->nr_bodies < MOST_BODIES && !err; i++) {
		size_t at = l->nr_bodies++;
		char head[300];

		snprintf(head, sizeof(head), "%.*s.head",
			 (int)(strrchr(found[i]->d_name, '.') - found[i]->d_name),
			 found[i]->d_name);
		err = read_all(dir, head, &l->heads[at]) ||
		      read_all(dir, found[i]->d_name, &l->bodies[at]);
		l->is_gzip[at] = !err && l->heads[at].v[l->heads[at].nr - 2] == '1';
		if (!err && l->is_gzip[at])
			err = unpack(&l->bodies[at]);
	}
	return err || l->nr_bodies ? err : fail_why(-ENOENT, "no body in %s", dir);
}

/* Gives the bytes the name of a host; how often it stands there. */
static size_t name_host(uint8_t *v, size_t nr, uint64_t host)
{
	uint8_t *end = v + nr, *at = v;
	char name[32];
	size_t found = 0;

	snprintf(name, sizeof(name), "fleet-host-%06" PRIu64, host % 1000000);
	while ((at = memmem(at, (size_t)(end - at), PLACE, strlen(PLACE)))) {
		memcpy(at, name, strlen(PLACE));
		at += strlen(PLACE);
		found++;
	}
	return found;
}

static int make_request(struct load *l, size_t body, uint64_t host, struct bytes *out)
{
	char path[2048] = "", type[100] = "", head[3000];
	struct bytes copy = { malloc(l->bodies[body].nr), l->bodies[body].nr };
	size_t found, len;
	uint8_t *packed = NULL;

	sscanf((const char *)l->heads[body].v, "%2047s %99s", path, type);
	memcpy(copy.v, l->bodies[body].v, copy.nr);
	found = name_host(copy.v, copy.nr, host) + name_host((uint8_t *)path, strlen(path), host);
	if (!found)
		return fail_why(-EINVAL, "a body does not have the label fleet_host");
	if (l->is_gzip[body]) {
		packed = push_gzip(copy.v, copy.nr, &copy.nr);
		free(copy.v);
		copy.v = packed;
	}
	len = (size_t)snprintf(head, sizeof(head),
			       "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: %s\r\n"
			       "%s%s%s%s%sContent-Length: %zu\r\n\r\n",
			       path, l->port, type,
			       l->is_gzip[body] ? "Content-Encoding: gzip\r\n" : "",
			       *l->tenant ? "X-Scope-OrgID: " : "", l->tenant,
			       *l->tenant ? "\r\n" : "",
			       l->number[FRESH] ? "Connection: close\r\n" : "", copy.nr);
	out->v = malloc(len + copy.nr);
	out->nr = len + copy.nr;
	memcpy(out->v, head, len);
	memcpy(out->v + len, copy.v, copy.nr);
	free(copy.v);
	return 0;
}

static int make_requests(struct load *l)
{
	int err = 0;

	if (l->number[HOSTS] > l->number[AGENTS])
		l->number[HOSTS] = l->number[AGENTS];
	l->requests = calloc(l->number[HOSTS] * l->nr_bodies, sizeof(*l->requests));
	for (uint64_t h = 0; h < l->number[HOSTS]; h++)
		for (size_t b = 0; b < l->nr_bodies && !err; b++)
			err = make_request(l, b, h, &l->requests[h * l->nr_bodies + b]);
	return err;
}

/* ---- a request ---- */

static void disconnect(struct agent *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

static void end_request(struct load *l, struct agent *a, unsigned status, uint64_t now)
{
	l->status[status < STATUS_CODES ? status : 0]++;
	if (status)
		l->times[l->nr_times++] = now - a->begin_ns;
	l->busy--;
	a->is_busy = false;
	a->due_ns += l->number[INTERVAL_MS] * NSEC_PER_MSEC;
	if (a->due_ns < now && a->windows < l->number[WINDOWS]) {
		l->late++;
		a->due_ns = now;
	}
	if (!status || l->number[FRESH])
		disconnect(a);
}

static void fail_request(struct load *l, struct agent *a, int error, uint64_t now)
{
	l->error = error;
	end_request(l, a, 0, now);
}

static int connect_agent(struct load *l, struct agent *a)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(l->port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1;

	a->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd < 0)
		return -errno;
	setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	l->connections++;
	return !connect(a->fd, (struct sockaddr *)&to, sizeof(to)) || errno == EINPROGRESS
		       ? 0 : -errno;
}

static void begin_request(struct load *l, struct agent *a, size_t index, uint64_t now)
{
	uint64_t host = index % l->number[HOSTS];
	int err = 0;

	a->request = &l->requests[host * l->nr_bodies + (index + a->windows) % l->nr_bodies];
	a->windows++;
	a->begin_ns = now;
	a->is_busy = true;
	a->sent = a->got = 0;
	l->begun[l->nr_begun++] = now - l->start_ns;
	if (++l->busy > l->most_busy)
		l->most_busy = l->busy;
	if (a->fd < 0)
		err = connect_agent(l, a);
	if (err)
		fail_request(l, a, -err, now);
}

static int send_some(struct load *l, struct agent *a)
{
	ssize_t n = send(a->fd, a->request->v + a->sent, a->request->nr - a->sent, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == ENOTCONN ? 0 : -errno;
	a->sent += (size_t)n;
	l->bytes += (size_t)n;
	return 0;
}

/* Whether the answer is whole: its length is said, or it is in chunks. */
static bool is_whole(const struct agent *a)
{
	const char *end = strstr(a->answer, "\r\n\r\n"), *length;

	if (!end)
		return false;
	length = strcasestr(a->answer, "\r\nContent-Length:");
	if (length && length < end)
		return a->got >= (size_t)(end + 4 - a->answer) + strtoul(length + 17, NULL, 10);
	if (strcasestr(a->answer, "\r\nTransfer-Encoding: chunked"))
		return a->got >= 5 && !memcmp(a->answer + a->got - 5, "0\r\n\r\n", 5);
	return !strncmp(a->answer + 9, "204", 3);
}

static void receive(struct load *l, struct agent *a, uint64_t now)
{
	ssize_t n = recv(a->fd, a->answer + a->got, ANSWER - a->got, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		fail_request(l, a, n ? errno : ECONNRESET, now);
		return;
	}
	a->got += (size_t)n;
	a->answer[a->got] = 0;
	if (is_whole(a))
		end_request(l, a, (unsigned)strtoul(a->answer + 9, NULL, 10), now);
	else if (a->got == ANSWER)
		fail_request(l, a, EMSGSIZE, now);
}

/* ---- all of them ---- */

static void serve(struct load *l, struct agent *a, short events, uint64_t now)
{
	int err = 0;

	if (a->is_busy && a->sent < a->request->nr && events & (POLLOUT | POLLERR | POLLHUP))
		err = send_some(l, a);
	if (err)
		fail_request(l, a, -err, now);
	else if (a->is_busy && events & (POLLIN | POLLERR | POLLHUP))
		receive(l, a, now);
	if (a->is_busy && now - a->begin_ns > l->number[TIMEOUT_S] * NSEC_PER_SEC)
		fail_request(l, a, ETIMEDOUT, now);
}

/* Begins what is due. When the next one is; UINT64_MAX: all was begun. */
static uint64_t begin_due(struct load *l, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < l->number[AGENTS]; i++) {
		struct agent *a = &l->agents[i];

		if (a->is_busy || a->windows == l->number[WINDOWS])
			continue;
		if (a->due_ns <= now)
			begin_request(l, a, i, now);
		else if (a->due_ns < next)
			next = a->due_ns;
	}
	return next;
}

static void run(struct load *l)
{
	for (;;) {
		uint64_t now = now_ns(), next = begin_due(l, now);
		int wait = 200;

		if (next == UINT64_MAX && !l->busy)
			return;
		if (next != UINT64_MAX && next - now < 200 * NSEC_PER_MSEC)
			wait = (int)((next - now) / NSEC_PER_MSEC) + 1;
		for (size_t i = 0; i < l->number[AGENTS]; i++) {
			struct agent *a = &l->agents[i];
			bool sends = a->is_busy && a->sent < a->request->nr;

			l->polls[i] = (struct pollfd){ a->is_busy ? a->fd : -1,
						       (short)(POLLIN | (sends ? POLLOUT : 0)), 0 };
		}
		poll(l->polls, l->number[AGENTS], wait);
		now = now_ns();
		for (size_t i = 0; i < l->number[AGENTS]; i++)
			serve(l, &l->agents[i], l->polls[i].revents, now);
	}
}

static int begin(struct load *l)
{
	uint64_t nr = l->number[AGENTS], all = nr * l->number[WINDOWS], random;

	l->agents = calloc(nr, sizeof(*l->agents));
	l->polls = calloc(nr, sizeof(*l->polls));
	l->times = calloc(all, sizeof(*l->times));
	l->begun = calloc(all, sizeof(*l->begun));
	if (!l->agents || !l->polls || !l->times || !l->begun)
		return fail(-ENOMEM, "begin");
	l->start_ns = now_ns();
	for (size_t i = 0; i < nr; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return fail(-errno, "random numbers");
		random %= l->number[INTERVAL_MS] * NSEC_PER_MSEC;
		l->agents[i].fd = -1;
		l->agents[i].due_ns = l->start_ns + (l->number[JITTER] ? random : 0);
	}
	return 0;
}

/* ---- what is printed ---- */

static int compare(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* The most requests that were begun within so long; begun is sorted, because time goes on. */
static uint64_t peak(const struct load *l, uint64_t ns)
{
	uint64_t most = 0;

	for (size_t from = 0, to = 0; to < l->nr_begun; to++) {
		while (l->begun[to] - l->begun[from] >= ns)
			from++;
		if (to + 1 - from > most)
			most = to + 1 - from;
	}
	return most;
}

static void print_times(struct load *l)
{
	static const struct { const char *name; unsigned percent; } rows[] = {
		{ "answer_ms_median", 50 }, { "answer_ms_p99", 99 }, { "answer_ms_most", 100 },
	};

	qsort(l->times, l->nr_times, sizeof(*l->times), compare);
	for (size_t i = 0; l->nr_times && i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%s %.1f\n", rows[i].name,
		       (double)l->times[(l->nr_times - 1) * rows[i].percent / 100] / 1e6);
}

static void print(struct load *l, double seconds)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	printf("seconds %.3f\nrequests %" PRIu64 "\nrequests_a_second %.1f\n", seconds, l->nr_begun,
	       (double)l->nr_begun / seconds);
	printf("bytes %" PRIu64 "\nmbit_a_second %.2f\nconnections %" PRIu64 "\nlate %" PRIu64 "\n",
	       l->bytes, (double)l->bytes * 8 / 1e6 / seconds, l->connections, l->late);
	printf("peak_100ms %" PRIu64 "\npeak_1s %" PRIu64 "\nmost_waiting %" PRIu64 "\n",
	       peak(l, 100 * NSEC_PER_MSEC), peak(l, NSEC_PER_SEC), l->most_busy);
	for (unsigned i = 0; i < STATUS_CODES; i++)
		if (l->status[i])
			printf("status_%u %" PRIu64 "\n", i, l->status[i]);
	if (l->status[0])
		printf("error %s\n", strerror(l->error));
	print_times(l);
	printf("own_cpu_seconds %.3f\n",
	       (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
}

static int parse(struct load *l, char **argv)
{
	static const struct { const char *name; uint64_t value; } defaults[NUMBERS] = {
		{ "agents", 1000 }, { "windows", 1 }, { "interval_ms", 15000 }, { "jitter", 1 },
		{ "fresh", 0 }, { "hosts", 100 }, { "timeout_s", 60 },
	};

	l->tenant = "";
	for (size_t i = 0; i < NUMBERS; i++)
		l->number[i] = defaults[i].value;
	for (; *argv; argv++) {
		size_t i, len = strcspn(*argv, "=");

		for (i = 0; i < NUMBERS && (strncmp(*argv, defaults[i].name, len) ||
					    defaults[i].name[len]); i++)
			;
		if (i < NUMBERS && (*argv)[len])
			l->number[i] = strtoull(*argv + len + 1, NULL, 10);
		else if (!strncmp(*argv, "tenant=", 7))
			l->tenant = *argv + 7;
		else
			return fail_why(2, "fleet_load: what is %s?", *argv);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct load l;
	struct rlimit most = { 65536, 65536 };

	if (argc < 3)
		return fail_why(2, "usage: fleet_load PORT DIR [NAME=VALUE]...");
	l.port = (uint16_t)atoi(argv[1]);
	if (parse(&l, argv + 3))
		return 2;
	setrlimit(RLIMIT_NOFILE, &most);
	if (read_bodies(&l, argv[2]) || make_requests(&l) || begin(&l))
		return 1;
	run(&l);
	print(&l, (double)(now_ns() - l.start_ns) / 1e9);
	return 0;
}
