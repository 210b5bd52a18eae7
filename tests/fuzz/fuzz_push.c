/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sender is told by others: answers of receivers, bodies from a reader that was taken over, addresses, headers of the
 * environment, files of headers. The first byte says which.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/push/push_answer.h"
#include "src/push/push_headers.h"
#include "src/push/push_pipe.h"
#include "src/push/push_url.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int ok)
{
	if (!ok)
		abort();
}

/* Refusals are messages. With this option what libFuzzer and the sanitizers say is still seen. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char **args = calloc((size_t)*argc + 2, sizeof(*args));

	require(args != NULL);
	memcpy(args, *argv, (size_t)*argc * sizeof(*args));
	args[*argc] = strdup("-close_fd_mask=2");
	require(args[(*argc)++] != NULL);
	*argv = args;
	return 0;
}

static int is_printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return 0;
	return 1;
}

static void try_answer(const uint8_t *data, size_t len)
{
	static const unsigned statuses[] = { 200, 400, 429, 503, 307, 413, 599, 204 };
	struct push_answer a = { .status = statuses[len ? data[0] & 7 : 0] };
	uint8_t *copy = malloc(len ? len : 1);		/* so that reading behind its end is noticed */

	require(copy != NULL);
	memcpy(copy, data, len);
	push_answer_read(&a, len & 1, len & 2 ? "application/x-protobuf" : "text/plain", copy, len);
	require(a.verdict == push_verdict_of(a.status));
	require(strlen(a.why) < sizeof(a.why) && is_printable(a.why));
	require(a.verdict == PUSH_TAKEN || !a.rejected);
	free(copy);
}

static void try_pipe(const uint8_t *data, size_t len)
{
	struct push_pipe p = { .fd = memfd_create("pipe", MFD_CLOEXEC) };
	int n = 1;

	require(p.fd >= 0 && write(p.fd, data, len) == (ssize_t)len);
	lseek(p.fd, 0, SEEK_SET);
	while (n > 0) {
		n = push_pipe_next(&p);
		if (n > 0)
			require(is_printable(p.body.path) && is_printable(p.body.content_type) &&
				is_printable(p.body.what) && p.body.len <= len);
	}
	push_pipe_release(&p);
	close(p.fd);
}

/* No user and password, which would be shown to others; a path may have the sign. */
static bool has_user(const char *base)
{
	const char *host = strstr(base, "://");

	host = host ? host + 3 : base;
	return memchr(host, '@', strcspn(host, "/"));
}

static void try_url(const char *text)
{
	const char *path = strchr(text, '\n') ? strchr(text, '\n') + 1 : "/x";
	char buf[2 * PUSH_URL_MAX];
	struct push_url u;

	if (push_url_parse("--to", text, NULL, &u) || push_url_with_path(&u, path, buf, sizeof(buf)))
		return;
	/* It goes where the URL says, whatever the path is. */
	require(!strncmp(buf, u.base, strlen(u.base)) && is_printable(buf) && !strchr(buf, ' ') && !has_user(u.base));
}

static void try_headers(const char *text, int (*read)(struct push_headers *h, const char *what, const char *text))
{
	struct push_headers *h = calloc(1, sizeof(*h));

	require(h != NULL);
	read(h, "x", text);
	for (size_t i = 0; i < h->nr; i++)
		require(!strpbrk(h->v[i], "\r\n") && strchr(h->v[i], ':'));
	push_headers_release(h);
	free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text;

	if (!len)
		return 0;
	text = malloc(len);
	require(text != NULL);
	memcpy(text, data + 1, len - 1);
	text[len - 1] = 0;
	switch (data[0] % 5) {
	case 0:
		try_answer(data + 1, len - 1);
		break;
	case 1:
		try_pipe(data + 1, len - 1);
		break;
	case 2:
		try_url(text);
		break;
	case 3:
		try_headers(text, push_headers_of_variable);
		break;
	case 4:
		try_headers(text, push_headers_of_lines);
		break;
	}
	free(text);
	return 0;
}
