/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/kept_symbols.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/debug_info/debug_lines.h"
#include "src/elf/elf_image.h"
#include "src/parse/parse_protocol.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/kernel_text.h"
#include "src/symbolize/symbol_batch.h"

#define KEPT_BYTES (24u << 20)		/* of symbols and lines kept for the next request */
#define KEPT_MAX 128	/* libelf has 150 KiB of each: 317 files of 26 MB took 72 */

/* When symbols and lines are forgotten, in times that they have taken, and not before. */
#define REST_TIMES 200
#define REST_LEAST_NS (5 * NSEC_PER_SEC)
#define LARGE_BYTES (256u << 10)	/* less is not worth reading it again */

static size_t bytes_of(const struct kept_symbols *k)
{
	return elf_symbols_bytes(k->symbols) + elf_symbols_bytes(k->variables) +
	       (k->lines ? debug_lines_bytes(k->lines) : 0);
}

static void forget(struct kept_set *s, size_t i)
{
	struct kept_symbols *k = &s->v[i];

	assert(i < s->nr);
	debug_lines_close(k->lines);
	elf_symbols_free(k->symbols);
	elf_symbols_free(k->variables);
	for (size_t f = 0; f < k->nr_fds; f++)
		close(k->fds[f]);
	*k = s->v[--s->nr];
	memory_give_back();	/* it lay between what is kept */
}

/* Forgets what was used least, but never the last used. */
static void keep_few(struct kept_set *s)
{
	for (;;) {
		size_t bytes = 0, oldest = 0;

		for (size_t i = 0; i < s->nr; i++) {
			bytes += bytes_of(&s->v[i]);
			if (s->v[i].used_ns < s->v[oldest].used_ns)
				oldest = i;
		}
		if (s->nr < 2 || (bytes <= KEPT_BYTES && s->nr <= KEPT_MAX))
			return;
		forget(s, oldest);
	}
}

struct kept_symbols *kept_symbols_find(struct kept_set *s, uint32_t binary)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].binary == binary)
			return &s->v[i];
	return NULL;
}

static int find_kernel_text(int fd, uint64_t *start)
{
	struct elf_image *img;
	int err = elf_image_open(fd, &img);

	if (err)
		return err;
	err = kernel_text_of_file(img, start);
	elf_image_close(img);
	return err;
}

int kept_symbols_load(struct kept_set *s, const struct names_head *h, struct helper_message *m,
		      struct kept_symbols **kp)
{
	size_t nr_files = m->nr_fds > h->has_cache ? m->nr_fds - h->has_cache : 0;
	struct elf_symbols_source src = { .fd = nr_files ? m->fds[0] : -1,
					  .nr_debug_fds = nr_files ? nr_files - 1 : 0 };
	struct kept_symbols *k = array_push(&s->v, &s->nr, &s->cap);
	int err;

	if (!k)
		return -ENOMEM;
	memcpy(k->fds, m->fds, sizeof(k->fds));
	src.debug_fds = k->fds + 1;
	err = h->is_kernel ? find_kernel_text(src.fd, &k->text) : 0;
	if (!err)
		err = elf_symbols_load(&src, &k->symbols);
	if (err) {
		s->nr--;
		return err;
	}
	k->binary = h->binary;
	k->nr_fds = m->nr_fds;
	k->nr_files = nr_files;
	k->keeps_cache = h->keeps_cache;
	m->nr_fds = 0;
	*kp = k;
	return 0;
}

void kept_symbols_open_lines(struct kept_symbols *k)
{
	const struct debug_lines_source src = {
		.fds = k->fds, .nr_fds = k->nr_files,
		.cache_fd = k->nr_fds > k->nr_files ? k->fds[k->nr_files] : -1,
		.keeps_news = k->keeps_cache,
	};

	if (!k->are_lines_tried && debug_lines_open(&src, &k->lines, &k->lines_lack))
		k->lines = NULL;
	k->are_lines_tried = true;
}

void kept_symbols_used(struct kept_set *s, struct kept_symbols *k, uint64_t cpu_ns)
{
	k->used_ns = now_ns();
	k->cpu_ns += cpu_ns;
	keep_few(s);
}

/* When k may be forgotten; 0: not for being unused. */
static uint64_t end_of(const struct kept_symbols *k)
{
	uint64_t rest = k->cpu_ns * REST_TIMES;

	if (bytes_of(k) < LARGE_BYTES || (k->lines && debug_lines_is_asking(k->lines)))
		return 0;
	return k->used_ns + (rest > REST_LEAST_NS ? rest : REST_LEAST_NS);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

uint64_t kept_symbols_rest(struct kept_set *s, uint64_t now_ns)
{
	uint64_t next = 0;

	for (size_t i = s->nr; i-- > 0;) {
		struct kept_symbols *k = &s->v[i];
		uint64_t end = end_of(k);

		if (end && end <= now_ns) {
			forget(s, i);
			continue;
		}
		next = sooner(next, end);
		if (k->lines)
			next = sooner(next, debug_lines_leave_files(k->lines, now_ns));
	}
	return next;
}
