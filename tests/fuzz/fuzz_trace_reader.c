/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile traces. The first byte chooses the way in:
 *
 *	even	the rest is a whole file: frames, checksums, searching for the next good one
 *	odd	the rest is records of chunks as they come out of zstd, each behind a u16 length;
 *		length 0 begins a segment
 *
 * The second way gets past the checksums, which no mutation hits. The seeds in
 * tests/fuzz/corpus/trace_reader are the fixture and the fixture with walks of quiet threads, both
 * ways; PROBEE_SEEDS=DIR fuzz_trace_reader -runs=0 writes them anew.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/trace/chunk_decoder.h"
#include "formats/trace/chunk_encoder.h"
#include "formats/trace/trace_reader.h"
#include "tests/unit/trace_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { WHOLE_FILE = 0, CHUNKS = 1 };

/* Touches all a record points to, as a consumer would, and checks what the reader promises. */
static uint64_t use_record(const struct record *rec)
{
	uint64_t sum = 0;

	switch (rec->tag) {
	case REC_META:
		sum += strlen(rec->meta.key);
		for (size_t i = 0; i < rec->meta.len; i++)
			sum += ((const uint8_t *)rec->meta.value)[i];
		break;
	case REC_STRING:
		for (size_t i = 0; i < rec->string.len; i++)
			sum += (uint8_t)rec->string.bytes[i];
		break;
	case REC_NOTE:
		for (size_t i = 0; i < rec->note.len; i++)
			sum += (uint8_t)rec->note.text[i];
		break;
	case REC_RAWSTACK:
		for (size_t i = 0; i < rec->rawstack.regs_len; i++)
			sum += ((const uint8_t *)rec->rawstack.regs)[i];
		for (size_t i = 0; i < rec->rawstack.len; i++)
			sum += ((const uint8_t *)rec->rawstack.bytes)[i];
		break;
	case REC_BINARY:
		for (uint32_t i = 0; i < rec->binary.nr_segments; i++)
			sum += rec->binary.segments[i].vaddr;
		break;
	case REC_SYMBOL:
		if (!rec->symbol.frame)
			abort();
		for (uint32_t i = 0; i < rec->symbol.nr_lines; i++)
			sum += rec->symbol.lines[i].line;
		break;
	case REC_NODE:
		if (rec->node.parent >= rec->node.id)
			abort();
		break;
	case REC_REPEAT:	/* its samples come out, not it */
		abort();
	default:
		break;
	}
	return sum;
}

static uint64_t count_samples(struct trace_reader *r)
{
	struct record rec;
	uint64_t nr = 0;

	if (trace_reader_rewind(r))
		abort();
	while (trace_reader_next(r, &rec) > 0)
		nr += rec.tag == REC_SAMPLE;
	return nr;
}

static bool wants_some(void *ctx, const struct trace_rows *rows)
{
	uint64_t *asked = ctx;

	return rows->nr && ++*asked % 2;
}

static uint64_t fuzz_file(const uint8_t *data, size_t len)
{
	const struct trace_reader_options opts = { .max_table_bytes = 64 << 20 };
	struct trace_reader *r;
	struct record rec;
	uint64_t sum = 0, nr = 0, asked = 0;

	if (trace_reader_open_memory(data, len, &opts, &r))
		return 0;
	while (trace_reader_next(r, &rec) > 0) {
		sum += use_record(&rec);
		nr += rec.tag == REC_SAMPLE;
	}
	sum += trace_reader_status(r)->bad_chunks;
	trace_reader_know_tables(r);
	if (count_samples(r) != nr || count_samples(r) != nr)
		abort();
	trace_reader_choose(r, wants_some, &asked);
	if (count_samples(r) > nr)
		abort();
	trace_reader_close(r);
	return sum;
}

