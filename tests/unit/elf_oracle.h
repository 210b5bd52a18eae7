/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What binutils say about an ELF file: the function symbols that `readelf -sW` lists and the PLT labels of
 * `objdump -d`. Independent of our own reader.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"

struct oracle_symbol {
	uint64_t addr, size;
	char *name;
};

struct oracle {
	struct oracle_symbol *v;
	size_t nr, cap;
};

static inline bool have_tool(const char *tool)
{
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null 2>&1", tool);
	return !system(cmd);
}

static inline FILE *run_tool(const char *fmt, const char *path)
{
	char cmd[1024];
	FILE *f;

	snprintf(cmd, sizeof(cmd), fmt, path);
	f = popen(cmd, "r");
	assert(f);
	return f;
}

static inline void oracle_push(struct oracle *o, uint64_t addr, uint64_t size, const char *name)
{
	struct oracle_symbol *s = array_push(&o->v, &o->nr, &o->cap);

	assert(s);
	*s = (struct oracle_symbol){ addr, size, strdup(name) };
	s->name[strcspn(s->name, "@")] = 0;	/* the version */
}

static inline int oracle_by_addr(const void *a, const void *b)
{
	const struct oracle_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Adds the defined functions of both symbol tables of a file. */
static inline void oracle_functions(struct oracle *o, const char *path)
{
	FILE *f = run_tool("readelf -sW '%s' 2>/dev/null", path);
	char type[32], bind[32], vis[32], ndx[32], name[8192], line[16384], size[32];
	unsigned long long addr;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*[0-9]: %llx %31s %31s %31s %31s %31s %8191[^\n]", &addr, size, type, bind, vis,
			   ndx, name) != 7)
			continue;
		if ((strcmp(type, "FUNC") && strcmp(type, "IFUNC")) || ndx[0] < '0' || ndx[0] > '9')
			continue;
		oracle_push(o, addr, strtoull(size, NULL, 0), name);
	}
	pclose(f);
	qsort(o->v, o->nr, sizeof(*o->v), oracle_by_addr);
}

/* Labels like "000000000002f030 <getenv@plt>:", except those for *ABS* and for the stub of the resolver. */
static inline void oracle_plt(struct oracle *o, const char *path)
{
	FILE *f = run_tool("objdump -d -j .plt -j .plt.sec -j .plt.got '%s' 2>/dev/null", path);
	unsigned long long addr;
	char name[8192], line[16384], *end;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx <%8191[^>]>:", &addr, name) != 2)
			continue;
		end = strstr(name, "@plt");
		if (!end || end[4] || name[0] == '*')
			continue;
		*end = 0;
		oracle_push(o, addr, 0, name);
	}
	pclose(f);
}

/* First symbol at or behind addr. */
static inline size_t oracle_at(const struct oracle *o, uint64_t addr)
{
	size_t lo = 0, hi = o->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (o->v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static inline bool oracle_has(const struct oracle *o, uint64_t addr, const char *name)
{
	for (size_t i = oracle_at(o, addr); i < o->nr && o->v[i].addr == addr; i++)
		if (!strcmp(o->v[i].name, name))
			return true;
	return false;
}

static inline void oracle_release(struct oracle *o)
{
	for (size_t i = 0; i < o->nr; i++)
		free(o->v[i].name);
	free(o->v);
	memset(o, 0, sizeof(*o));
}
