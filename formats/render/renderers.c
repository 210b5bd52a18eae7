#include "formats/render/renderer.h"

#include <string.h>

extern const struct renderer renderer_svg, renderer_collapse, renderer_csv, renderer_json, renderer_text;

const struct renderer *const renderers[] = {
	&renderer_svg, &renderer_collapse, &renderer_csv, &renderer_json, &renderer_text, NULL,
};

const struct renderer *renderer_find(const char *name)
{
	for (const struct renderer *const *r = renderers; *r; r++)
		if (!strcmp((*r)->name, name))
			return *r;
	return NULL;
}
