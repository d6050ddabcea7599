/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of a packet: each is counted under exactly one of these. The verdict is
 * XDP's. A packet that is not for a service is passed untouched whatever is wrong with it.
 */
#ifndef TURNOUT_REASONS_H
#define TURNOUT_REASONS_H

#define TURNOUT_REASONS(X)                                                                         \
	X(not_ip, PASS, "neither IPv4 nor IPv6")                                                   \
	X(stacked_vlan, PASS, "more than one VLAN tag")                                            \
	X(malformed_ip, PASS, "IP header cut short or of another version: addressee unknown")      \
	X(not_service, PASS, "for no service")                                                     \
	X(vip_other, PASS,                                                                         \
	  "for a VIP, but sent to many, or neither a service's flow nor a plain echo request")     \
	X(forwarded, TX, "encapsulated, out by the interface it came in")                          \
	X(redirected, REDIRECT, "encapsulated, out by another interface")                          \
	X(echo_answered, TX, "echo request to a VIP, answered")                                    \
	X(fragment, DROP, "fragment of a service's packet")                                        \
	X(truncated, DROP, "frame ends before the packet does")                                    \
	X(bad_ip_header, DROP, "IP header length below its minimum or beyond the packet")          \
	X(bad_tcp_header, DROP, "TCP header length below its minimum or beyond the packet")        \
	X(bad_udp_length, DROP, "UDP length below its minimum or beyond the packet")               \
	X(extension_headers, DROP, "more IPv6 extension headers than are followed")                \
	X(ttl_expired, DROP, "arrived with TTL or hop limit 0")                                    \
	X(no_member, DROP, "no member of the pool may take the flow")                              \
	X(no_next_hop, DROP, "next hop of the member not known")                                   \
	X(too_big, DROP, "longer than the egress MTU once encapsulated")                           \
	X(no_room, DROP, "driver left no room in front of the packet")                             \
	X(no_egress, DROP, "egress interface not among those the forwarder may send by")

enum turnout_reason {
#define X(name, verdict, text) TURNOUT_REASON_##name,
	TURNOUT_REASONS(X)
#undef X
		TURNOUT_REASON_COUNT
};

#endif
