/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_addresses FILE ELF [NR=100000]: makes an artificial recording without names, a sample at each of so many random
 * addresses of the code of an ELF file, and prints the addresses. The same arguments give the same records.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_writer.h"
#include "src/elf/elf_image.h"

#define PUT(TAG, field, ...) \
	put(w, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ })

static int failed;

static void put(struct trace_writer *w, const struct record *rec)
{
	failed |= trace_writer_record(w, rec);
}

static struct rec_segment code_of(const struct elf_image *img)
{
	struct rec_segment seg = { 0 };

	for (size_t i = 0; i < img->nr_segments; i++)
		if (img->segments[i].exec && img->segments[i].filesz > seg.filesz)
			seg = (struct rec_segment){ img->segments[i].offset, img->segments[i].vaddr,
						    img->segments[i].filesz };
	return seg;
}

static void put_facts(struct trace_writer *w, const char *path, const struct elf_image *img, const struct rec_segment *seg)
{
	struct record binary = { .tag = REC_BINARY, .binary = { .id = 1, .path = 1, .segments = seg, .nr_segments = 1 } };

	binary.binary.build_id_len = img->build_id_len;
	memcpy(binary.binary.build_id, img->build_id, img->build_id_len);
	PUT(META, meta, { "symbolize", "none", 4 });
	PUT(CLOCK, clock, { 1, 2, 3, 0 });
	PUT(STRING, string, { 1, path, strlen(path) });
	put(w, &binary);
	PUT(EVENT, event, { .id = 1, .period = 1 });
	PUT(PROCESS, process, { .id = 1, .tgid = 1 });
	PUT(THREAD, thread, { .id = 1, .process = 1, .tid = 1 });
}

int main(int argc, char **argv)
{
	uint32_t nr = argc > 3 ? (uint32_t)atoi(argv[3]) : 100000;
	struct elf_image *img;
	struct trace_writer *w;
	struct rec_segment seg;
	uint64_t seed = 42;

	if (argc < 3 || elf_image_open(open(argv[2], O_RDONLY), &img) || trace_writer_open(argv[1], NULL, &w))
		return 2;
	seg = code_of(img);
	put_facts(w, argv[2], img, &seg);
	for (uint32_t i = 1; i <= nr && seg.filesz; i++) {
		uint64_t addr;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		addr = seg.vaddr + (seed >> 20) % seg.filesz;
		PUT(FRAME, frame, { .id = i, .binary = 1, .addr = addr });
		PUT(NODE, node, { i, 0, i });
		PUT(SAMPLE, sample, { .time_ns = i, .event = 1, .thread = 1, .ustack = i, .weight = 1, .end = END_ROOT });
		printf("0x%" PRIx64 "\n", addr);
	}
	PUT(END, end, { .time_ns = nr, .samples = nr, .unresolved = nr, .target_status = -1 });
	return trace_writer_close(w) || failed;
}
