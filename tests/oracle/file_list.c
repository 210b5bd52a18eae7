/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/oracle/file_list.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "src/base/array.h"

static int by_inode(const void *a, const void *b)
{
	const struct file_entry *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static int by_size(const void *a, const void *b)
{
	const struct file_entry *x = a, *y = b;

	return x->size > y->size ? -1 : x->size < y->size;
}

static void drop_duplicates(struct file_list *list)
{
	size_t nr = 0;

	qsort(list->v, list->nr, sizeof(*list->v), by_inode);
	for (size_t i = 0; i < list->nr; i++) {
		if (!nr || by_inode(&list->v[nr - 1], &list->v[i]))
			list->v[nr++] = list->v[i];
		else
			free(list->v[i].path);
	}
	list->nr = nr;
	qsort(list->v, nr, sizeof(*list->v), by_size);
}

static int add(struct file_list *list, const FTSENT *e)
{
	struct file_entry *f = array_push(&list->v, &list->nr, &list->cap);

	if (!f)
		return -ENOMEM;
	*f = (struct file_entry){ strdup(e->fts_path), e->fts_statp->st_dev, e->fts_statp->st_ino, e->fts_statp->st_size };
	return f->path ? 0 : -ENOMEM;
}

/* Of N files in the order of their sizes keeps one, another each day. */
static void keep_share(struct file_list *list)
{
	const char *share = getenv("FILE_SHARE");
	size_t every = share ? strtoul(share, NULL, 10) : 1, nr = 0;
	size_t first = every ? (size_t)time(NULL) / 86400 % every : 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (every < 2 || i % every == first)
			list->v[nr++] = list->v[i];
		else
			free(list->v[i].path);
	}
	list->nr = nr;
}

int file_list_find(struct file_list *list, char **roots)
{
	FTS *fts = *roots ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	FTSENT *e;
	int err = 0;

	if (!fts)
		return *roots ? -errno : -EINVAL;
	while (!err && (e = fts_read(fts)))
		if (e->fts_info == FTS_F && S_ISREG(e->fts_statp->st_mode))
			err = add(list, e);
	fts_close(fts);
	drop_duplicates(list);
	keep_share(list);
	return err;
}

void file_list_release(struct file_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->v[i].path);
	free(list->v);
	memset(list, 0, sizeof(*list));
}
