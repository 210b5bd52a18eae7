/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The version is Py_Version since 3.11. Before, it follows from functions that each minor version
 * has added to the API. Patch versions are not told apart then. Those before 3.8 and PyPy are found
 * only to be told about.
 */
#include "src/runtimes/python/python_find.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/runtime_loops.h"

enum { LOOP, STATE, CODE_TYPE, VERSION, SINCE_3_10, SINCE_3_9, SINCE_3_8, OLD_LOOP, ONLY_2,
       NR_NAMES };

static long read_vaddr(struct elf_image *img, uint64_t vaddr, void *buf, size_t len)
{
	uint64_t offset, left;
	int err = elf_image_offset_of(img, vaddr, &offset, &left);

	return err ? err : elf_image_pread(img, buf, left < len ? left : len, offset);
}

static uint32_t version_of(struct elf_image *img, const struct exported_symbol *v)
{
	uint32_t version = 0;

	if (v[VERSION].vaddr)
		return read_vaddr(img, v[VERSION].vaddr, &version, sizeof(version)) ==
				sizeof(version) ? version : 0;
	if (v[SINCE_3_10].vaddr)
		return 0x030a0000;
	if (v[SINCE_3_9].vaddr)
		return 0x03090000;
	if (v[SINCE_3_8].vaddr)
		return 0x03080000;
	if (v[STATE].vaddr)
		return 0x03070000;
	return v[LOOP].vaddr ? 0x03060000 : v[ONLY_2].vaddr ? 0x02070000 : 0;
}

/*
 * 0; -ENOTSUP: not known. On arm64 only what a test has seen there is known (python_runtime.c says
 * so to people): where the loop keeps its object on the C stack depends on the compiler.
 */
static int layout_of(struct elf_image *img, const struct exported_symbol *v, uint32_t version,
		     struct python_layout *out)
{
	uint8_t told[PYTHON_OFFSETS_BYTES];
	long n;

	if (version >> 24 != 3 || (img->machine != EM_X86_64 && version >> 16 != 0x030b))
		return -ENOTSUP;
	if (version < 0x030d0000)
		return python_layout_of(version >> 16 & 0xff, out);
	n = read_vaddr(img, v[STATE].vaddr, told, sizeof(told));
	return n < 0 ? (int)n : python_layout_told(told, (uint32_t)n, out);
}

int python_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct exported_symbol v[NR_NAMES] = {
		[LOOP] = { .name = "_PyEval_EvalFrameDefault" },
		[STATE] = { .name = "_PyRuntime" },
		[CODE_TYPE] = { .name = "PyCode_Type" },
		[VERSION] = { .name = "Py_Version" },
		[SINCE_3_10] = { .name = "PyIter_Send" },
		[SINCE_3_9] = { .name = "PyObject_CallNoArgs" },
		[SINCE_3_8] = { .name = "PyCode_NewWithPosOnlyArgs" },
		[OLD_LOOP] = { .name = "PyEval_EvalFrameEx" },
		[ONLY_2] = { .name = "PyString_FromString" },
	};
	struct python_layout layout = { 0 };
	int err = exported_symbols_find(img, v, NR_NAMES);

	if (err)
		return err;
	if (!v[LOOP].vaddr && !v[OLD_LOOP].vaddr)
		return -ENOENT;
	out->version = version_of(img, v);
	out->state_vaddr = v[STATE].vaddr;
	out->code_type_vaddr = v[CODE_TYPE].vaddr;
	if (!v[LOOP].vaddr || !v[STATE].vaddr)
		return 0;
	err = layout_of(img, v, out->version, &layout);
	RUNTIME_SET_OWN(out, &layout);
	if (err == -ENOTSUP || layout.is_free_threaded)
		return 0;
	if (!err)
		err = runtime_loops_find(img, fd, data, &v[LOOP], out);
	out->is_known = !err;
	return err;
}

int pypy_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct exported_symbol run = { .name = "pypy_execute_source" };
	int err = exported_symbols_find(img, &run, 1);

	(void)fd;
	(void)data;
	(void)out;
	return err ? err : run.vaddr ? 0 : -ENOENT;
}
