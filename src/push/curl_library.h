/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcurl, loaded only when something is sent.
 *
 * It brings some thirty libraries for TLS and for protocols that are not used here. To load them
 * takes 6 ms, which every start of probee would take longer if it were linked, and the recorder's
 * processes would be larger, for one command.
 *
 *	curl_library_open(&curl)
 *	curl.easy_init()		curl_easy_init(), and so on
 *
 * It is never unloaded: OpenSSL, which comes with it, registers functions for the end of the
 * process.
 */
#pragma once

#include <curl/curl.h>

struct curl_library {
	void *handle;
#define CURL_FUNCTION(name) __typeof__(curl_##name) *name;
#include "src/push/curl_functions.def"
#undef CURL_FUNCTION
};

/* 0, or -ENOTSUP after one line: it is not installed, or too old. */
int curl_library_open(struct curl_library *curl);
