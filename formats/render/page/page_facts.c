/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "src/model/record.h"
#include "src/report/report_text.h"
#include "src/report/state_words.h"
#include "src/report/trace_events.h"

void page_facts_put_visible(struct json_writer *w, const char *key, const char *s)
{
	json_key(w, key);
	json_visible(w, s, strlen(s));
}

void page_facts_put_event(struct json_writer *w, const struct trace_event *e, uint64_t usual)
{
	char label[EVENT_LABEL_MAX], text[512];

	json_begin(w, '{');
	page_facts_put_visible(w, "label", trace_event_label(e, label));
	report_rate_text(e, text, sizeof(text));
	json_put_text(w, "rate", text);
	page_facts_put_visible(w, "unit", e->unit);
	page_facts_put_visible(w, "name", e->name);
	json_put_bool(w, "is_cpu", event_is_cpu_time(e->kind));
	json_put_bool(w, "is_wall", event_is_wall_time(e->kind));
	json_put_bool(w, "is_counted", e->is_counted);
	json_put_u64(w, "usual", usual);
	json_end(w, '}');
}

void page_facts_put_sums(struct json_writer *w, const struct report_amount *amount,
			 const char *title)
{
	char text[768];

	json_begin(w, '{');
	json_put_u64(w, "samples", amount->samples);
	snprintf(text, sizeof(text), "%" PRIu64, amount->weight);
	json_put_text(w, "weight", text);	/* a number may lose its last digits in a script */
	report_amount_text(amount, text, sizeof(text));
	page_facts_put_visible(w, "amount", text);
	page_facts_put_visible(w, "title", title);
	json_end(w, '}');
}

void page_facts_put_words(struct json_writer *w)
{
	json_key(w, "activities");
	json_begin(w, '[');
	for (unsigned i = 0; i < ACTIVITIES; i++) {
		const char *name = activity_name((enum activity)i);

		json_string(w, name, strlen(name));
	}
	json_end(w, ']');
	json_key(w, "states");
	json_begin(w, '[');
	for (unsigned i = 0; i < TASK_STATES; i++)
		json_string(w, task_state_name(i), strlen(task_state_name(i)));
	json_end(w, ']');
}
