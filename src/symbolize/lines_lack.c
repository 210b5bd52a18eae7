/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/lines_lack.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/base/plural.h"
#include "src/debug_info/debug_file.h"
#include "src/debug_info/debug_section.h"

void lines_lack_add(struct lines_lack *l, uint32_t why, const char *path)
{
	if (!why)
		return;
	if (!l->frames++) {
		l->why = why;
		snprintf(l->path, sizeof(l->path), "%s", path);
	}
}

bool lines_lack_text(const struct lines_lack *l, char *text, size_t size)
{
	char why[96] = "is too large when it is unpacked";

	if (l->why != DEBUG_LACKS_MEMORY)
		snprintf(why, sizeof(why),
			 "is compressed in a way that is not known here (ELF compression %" PRIu32
			 ")", l->why);
	if (l->frames)
		snprintf(text, size,
			 "%" PRIu64 " %s no lines, or not all inlined functions: the debug "
			 "information of %s %s. Try: objcopy --decompress-debug-sections",
			 l->frames, plural(l->frames, "frame has", "frames have"), l->path, why);
	return l->frames != 0;
}
