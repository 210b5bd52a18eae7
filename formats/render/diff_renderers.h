/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The renderers that can show two recordings compared: a profile with .deltas (profile_delta.h).
 * Most are those of renderers.c, which show the deltas if there are any.
 */
#pragma once

struct renderer;

extern const struct renderer *const diff_renderers[];	/* ends with NULL; never empty */
extern const struct renderer diff_renderer_text;		/* the default */
extern const struct renderer diff_renderer_html;
