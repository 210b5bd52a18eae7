/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_sender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/push/curl_library.h"
#include "src/push/push_settings.h"

#define CONNECT_MS 10000
#define ADDRESS_MAX (PUSH_PATH_MAX + 2 * PUSH_URL_MAX)

struct push_sender {
	struct curl_library curl;
	CURL *easy;
	const struct push_settings *settings;
	const struct push_stop *stop;	/* of the request that is under way */
	bool is_too_long;		/* the answer is longer than what is read of it */
	size_t len;
	char error[CURL_ERROR_SIZE];
	char text[PUSH_ANSWER_MAX];
	char address[ADDRESS_MAX];
};

/* ---- what libcurl calls ---- */

static size_t take_text(char *data, size_t size, size_t nr, void *sender)
{
	struct push_sender *s = sender;
	size_t len = size * nr, room = sizeof(s->text) - s->len;

	s->is_too_long = len > room;
	memcpy(s->text + s->len, data, s->is_too_long ? room : len);
	s->len += s->is_too_long ? room : len;
	return s->is_too_long ? 0 : len;	/* less than there was ends the request */
}

/* About once a second, and whenever something comes or goes. */
static int look(void *sender, curl_off_t down, curl_off_t down_now, curl_off_t up,
		curl_off_t up_now)
{
	struct push_sender *s = sender;

	(void)down;
	(void)down_now;
	(void)up;
	(void)up_now;
	return s->stop && s->stop->fn && s->stop->fn(s->stop->ctx);
}

/* ---- what stays the same for all requests ---- */

