/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sections "facts" and "now" of a page say of events, whether it is made once or fed. */
#pragma once

#include <stdint.h>

struct json_writer;
struct report_amount;
struct trace_event;

/* An object: what hardly changes. usual: what a sample weighs if nothing else is said. */
void page_facts_put_event(struct json_writer *w, const struct trace_event *e, uint64_t usual);
/* An object: the sums of an event. */
void page_facts_put_sums(struct json_writer *w, const struct report_amount *amount,
			 const char *title);
/* Two keys: the words for enum activity, and for the states of tasks. */
void page_facts_put_words(struct json_writer *w);
/* A key and foreign text as a reader sees it. */
void page_facts_put_visible(struct json_writer *w, const char *key, const char *s);
