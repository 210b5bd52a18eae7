/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user whose files in messages the kernel counts.
 *
 * The problem. Processes pass descriptors to each other in messages (SCM_RIGHTS, unix(7)). The
 * kernel counts those that are under way for each real user, and refuses the next (ETOOMANYREFS)
 * when there are more than RLIMIT_NOFILE. So other processes of root can take this from a
 * recording. CAP_SYS_RESOURCE and CAP_SYS_ADMIN are free of it; a recording gives both up.
 *
 * The cure. The kernel counts by the real user alone, which decides nothing else here: rights and
 * files follow the effective one. So where the count is full, the thread takes a real user that no
 * process has. The effective and the saved user stay, and so do the capabilities.
 *
 * Users belong to threads, as capabilities do: the calling thread changes, and each thread and
 * process that it starts from then on is of that user. So call it before the threads that send,
 * before CAP_SETUID is given up, and after the process is forked that runs the command of a
 * recording.
 */
#pragma once

/*
 * Makes sure that this thread can send descriptors without those two capabilities. 0; or
 * -ETOOMANYREFS: it cannot, and may not change its user; or another -errno.
 */
int message_user_ensure(void);