static CURLcode set_up(struct push_sender *s)
{
	const struct push_settings *set = s->settings;
	const long timeout = (long)(set->timeout_ns / NSEC_PER_MSEC);
	const long connect = timeout < CONNECT_MS ? timeout : CONNECT_MS;
	CURLcode err = CURLE_OK;

#define SET(option, value) \
	do { \
		if (!err) \
			err = s->curl.easy_setopt(s->easy, CURLOPT_##option, value); \
	} while (0)
	SET(NOSIGNAL, 1L);
	SET(ERRORBUFFER, s->error);
	SET(FOLLOWLOCATION, 0L);
	SET(TIMEOUT_MS, timeout ? timeout : 1L);
	SET(CONNECTTIMEOUT_MS, connect ? connect : 1L);
	SET(USERAGENT, "probee/" PROBEE_VERSION);
	SET(WRITEFUNCTION, take_text);
	SET(WRITEDATA, s);
	SET(NOPROGRESS, 0L);
	SET(XFERINFOFUNCTION, look);
	SET(XFERINFODATA, s);
	SET(SSL_VERIFYPEER, 1L);
	SET(SSL_VERIFYHOST, 2L);
	if (set->ca_file)
		SET(CAINFO, set->ca_file);
	if (set->cert_file)
		SET(SSLCERT, set->cert_file);
	if (set->key_file)
		SET(SSLKEY, set->key_file);
#undef SET
	return err;
}

int push_sender_open(const struct push_settings *settings, struct push_sender **sp)
{
	struct push_sender *s = calloc(1, sizeof(*s));
	CURLcode code;
	int err = s ? curl_library_open(&s->curl) : fail(-ENOMEM, "send");

	if (err) {
		free(s);
		return err;
	}
	s->settings = settings;
	s->easy = s->curl.easy_init();
	code = s->easy ? set_up(s) : CURLE_OUT_OF_MEMORY;
	if (code) {
		err = fail_why(-EINVAL, "libcurl: %s", s->error[0] ? s->error
								   : s->curl.easy_strerror(code));
		push_sender_close(s);
		return err;
	}
	*sp = s;
	return 0;
}

void push_sender_close(struct push_sender *s)
{
	if (!s)
		return;
	if (s->easy)
		s->curl.easy_cleanup(s->easy);
	free(s);
}

/* ---- one request ---- */

static bool add(struct push_sender *s, struct curl_slist **l, const char *line)
{
	struct curl_slist *longer = s->curl.slist_append(*l, line);

	if (longer)
		*l = longer;
	return longer;
}

/* Expect is left out: a receiver that does not know it costs a second for each large body. */
static struct curl_slist *headers_of(struct push_sender *s, const struct push_body *b)
{
	struct curl_slist *l = NULL;
	char type[160];
	bool ok;

	snprintf(type, sizeof(type), "Content-Type: %s", b->content_type);
	ok = add(s, &l, type) && add(s, &l, "Expect:");
	if (b->is_gzip)
		ok = ok && add(s, &l, "Content-Encoding: gzip");
	for (size_t i = 0; i < s->settings->headers.nr; i++)
		ok = ok && add(s, &l, s->settings->headers.v[i]);
	if (!ok) {
		s->curl.slist_free_all(l);
		l = NULL;
	}
	return l;
}

/* No answer came. Separates permanent failures from those that are worth another try. */
static enum push_verdict verdict_of(CURLcode code)
{
	static const CURLcode for_good[] = {
		CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN,
		CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION,
		CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
		CURLE_SSL_CLIENTCERT, CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR,
	};

	for (size_t i = 0; i < sizeof(for_good) / sizeof(for_good[0]); i++)
		if (for_good[i] == code)
			return PUSH_NOT_HERE;
	return PUSH_AGAIN;
}

static void take_status(struct push_sender *s, struct push_answer *a)
{
	curl_off_t wish_s = 0;
	long status = 0;

	s->curl.easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	a->status = status >= 200 && status < 1000 ? (unsigned)status : 0;
	/* In seconds, of both forms of Retry-After; a date that has passed is less than 0. */
	s->curl.easy_getinfo(s->easy, CURLINFO_RETRY_AFTER, &wish_s);
	if (wish_s > 0)
		a->wish_ns = (wish_s > 86400 * 365 ? 86400 * 365 : (uint64_t)wish_s) * NSEC_PER_SEC;
}

static void say_redirection(struct push_sender *s, struct push_answer *a)
{
	char *to = NULL, line[160];

	s->curl.easy_getinfo(s->easy, CURLINFO_REDIRECT_URL, &to);
	push_answer_line(line, sizeof(line), to ? to : "", to ? strlen(to) : 0);
	snprintf(a->why, sizeof(a->why), "it leads to %s, which is not followed",
		 line[0] ? line : "nowhere");
}

/*
 * A receiver may answer and then close before it has read everything, so a status counts more than
 * an error behind it.
 */
static void read_answer(struct push_sender *s, CURLcode code, struct push_answer *a)
{
	bool is_otlp = s->settings->url.protocol == PUSH_OTLP;
	char *type = NULL;

	take_status(s, a);
	if (!a->status) {
		a->verdict = verdict_of(code);
		push_answer_line(a->why, sizeof(a->why),
				 s->error[0] ? s->error : s->curl.easy_strerror(code),
				 strlen(s->error[0] ? s->error : s->curl.easy_strerror(code)));
		return;
	}
	s->curl.easy_getinfo(s->easy, CURLINFO_CONTENT_TYPE, &type);
	push_answer_read(a, is_otlp, type, s->text, s->len);
	if (a->status >= 300 && a->status < 400)
		say_redirection(s, a);
	if (s->is_too_long && a->verdict == PUSH_TAKEN) {
		a->verdict = PUSH_REFUSED;
		snprintf(a->why, sizeof(a->why), "an answer of more than %u KiB, which is not read",
			 PUSH_ANSWER_MAX >> 10);
	}
}

int push_sender_send(struct push_sender *s, const struct push_body *b,
		     const struct push_stop *stop, struct push_answer *a)
{
	struct curl_slist *headers = headers_of(s, b);
	int err = headers ? push_url_with_path(&s->settings->url, b->path, s->address,
						sizeof(s->address))
			  : -ENOMEM;
	CURLcode code;

	*a = (struct push_answer){ .verdict = PUSH_AGAIN };
	if (err)
		goto out;
	s->stop = stop;
	s->len = 0;
	s->is_too_long = false;
	s->error[0] = 0;
	s->curl.easy_setopt(s->easy, CURLOPT_URL, s->address);
	s->curl.easy_setopt(s->easy, CURLOPT_POST, 1L);
	s->curl.easy_setopt(s->easy, CURLOPT_POSTFIELDS, (const char *)b->bytes);
	s->curl.easy_setopt(s->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)b->len);
	s->curl.easy_setopt(s->easy, CURLOPT_HTTPHEADER, headers);
	code = s->curl.easy_perform(s->easy);
	s->stop = NULL;
	if (code == CURLE_ABORTED_BY_CALLBACK)
		err = -ECANCELED;
	else
		read_answer(s, code, a);
	s->curl.easy_setopt(s->easy, CURLOPT_HTTPHEADER, NULL);
	s->curl.easy_setopt(s->easy, CURLOPT_POSTFIELDS, NULL);
out:
	s->curl.slist_free_all(headers);
	return err;
}
