/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A foreign file in a form that a process can hold, for as long as it likes, and let go of without
 * asking the file's server.
 *
 * The problem. close() of a file that was opened is a question to its file system (FUSE_FLUSH). A
 * server that does not answer holds the process that closes it, for ever. A message that nobody
 * takes can hold a file instead (sealed_file.h), but the kernel counts the files in messages for
 * each user: with more than RLIMIT_NOFILE of them no other process of that user can pass a
 * descriptor (ETOOMANYREFS).
 *
 * The idea. A descriptor made with O_PATH stands for the file without having it open. It keeps the
 * file alive when all its names are gone, it costs one descriptor of this process, and its close()
 * asks nobody. To read the file, the opener opens it again through the descriptor
 * (file_opener_again()).
 *
 *	opener	kept = kept_file_new(fd), close(fd)	may hang, and is left behind then
 *	probee	holds kept, closes it			never hangs
 *	opener	fd = kept_file_open(kept), seals it
 *	parser	opens the seal, reads
 *
 * fstat() of such a descriptor may ask the server, too: only the opener does that.
 */
#pragma once

#include <stdbool.h>

int kept_file_new(int fd);	/* what stands for the file, or -errno; fd stays the caller's */
int kept_file_open(int kept);	/* the file, open for reading, or -errno */
bool kept_file_is(int fd);	/* false: a plain file, or a seal */
