/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/renderer.h"
#include "src/profile/weight_text.h"
#include "src/tui/tui_state.h"

/* The renderer of a name, if it draws a tree; else NULL, and what to do is said. */
static const struct renderer *choose(struct tui *t, const char *name)
{
	const struct renderer *r = renderer_of_file(name);

	if (strchr(name, '/'))
		tui_say(t, "Only into the directory where probee was started: no / in the name.");
	else if (!r)
		tui_say(t, "The ending of the name says what is written: .svg, .folded, .json, "
			   ".txt, callgrind.out...");
	else if (!r->render)
		tui_say(t, "%s shows samples one by one, not this picture. Try: probee report "
			   "FILE --%s", name, r->name);
	else
		return r;
	return NULL;
}

void tui_export(struct tui *t, const char *path)
{
	const struct render_opts opts = { .kernel_suffix = "_[k]" };
	const struct renderer *r = choose(t, path);
	char size[WEIGHT_TEXT_MAX];
	FILE *out;
	long len;
	int fd, err;

	if (!r)
		return;
	fd = export_files_make(&t->exports, path);
	if (fd < 0) {
		tui_say(t, "%s is not written: %s", path, strerror(-fd));
		return;
	}
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		tui_say(t, "%s is not written: %s", path, strerror(ENOMEM));
		return;
	}
	err = r->render(t->profile, &opts, out);
	len = ftell(out);
	if (fclose(out) && !err)
		err = -errno;
	if (err)
		tui_say(t, "%s is not whole: %s", path, strerror(-err));
	else
		tui_say(t, "%s: %s written", path, weight_text((uint64_t)len, "bytes", size));
}
