#include <string.h>

#include "formats/render/renderer.h"

extern const struct renderer renderer_svg, renderer_collapse, renderer_csv, renderer_json,
	renderer_text, renderer_waits, renderer_waits_json;

const struct renderer *const renderers[] = {
	&renderer_svg,	&renderer_collapse, &renderer_csv,	  &renderer_json,
	&renderer_text, &renderer_waits,    &renderer_waits_json, NULL,
};

const struct renderer *renderer_find(const char *name)
{
	for (size_t i = 0; renderers[i]; i++) {
		if (!strcmp(renderers[i]->name, name))
			return renderers[i];
	}
	return NULL;
}
