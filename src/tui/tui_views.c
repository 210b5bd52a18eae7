/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_views.h"

#include <string.h>

const struct tui_view *const tui_views[TUI_VIEWS] = {
	&processes_view, &flame_view, &top_view, &threads_view, &waits_view, &time_view,
	&health_view,
};
const char tui_view_names[] = "processes|flame|top|threads|waits|time|health";

static const struct tui_view *view_of(const char *name)
{
	for (int i = 0; i < TUI_VIEWS; i++)
		if (!strcmp(tui_views[i]->name, name))
			return tui_views[i];
	return NULL;
}

const struct tui_view *tui_views_find(const char *name)
{
	const struct tui_view *v = name ? view_of(name) : NULL;

	return v ? v : &flame_view;
}

bool tui_has_view(const char *name)
{
	return view_of(name);
}
