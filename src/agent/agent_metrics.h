/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers GET /metrics, in a process of its own that has no rights, opens nothing, and ends with
 * the supervisor.
 *
 *	agent_metrics_run(st, listen_fd, lifeline)	until lifeline is readable; the exit code
 *
 * The answer is the page of memory that all processes of the agent share (agent_state.h). Requests
 * of other hosts' pages are refused as by `probee serve`: the Host must be an address or localhost
 * (src/serve/access.h). There is no token: figures of the agent alone are shown, to programs of
 * this machine.
 */
#pragma once

struct agent_state;

int agent_metrics_run(const struct agent_state *st, int listen_fd, int lifeline);
