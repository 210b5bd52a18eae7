/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/verify/libdw_process.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include ARCH_HEADER

struct libdw_process {
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	bool attached;
	const struct libdw_stack *stack;	/* the stack that is being unwound */
	bool out_of_memory_image;
	struct libdw_result *out;
};

#define TID 1	/* any number, as there is no live thread */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return TID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *value, void *arg)
{
	struct libdw_process *p = arg;
	const struct libdw_stack *s = p->stack;

	(void)dwfl;
	if (addr < s->start || s->len < sizeof(*value) ||
	    addr - s->start > s->len - sizeof(*value)) {
		p->out_of_memory_image = true;
		return false;
	}
	memcpy(value, s->bytes + (addr - s->start), sizeof(*value));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *thread_arg)
{
	const struct libdw_stack *s = ((struct libdw_process *)thread_arg)->stack;
	Dwarf_Word regs[ARCH_DWARF_REGS_MASK + 1];

	for (unsigned i = 0; i <= ARCH_DWARF_REGS_MASK; i++)
		regs[i] = s->regs[arch_dwarf_to_reg[i]];
	if (!dwfl_thread_state_registers(thread, 0, ARCH_DWARF_REGS_MASK + 1, regs))
		return false;
	/*
	 * x86-64 has a number for the pc, after those of the other registers, and expressions (PLT)
	 * use it; arm64 refuses it.
	 */
	dwfl_thread_state_registers(thread, ARCH_DWARF_REGS_MASK + 1, 1, &s->regs[ARCH_REG_PC]);
	dwfl_thread_state_register_pc(thread, s->regs[ARCH_REG_PC]);
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread, .get_thread = get_thread, .memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/*
 * Keeps libdw from looking for debug files: the unwind information that counts is in the file
 * itself.
 */
static int no_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **path)
{
	(void)mod, (void)userdata, (void)name, (void)base, (void)file, (void)link, (void)crc,
		(void)path;
	return -1;
}

int libdw_process_new(const struct libdw_module *modules, size_t nr, struct libdw_process **pp)
{
	struct libdw_process *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->callbacks.find_elf = dwfl_build_id_find_elf;
	p->callbacks.find_debuginfo = no_debuginfo;
	p->dwfl = dwfl_begin(&p->callbacks);
	if (!p->dwfl) {
		free(p);
		return -ENOMEM;
	}
	dwfl_report_begin(p->dwfl);
	for (size_t i = 0; i < nr; i++) {
		int fd = dup(modules[i].fd);	/* libdw takes it if it accepts the module */

		if (fd >= 0 && !dwfl_report_elf(p->dwfl, modules[i].name, modules[i].name, fd,
						modules[i].bias, true))
			close(fd);
	}
	dwfl_report_end(p->dwfl, NULL, NULL);
	*pp = p;
	return 0;
}

void libdw_process_free(struct libdw_process *p)
{
	if (!p)
		return;
	dwfl_end(p->dwfl);
	free(p);
}

static int on_frame(Dwfl_Frame *state, void *arg)
{
	struct libdw_result *out = ((struct libdw_process *)arg)->out;
	Dwarf_Addr pc;
	bool activation;

	if (out->nr == LIBDW_MAX_FRAMES || !dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;
	out->pc[out->nr] = pc;
	out->exact[out->nr++] = activation;
	return DWARF_CB_OK;
}

void libdw_process_unwind(struct libdw_process *p, const struct libdw_stack *stack,
			  struct libdw_result *out)
{
	int ret;

	out->nr = 0;
	p->stack = stack;
	p->out = out;
	p->out_of_memory_image = false;
	if (!p->attached)	/* of the machine of the first module */
		p->attached = dwfl_attach_state(p->dwfl, NULL, TID, &thread_callbacks, p);
	dwfl_errno();		/* forgets an older error */
	ret = p->attached ? dwfl_getthread_frames(p->dwfl, TID, on_frame, p) : -1;
	out->why = ret ? dwfl_errmsg(-1) : NULL;
	out->out_of_memory_image = p->out_of_memory_image;
	p->stack = NULL;
	p->out = NULL;
}

static bool covers(Dwarf_CFI *cfi, Dwarf_Addr addr)
{
	Dwarf_Frame *frame = NULL;
	bool found = cfi && !dwarf_cfi_addrframe(cfi, addr, &frame);

	free(frame);
	return found;
}

bool libdw_process_has_cfi(struct libdw_process *p, uint64_t instruction)
{
	Dwfl_Module *mod = dwfl_addrmodule(p->dwfl, instruction);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (!mod)
		return false;
	cfi = dwfl_module_eh_cfi(mod, &bias);
	if (covers(cfi, instruction - bias))
		return true;
	cfi = dwfl_module_dwarf_cfi(mod, &bias);
	return covers(cfi, instruction - bias);
}

const char *libdw_process_symbol(struct libdw_process *p, uint64_t instruction, uint64_t *offset)
{
	Dwfl_Module *mod = dwfl_addrmodule(p->dwfl, instruction);
	GElf_Sym sym;

	return mod ? dwfl_module_addrinfo(mod, instruction, offset, &sym, NULL, NULL, NULL) : NULL;
}
