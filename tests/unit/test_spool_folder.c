/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders of windows that others have prepared, and files of one's own that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/agent/ring_journal.h"
#include "src/agent/spool_folder.h"
#include "src/base/fail.h"
#include "src/base/own_file.h"
#include "src/push/push_progress_file.h"

#include <cmocka.h>

#define OTHER 65534

static char base[] = "/tmp/spool_folder.XXXXXX", folder[64];

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(path, 0600);
}

static char *in_base(const char *name)
{
	static char paths[2][128];	/* of this call and of the one before */
	static unsigned calls;
	char *path = paths[calls++ % 2];

	snprintf(path, sizeof(paths[0]), "%s/%s", base, name);
	return path;
}

static void empty(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s/*", base);
	assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(base))
		return -1;
	snprintf(folder, sizeof(folder), "%s/s", base);
	chmod(base, 0755);
	unsetenv("SUDO_UID");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	empty();
	return rmdir(base);
}

static int opens(const char *path, bool make)
{
	int fd = spool_folder_open(path, make);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void own_folders(void **state)
{
	struct stat st;

	(void)state;
	empty();
	assert_int_equal(opens(folder, false), -ENOENT);
	assert_int_equal(opens(folder, true), 0);
	assert_true(!stat(folder, &st) && (st.st_mode & 07777) == 0700);
	assert_int_equal(opens(folder, true), 0);
	assert_int_equal(opens(in_base("s/"), true), 0);
	/* One's own link may lead there, files with other names may be anything. */
	assert_int_equal(symlink(folder, in_base("l")), 0);
	assert_int_equal(opens(in_base("l"), true), 0);
	assert_int_equal(mkfifo(in_base("s/other"), 0666), 0);
	assert_int_equal(opens(folder, true), 0);
	assert_int_equal(opens(in_base("no/s"), true), -ENOENT);
	put("file", "");
	assert_int_equal(opens(in_base("file"), true), -ENOTDIR);
}

static void folders_that_others_change(void **state)
{
	(void)state;
	empty();
	assert_int_equal(mkdir(folder, 0700), 0);
	for (unsigned mode = 0700; mode <= 0777; mode++) {
		chmod(folder, mode);
		assert_int_equal(opens(folder, true), mode & 022 ? -EACCES : 0);
	}
	chmod(folder, 0700);
	if (geteuid())
		return;
	assert_int_equal(chown(folder, OTHER, OTHER), 0);
	assert_int_equal(opens(folder, true), -EACCES);
	assert_int_equal(chown(folder, 0, 0), 0);
	/* His link, as the last part and in the middle, also to what is not there yet. */
	assert_int_equal(symlink(base, in_base("l")), 0);
	assert_int_equal(lchown(in_base("l"), OTHER, OTHER), 0);
	assert_int_equal(opens(in_base("l"), true), -EACCES);
	assert_int_equal(opens(in_base("l/s"), true), -EACCES);
	assert_int_equal(opens(in_base("l/new"), true), -EACCES);
	assert_int_equal(access(in_base("new"), F_OK), -1);
}

/* Each name that the agent uses, taken by each kind of file that is not its own. */
static void files_that_others_put_there(void **state)
{
	static const char *const names[] = { "s/000000000042.20261125T191500Z.open", "s/000000000042.20261125T191500Z.pbz",
					     "s/spool.state", "s/target-main.state", "s/status" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (int kind = 0; kind < 6; kind++) {
			char path[128];

			empty();
			put("secret", "kept");
			assert_int_equal(mkdir(folder, 0700), 0);
			snprintf(path, sizeof(path), "%s/%s", base, names[i]);
			switch (kind) {
			case 0: assert_int_equal(symlink(in_base("secret"), path), 0); break;
			case 1: assert_int_equal(mkfifo(path, 0600), 0); break;
			case 2: assert_int_equal(link(in_base("secret"), path), 0); break;
			case 3: assert_int_equal(mkdir(path, 0700), 0); break;
			case 4: put(names[i], ""); chmod(path, 0666); break;
			default:
				put(names[i], "");
				if (!geteuid())
					assert_int_equal(chown(path, OTHER, OTHER), 0);
				else
					chmod(path, 0622);
			}
			assert_int_equal(opens(folder, true), -EACCES);
			assert_int_equal(opens(folder, false), -EACCES);
		}
}

/* What opens a file of its own by itself is not led elsewhere either. */
static void own_files(void **state)
{
	struct push_progress_file f;
	struct ring_journal j;
	uint64_t word = 0;
	int dir;

	(void)state;
	empty();
	put("secret", "kept");
	dir = spool_folder_open(folder, true);
	assert_true(dir >= 0);
	assert_int_equal(link(in_base("secret"), in_base("s/j")), 0);
	assert_int_equal(ring_journal_open(dir, "j", &word, sizeof(word), &j), -EACCES);
	assert_int_equal(push_progress_file_open(in_base("s/j"), &f), -EACCES);
	assert_int_equal(mkfifo(in_base("s/f"), 0600), 0);
	assert_int_equal(ring_journal_open(dir, "f", &word, sizeof(word), &j), -EACCES);
	assert_int_equal(push_progress_file_open(in_base("s/f"), &f), -EACCES);
	assert_int_equal(push_progress_file_open(in_base("s/new"), &f), 0);
	push_progress_file_close(&f);
	if (!geteuid()) {
		assert_int_equal(symlink(folder, in_base("l")), 0);
		assert_int_equal(lchown(in_base("l"), OTHER, OTHER), 0);
		assert_int_equal(push_progress_file_open(in_base("l/more"), &f), -ELOOP);
		assert_int_equal(chown(in_base("s/new"), OTHER, OTHER), 0);
		assert_int_equal(push_progress_file_open(in_base("s/new"), &f), -EACCES);
	}
	close(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_folders),
		cmocka_unit_test(folders_that_others_change),
		cmocka_unit_test(files_that_others_put_there),
		cmocka_unit_test(own_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
