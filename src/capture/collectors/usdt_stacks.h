/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the shadow stacks of a recording going (bpf/shadow.bpf.h): puts their probes, passes on
 * what their frames are called, and forgets frames of processes that are gone.
 *
 *	usdt_stacks_open(&deps, &s)
 *	usdt_stacks_start(s)			from here on the programs keep them
 *	usdt_stacks_look(s, now)		forgets frames of processes that are gone
 *	usdt_stacks_record(s, data, len)	each record of the ring of probes
 *	usdt_stacks_end(bpf, session)		META usdt_stack...: see TRACE.md
 *	usdt_stacks_close(s)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_bpf;
struct probe_attach;
struct session;
struct uprobe_scope;
struct usdt_stack_list;
struct usdt_stack;
struct usdt_stacks;

struct usdt_stacks_deps {		/* all borrowed */
	const struct usdt_stack_list *list;
	const struct uprobe_scope *scope;
	struct capture_bpf *bpf;
	struct session *session;
	uint32_t *next_place;
};

/* 0 or -errno, explained. */
int usdt_stacks_open(const struct usdt_stacks_deps *deps, struct usdt_stacks **sp);
/* Tells the kernel side of the places of a stack's entries or returns, which were found. */
int usdt_stacks_places(const struct usdt_stack *stack, struct probe_attach *a,
		       struct capture_bpf *bpf, uint32_t *next);
int usdt_stacks_start(struct usdt_stacks *s);
/*
 * Whether the record is one that tells what a shadow frame is called: 1, and the session knows it.
 * s may be NULL. v: the probes with --args. -ENOMEM.
 */
int usdt_stacks_record(const struct usdt_stacks *s, const struct probe_attach *v, size_t nr,
		       struct session *session, const void *data, size_t len);
/* To be called now and then. */
void usdt_stacks_look(struct usdt_stacks *s, uint64_t now_ns);
/* Tells what was counted, also if there are only arguments. */
int usdt_stacks_end(struct capture_bpf *bpf, struct session *session);
void usdt_stacks_close(struct usdt_stacks *s);		/* NULL is fine */
