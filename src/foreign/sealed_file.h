/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open foreign file on its way from the opener to a parser, through a process that can let go of
 * it without asking the file's server.
 *
 * The problem. close() is a question to the file system (FUSE_FLUSH). A server that does not answer
 * holds the closing process for ever: no signal ends that, and the end of a process closes
 * everything that it has open. So a process that must be able to end may not have such a file among
 * its descriptors at all.
 *
 * The idea. The file stays in a message that nobody takes. It is sent through a pair of sockets
 * (SCM_RIGHTS, unix(7)), and only the receiving end goes from process to process: the seal. Whoever
 * wants to read the file looks at the message without taking it (MSG_PEEK), and gets a descriptor
 * of the file. When the last descriptor of the seal is closed, the kernel drops the message and the
 * file with it, and asks nobody.
 *
 *	opener	seal = sealed_file_new(fd), close(fd)	may hang, and is left behind then
 *	probee	sends the seal on, closes it		never hangs
 *	parser	fd = sealed_file_open(seal)		may hang when it closes fd
 *
 * Limits. The kernel counts files in messages for each user, up to RLIMIT_NOFILE (ETOOMANYREFS). So
 * a seal lives for one question only; in between, probee keeps what stands for the file
 * (kept_file.h).
 */
#pragma once

int sealed_file_new(int fd);		/* the seal, or -errno; fd stays the caller's */
int sealed_file_open(int seal);		/* the file; -ENOTSOCK: it is no seal; or another -errno */
