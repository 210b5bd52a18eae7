/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of the kernel by a glob, from /proc/kallsyms. */
#pragma once

/* 0, or an error that ends the search and is returned. */
typedef int (*kernel_function_fn)(void *ctx, const char *name);

/* In the order of their addresses. 0, -errno, or what fn returned; prints no message. */
int kernel_functions_each(const char *glob, kernel_function_fn fn, void *ctx);
