/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room on the stack, whatever the limit says (ulimit -s, RLIMIT_STACK).
 *
 * The problem. The kernel ends a program with SIGSEGV when its stack outgrows the limit, and new
 * threads get stacks of the size that the limit had when the program began: with 32 KiB, too little
 * for either; with gigabytes, all of the address space. A higher limit would be inherited by the
 * command that is recorded.
 *
 * The idea. The program runs on a stack of its own where the limit is low, and threads have stacks
 * of one size.
 */
#pragma once

/*
 * Runs fn, and returns what it returns; on a stack of its own if the limit is too low. To be called
 * once, first of all, before there is a thread. There is no message: where no memory is left for
 * such a stack, fn runs on the small one.
 */
int stack_room_run(int (*fn)(int argc, char **argv), int argc, char **argv);
