/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every page in one file has around its contents: the policy, which names the hash of the one
 * script and of the one style sheet, so nothing else can run, whatever a name contains; the data, a
 * message (page_message.h) in base64; and the scripts of assets/page.
 *
 *	page_frame_begin(&f, out, title)	up to </head>
 *	...					<body> and what is there without a script
 *	pack = page_frame_data(&f)		takes the sections of the data (page_pack.h)
 *	page_frame_end(&f)			the scripts and </html>
 *	page_frame_release(&f)			in any case
 *
 * The scripts are joined in the order of page_assets.def and share one scope.
 *
 * A page that a server feeds may ask that server for data, and has none in itself:
 *
 *	page_frame_init(&f, out, true)
 *	page_frame_policy(&f, header)		the same policy, for the server's header
 *	page_frame_head(&f, title)		up to </head>
 *	...
 *	page_frame_end(&f)
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "src/base/bytes.h"

struct page_pack;

struct page_frame {
	FILE *out;
	struct byte_buf script;
	struct page_pack *data;
	bool is_live;
};

/* 0 or -ENOMEM */
int page_frame_init(struct page_frame *f, FILE *out, bool is_live);
void page_frame_policy(const struct page_frame *f, FILE *out);
void page_frame_head(struct page_frame *f, const char *title);

/* 0 or -ENOMEM */
int page_frame_begin(struct page_frame *f, FILE *out, const char *title);
/* Begins the data; page_frame_end() ends it. NULL: out of memory. */
struct page_pack *page_frame_data(struct page_frame *f);
/* 0, -ENOMEM, or the error of out. */
int page_frame_end(struct page_frame *f);
void page_frame_release(struct page_frame *f);

/* For the contents: foreign text; a fact in a list; what was lost. What is "" is left out. */
void page_frame_text(struct page_frame *f, const char *s);
void page_frame_fact(struct page_frame *f, const char *what, const char *fact);
void page_frame_loss(struct page_frame *f, const char *text);

/* Whether a file begins as these pages do (renderer.made). */
bool page_frame_made(const char *head);
