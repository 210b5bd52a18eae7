/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/diff_renderers.h"

#include "formats/render/renderer.h"

extern const struct renderer renderer_svg, renderer_collapse, renderer_json;

const struct renderer *const diff_renderers[] = {
	&renderer_svg, &diff_renderer_html, &renderer_collapse,
	&renderer_json, &diff_renderer_text, NULL,
};
