/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our instruction lengths against objdump's: reads its listing of an x86-64 file and decodes the same bytes.
 *
 *	objdump -d -w -M intel64 FILE | x86_lengths
 *
 * Prints how many instructions were compared and the first differences; exit status 1 when there is one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/x86_insn.h"

#define MAX_SHOWN 20

struct line {
	uint64_t addr;
	uint8_t bytes[32];
	size_t nr;
	const char *text;
};

/* "  401136:\t48 83 ec 08 \tsub ..." */
static int parse(char *s, struct line *l)
{
	char *tab = strstr(s, ":\t"), *end;

	if (!tab || s[0] != ' ')
		return 0;
	l->addr = strtoull(s, NULL, 16);
	l->nr = 0;
	for (s = tab + 2; l->nr < sizeof(l->bytes); s = end) {
		unsigned long b = strtoul(s, &end, 16);

		if (end != s + 2)
			break;
		l->bytes[l->nr++] = (uint8_t)b;
		if (*end == ' ')
			end++;
		if (*end == '\t' || *end == '\n')
			break;
	}
	s = strchr(tab + 2, '\t');
	l->text = s ? s + 1 : "";
	return l->nr != 0;
}

/* objdump takes what is data for code too, and shows prefixes that belong nowhere as a line of their own. */
static int is_code(const struct line *l)
{
	static const char prefixes[] = " data16 addr32 cs ds es ss fs gs repz repnz lock xacquire xrelease bnd notrack ";
	char text[128], word[140];
	char *save, *w;

	if (strstr(l->text, "(bad)") || strstr(l->text, ".byte"))
		return 0;
	snprintf(text, sizeof(text), "%s", l->text);
	for (w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		snprintf(word, sizeof(word), " %s ", w);
		if (strncmp(w, "rex", 3) && !strstr(prefixes, word))
			return 1;
	}
	return 0;
}

static int same_length(const struct line *l)
{
	struct x86_insn in;
	size_t skip = l->nr > 1 && l->bytes[0] == 0x9b;	/* fwait and what waits are one line there */

	return x86_decode(l->bytes + skip, l->nr - skip, &in) == l->nr - skip;
}

int main(void)
{
	uint64_t nr = 0, bytes = 0, skipped = 0, bad = 0;
	char buf[512];
	struct line l;

	while (fgets(buf, sizeof(buf), stdin)) {
		if (!parse(buf, &l))
			continue;
		if (!is_code(&l)) {
			skipped++;
			continue;
		}
		nr++;
		bytes += l.nr;
		if (!same_length(&l) && bad++ < MAX_SHOWN)
			printf("0x%" PRIx64 ": %zu bytes: %s", l.addr, l.nr, buf);
	}
	printf("%" PRIu64 " instructions, %" PRIu64 " bytes, %" PRIu64 " not code, %" PRIu64 " different\n", nr, bytes,
	       skipped, bad);
	return bad != 0 || !nr;
}
