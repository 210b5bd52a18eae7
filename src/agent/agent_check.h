/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a configuration makes sense, which is known before anything is started. */
#pragma once

struct agent_config;
struct agent_hooks;

/*
 * agent_config_read(), and what hooks say of it. 0, or -errno, explained; c is to be released in
 * any case.
 */
int agent_config_check(const char *path, const struct agent_hooks *hooks, struct agent_config *c);
