/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the agent sends a window: src/agent/window_sender.h by means of src/push/push.h. Functions of
 * agent_hooks (src/agent/supervisor.h).
 */
#pragma once

struct agent_target;
struct window_sender;

int agent_push_check(const struct agent_target *t);
int agent_push_open(const struct agent_target *t, struct window_sender *w);
