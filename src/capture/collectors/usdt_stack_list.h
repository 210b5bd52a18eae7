/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shadow stacks of a recording, as the command line gives them:
 *
 *	--usdt-stack ENTRY,RETURN[,every][,WORD=argN]...
 *
 *	ENTRY, RETURN	USDT probes of probe_spec.h, with or without "usdt:" before them
 *	every		each entry is an event, too
 *	WORD=argN	which argument of ENTRY is what: name, class, file (texts), line. Those of
 *			PHP and Ruby are known; of others arg1 is the name
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/knobs.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/probe_list.h"

#define USDT_STACKS_MAX 8

struct usdt_stack {
	struct probe_request entry, returns;
	uint8_t texts[SHADOW_TEXTS];	/* numbers of arguments, from 1 on; 0: none */
	uint8_t line;
	const char *between;		/* class and name: "::" */
	bool every;
};

struct usdt_stack_list {
	struct usdt_stack *v[USDT_STACKS_MAX];	/* owned */
	size_t nr;
};

/* They are the own options of the collector of probes. */
static inline const struct usdt_stack_list *usdt_stacks_of(const struct capture_options *o)
{
	return o->own[COLLECTOR_PROBES];
}

/* An option. dst: a struct usdt_stack_list. */
int usdt_stack_list_add(const struct opt *o, const char *value, void *dst);
void usdt_stack_list_release(struct usdt_stack_list *l);

/* The BPF programs (CAPTURE_...) that they need. */
unsigned usdt_stack_list_programs(const struct usdt_stack_list *l);
