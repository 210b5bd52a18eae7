/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/waits/socket_text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/wire.h"

/* include/net/tcp_states.h; other protocols use some of them. */
static const char *const states[] = {
	" ?", " ESTABLISHED", " SYN_SENT", " SYN_RECV", " FIN_WAIT1", " FIN_WAIT2", " TIME_WAIT",
	" CLOSE", " CLOSE_WAIT", " LAST_ACK", " LISTEN", " CLOSING", " NEW_SYN_RECV",
};

static const char *state_name(uint8_t state)
{
	return states[state < sizeof(states) / sizeof(states[0]) ? state : 0];
}

static const char *protocol_name(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP: return "tcp";
	case IPPROTO_UDP: return "udp";
	case IPPROTO_ICMP: case IPPROTO_ICMPV6: return "icmp";
	case IPPROTO_SCTP: return "sctp";
	case IPPROTO_UDPLITE: return "udplite";
	default: return "ip";
	}
}

#define END_MAX (INET6_ADDRSTRLEN + sizeof("[]:65535"))

static void put_end(char buf[END_MAX], const uint32_t addr[4], uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "?";
	bool is_v4 = !addr[0] && !addr[1] && addr[2] == htonl(0xffff);

	if (is_v4)
		inet_ntop(AF_INET, &addr[3], text, sizeof(text));
	else
		inet_ntop(AF_INET6, addr, text, sizeof(text));
	snprintf(buf, END_MAX, is_v4 ? "%s:%u" : "[%s]:%u", text, port);
}

/* The state says nothing for protocols without connections. */
static const char *inet_state(const struct wire_object *o)
{
	bool has_states = o->protocol == IPPROTO_TCP || o->protocol == IPPROTO_SCTP;

	return has_states ? state_name(o->state) : "";
}

/* The ends are there as the other side sees them. */
static void put_inet(const struct wire_object *o, char buf[SOCKET_TEXT_MAX])
{
	char own[END_MAX], other[END_MAX];

	put_end(own, o->other.remote, o->other.remote_port);
	put_end(other, o->other.local, o->other.local_port);
	if (o->other.local_port)
		snprintf(buf, SOCKET_TEXT_MAX, "%s %s -> %s%s", protocol_name(o->protocol), own,
			 other, inet_state(o));
	else
		snprintf(buf, SOCKET_TEXT_MAX, "%s %s%s", protocol_name(o->protocol), own,
			 inet_state(o));
}

static void put_unix(const struct wire_object *o, char buf[SOCKET_TEXT_MAX])
{
	char name[WIRE_UNIX_NAME + 1] = "";
	size_t len = o->name_len <= WIRE_UNIX_NAME ? o->name_len : 0;

	memcpy(name, o->name, len);
	/* That of a file ends with NUL, and an abstract one may have it anywhere. */
	if (*name)
		len = strlen(name);
	for (size_t i = 0; i < len; i++)
		name[i] = name[i] ? name[i] : '@';
	if (!len)
		snprintf(name, sizeof(name), "[%" PRIu64 "]", o->inode);
	snprintf(buf, SOCKET_TEXT_MAX, "unix %s%s%s", len && o->name_is_of_peer ? "-> " : "", name,
		 state_name(o->state));
}

bool socket_is(const struct wire_object *o)
{
	return o->kind == OBJECT_UNIX || o->kind == OBJECT_TCP || o->kind == OBJECT_LISTENER ||
	       o->kind == OBJECT_SOCKET;
}

void socket_text(const struct wire_object *o, char buf[SOCKET_TEXT_MAX])
{
	if (o->family == AF_INET || o->family == AF_INET6)
		put_inet(o, buf);
	else if (o->family == AF_UNIX)
		put_unix(o, buf);
	else if (o->family == AF_NETLINK)
		snprintf(buf, SOCKET_TEXT_MAX, "netlink protocol %u [%" PRIu64 "]", o->protocol,
			 o->inode);
	else
		snprintf(buf, SOCKET_TEXT_MAX, "socket family %u [%" PRIu64 "]", o->family,
			 o->inode);
}