static uint64_t fuzz_chunks(const uint8_t *data, size_t len)
{
	struct chunk_decoder d = { 0 };
	struct byte_reader r = br_make(data, len);
	struct record rec;
	uint64_t sum = 0;
	int rc;

	while (br_left(&r) && d.tables.bytes < 64 << 20) {
		size_t n = br_u16(&r);
		struct byte_reader chunk = br_sub(&r, n < br_left(&r) ? n : br_left(&r));

		if (chunk.bad)
			break;
		if (!n)
			chunk_decoder_begin_segment(&d);
		chunk_decoder_begin(&d, chunk.p, br_left(&chunk), 1000);
		while ((rc = chunk_decoder_next(&d, &rec)) > 0)
			sum += use_record(&rec);
		if (rc < 0)
			chunk_decoder_lose(&d);
	}
	chunk_decoder_release(&d);
	return sum;
}

static void write_seed(const char *dir, const char *name, uint8_t way, const struct byte_buf *b)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		return;
	fputc(way, f);
	fwrite(b->v, 1, b->nr, f);
	fclose(f);
}

static int add_to_chunk(void *chunk, const struct record *rec)
{
	return chunk_encoder_add(chunk, rec);
}

/* The fixture and, behind its walk, two more in which little has changed. */
static int emit_scans(record_fn fn, void *ctx)
{
	static const struct rec_run all = { 1, 3 }, some[] = { { 1, 1 }, { 3, 1 } };
	int err = trace_fixture_emit(fn, ctx);

	FIX_SEND(REPEAT, repeat, { FIX_T0 + 100 * FIX_MS, 2, &all, 1 });
	FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + 200 * FIX_MS, .event = FIX_E_SCAN, .thread = FIX_T_WORKER,
				   .ustack = 4, .weight = 1, .end = END_ROOT, .scan = 3 });
	FIX_SEND(REPEAT, repeat, { FIX_T0 + 200 * FIX_MS, 3, some, 2 });
	return err;
}

static int emit_fixture(record_fn fn, void *ctx)
{
	return trace_fixture_emit(fn, ctx);
}

typedef int (*emit_fn)(record_fn fn, void *ctx);

static void write_file_seed(const char *dir, const char *name, emit_fn emit)
{
	struct byte_buf seed = { 0 };
	char path[512], bytes[4096];
	struct trace_writer *w;
	FILE *f;

	snprintf(path, sizeof(path), "%s/fixture.pbz", dir);
	if (trace_writer_open(path, NULL, &w))
		return;
	emit(trace_writer_record, w);
	trace_writer_close(w);
	f = fopen(path, "r");
	if (f) {
		bb_bytes(&seed, bytes, fread(bytes, 1, sizeof(bytes), f));
		fclose(f);
	}
	remove(path);
	write_seed(dir, name, WHOLE_FILE, &seed);
	bb_release(&seed);
}

static void write_chunk_seed(const char *dir, const char *name, emit_fn emit)
{
	struct byte_buf raw = { 0 }, seed = { 0 };
	struct chunk_encoder chunk = { 0 };
	struct signpost sp = { 0 };

	emit(add_to_chunk, &chunk);
	chunk_encoder_finish(&chunk, &raw, &sp);
	bb_u16(&seed, (uint16_t)(raw.nr - CHUNK_HEAD_SIZE));
	bb_bytes(&seed, raw.v + CHUNK_HEAD_SIZE, raw.nr - CHUNK_HEAD_SIZE);
	write_seed(dir, name, CHUNKS, &seed);
	chunk_encoder_release(&chunk);
	bb_release(&raw);
	bb_release(&seed);
}

static void write_seeds(const char *dir)
{
	write_file_seed(dir, "file", emit_fixture);
	write_file_seed(dir, "walks_file", emit_scans);
	write_chunk_seed(dir, "chunk", emit_fixture);
	write_chunk_seed(dir, "walks_chunk", emit_scans);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("PROBEE_SEEDS");
	char **args = calloc((size_t)*argc + 2, sizeof(*args));
	char quiet[] = "-close_fd_mask=2";	/* every refusal is a message */

	if (dir)
		write_seeds(dir);
	if (!args)
		return 0;
	memcpy(args, *argv, (size_t)*argc * sizeof(*args));
	args[(*argc)++] = strdup(quiet);
	*argv = args;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static volatile uint64_t sink;

	if (len < 1)
		return 0;
	sink += data[0] % 2 == WHOLE_FILE ? fuzz_file(data + 1, len - 1)
					  : fuzz_chunks(data + 1, len - 1);
	return 0;
}
