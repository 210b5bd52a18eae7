/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat32: a 32-bit program that needs neither libc nor 32-bit headers, asleep in pause(). Built with -m32 -nostdlib -static.
 */
enum { SYS_WRITE = 4, SYS_GETPID = 20, SYS_ALARM = 27, SYS_PAUSE = 29, LIFETIME_S = 300 };

static long call(long nr, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void)
{
	char text[32] = "ready ";
	long pid = call(SYS_GETPID, 0, 0, 0), unit = 1;
	char *p = text + 6;

	call(SYS_ALARM, LIFETIME_S, 0, 0);
	while (pid / unit >= 10)
		unit *= 10;
	for (; unit; unit /= 10)
		*p++ = (char)('0' + pid / unit % 10);
	*p++ = '\n';
	call(SYS_WRITE, 1, (long)text, p - text);
	for (;;)
		call(SYS_PAUSE, 0, 0, 0);
}
