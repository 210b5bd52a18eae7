/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "bpf/wire.h"
#include "src/capture/waits/socket_text.h"

static char text[SOCKET_TEXT_MAX];

static const char *text_of(const struct wire_object *o)
{
	assert_true(socket_is(o));
	socket_text(o, text);
	return text;
}

/* The wire has both ends as the other side sees them. */
static void set_ends(struct wire_object *o, const char *own, uint16_t own_port, const char *other,
		     uint16_t other_port)
{
	if (o->family == AF_INET) {
		o->other.local[2] = o->other.remote[2] = htonl(0xffff);
		inet_pton(AF_INET, own, &o->other.remote[3]);
		inet_pton(AF_INET, other, &o->other.local[3]);
	} else {
		inet_pton(AF_INET6, own, o->other.remote);
		inet_pton(AF_INET6, other, o->other.local);
	}
	o->other.remote_port = own_port;
	o->other.local_port = other_port;
}

static void test_internet(void **state)
{
	struct wire_object o = { .kind = OBJECT_TCP, .family = AF_INET, .protocol = IPPROTO_TCP,
				 .state = 1 };

	(void)state;
	set_ends(&o, "127.0.0.1", 5432, "10.0.0.7", 51344);
	assert_string_equal(text_of(&o), "tcp 127.0.0.1:5432 -> 10.0.0.7:51344 ESTABLISHED");
	o.state = 200;
	assert_string_equal(text_of(&o), "tcp 127.0.0.1:5432 -> 10.0.0.7:51344 ?");
	o.family = AF_INET6;
	o.state = 10;
	o.kind = OBJECT_LISTENER;
	set_ends(&o, "2001:db8::1", 80, "::", 0);
	assert_string_equal(text_of(&o), "tcp [2001:db8::1]:80 LISTEN");
	o.kind = OBJECT_SOCKET;
	o.protocol = IPPROTO_UDP;
	o.state = 7;
	assert_string_equal(text_of(&o), "udp [2001:db8::1]:80");
	set_ends(&o, "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", 65535,
		 "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.254", 65535);
	assert_string_equal(text_of(&o), "udp [ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535 -> "
					 "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe]:65535");
}

static void test_unix(void **state)
{
	struct wire_object o = { .kind = OBJECT_UNIX, .family = AF_UNIX, .state = 1, .inode = 4711 };

	(void)state;
	assert_string_equal(text_of(&o), "unix [4711] ESTABLISHED");
	memcpy(o.name, "/run/x", 7);
	o.name_len = 7;
	assert_string_equal(text_of(&o), "unix /run/x ESTABLISHED");
	o.name_is_of_peer = 1;
	assert_string_equal(text_of(&o), "unix -> /run/x ESTABLISHED");
	memcpy(o.name, "\0a\0b", 4);
	o.name_len = 4;
	assert_string_equal(text_of(&o), "unix -> @a@b ESTABLISHED");
	memset(o.name, '\xff', sizeof(o.name));
	o.name_len = sizeof(o.name);
	assert_int_equal(strlen(text_of(&o)), strlen("unix ->  ESTABLISHED") + 108);
	o.name_len = UINT16_MAX;	/* from a kernel side gone wrong */
	assert_string_equal(text_of(&o), "unix [4711] ESTABLISHED");
}

static void test_others(void **state)
{
	struct wire_object o = { .kind = OBJECT_SOCKET, .family = AF_NETLINK, .inode = 7 };

	(void)state;
	assert_string_equal(text_of(&o), "netlink protocol 0 [7]");
	o.family = 40;
	assert_string_equal(text_of(&o), "socket family 40 [7]");
	o.kind = OBJECT_PIPE;
	assert_false(socket_is(&o));
	o.kind = OBJECT_FILE;
	assert_false(socket_is(&o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_internet),
		cmocka_unit_test(test_unix),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests_name("socket_text", tests, NULL, NULL);
}
