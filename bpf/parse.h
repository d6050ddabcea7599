/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a frame to its flow: Ethernet with at most one 802.1Q tag, IPv4, IPv6, TCP, UDP.
 *
 * Parsing cannot know whom a packet is for. So it says what the packet is (its shape) and what
 * would be wrong with it if it were a service's (its fault); the caller, who knows the services,
 * drops what is faulty and ours and passes what is not ours.
 *
 * No kernel helpers: the same code runs in the XDP program and in a process.
 */
#ifndef TURNOUT_PARSE_H
#define TURNOUT_PARSE_H

#include <linux/types.h>

#include "flow.h"
#include "reasons.h"

#define TURNOUT_MAX_EXTENSIONS 4

enum turnout_shape {
	TURNOUT_SHAPE_FLOW,	/* TCP or UDP with ports known */
	TURNOUT_SHAPE_PORTLESS, /* TCP or UDP whose ports are not in the frame */
	TURNOUT_SHAPE_ECHO,	/* echo request right behind a plain IP header */
	TURNOUT_SHAPE_OTHER,	/* any other IP packet */
	TURNOUT_SHAPE_UNKNOWN,	/* not IP: the fault says what */
};

struct turnout_packet {
	struct turnout_flow flow;
	__u32 l2_length; /* 14, or 18 with a tag */
	__u32 ip_length; /* of the whole IP packet, by its own header */
	__u32 l4_length;
	__u64 first8;	    /* IPv6: first eight bytes of the header, for the outer checksum */
	__u8 shape;	    /* enum turnout_shape */
	__u8 fault;	    /* enum turnout_reason, TURNOUT_REASON_COUNT: none */
	__u8 traffic_class; /* DSCP and ECN */
	__u8 opens;	    /* TCP SYN without ACK */
	__u8 summed; /* its layer-4 checksum covers it, and no extension header is in between */
};

#define TURNOUT_ETH_IPV4 0x0008
#define TURNOUT_ETH_IPV6 0xdd86
#define TURNOUT_ETH_8021Q 0x0081
#define TURNOUT_ETH_8021AD 0xa888

#define TURNOUT_PROTO_ICMP 1
#define TURNOUT_PROTO_TCP 6
#define TURNOUT_PROTO_UDP 17
#define TURNOUT_PROTO_ICMPV6 58

struct turnout_ipv4 {
	__u8 version_ihl;
	__u8 tos;
	__u16 length;
	__u16 id;
	__u16 fragment;
	__u8 ttl;
	__u8 protocol;
	__u16 sum;
	__u32 source;
	__u32 destination;
};

struct turnout_ipv6 {
	__u32 version_class_label;
	__u16 payload_length;
	__u8 next_header;
	__u8 hop_limit;
	__u32 source[4];
	__u32 destination[4];
};

struct turnout_tcp {
	__u16 source, destination;
	__u32 sequence, acknowledged;
	__u8 offset;
	__u8 flags;
	__u16 window, sum, urgent;
};

struct turnout_udp {
	__u16 source, destination, length, sum;
};

/* For the fast path to run straight on: what every packet of an ordinary flow does is expected. */
#define TURNOUT_EXPECT(condition) __builtin_expect(!!(condition), 1)
#define TURNOUT_RARE(condition) __builtin_expect(!!(condition), 0)

#define TURNOUT_FAULT(p, name)                                                                     \
	do {                                                                                       \
		if ((p)->fault == TURNOUT_REASON_COUNT)                                            \
			(p)->fault = TURNOUT_REASON_##name;                                        \
	} while (0)

/* The ports alone, where the packet has them and the frame too. */
static inline __attribute__((always_inline)) void
turnout_parse_ports(const void *l4, const void *end, struct turnout_packet *p)
{
	p->shape = TURNOUT_SHAPE_PORTLESS;
	/* One pointer for check and access, or the verifier does not see that they belong together.
	 */
	asm volatile("" : "+r"(l4));
	if (p->l4_length < 4 || l4 + 4 > end)
		return;
	p->shape = TURNOUT_SHAPE_FLOW;
	p->flow.ports = *(const __u32 *)l4;
}

/*
 * Layer 4 at `l4`; the packet's length fields are set. Of several faults the first found stays,
 * and a frame that ends too early is found last: a packet in several buffers only looks like it.
 */
static inline __attribute__((always_inline)) void turnout_parse_tcp(const void *l4, const void *end,
								    struct turnout_packet *p)
{
	const struct turnout_tcp *tcp = l4;
	const __u8 syn = 0x02, ack = 0x10;
	__u32 header;

	p->flow.protocol = TURNOUT_PROTO_TCP;
	if (TURNOUT_RARE(p->l4_length < sizeof(*tcp) || (const void *)(tcp + 1) > end)) {
		if (p->l4_length < sizeof(*tcp))
			TURNOUT_FAULT(p, bad_tcp_header);
		TURNOUT_FAULT(p, truncated);
		turnout_parse_ports(l4, end, p);
		return;
	}
	p->shape = TURNOUT_SHAPE_FLOW;
	p->flow.ports = *(const __u32 *)tcp;
	header = (tcp->offset >> 4) * 4;
	if (TURNOUT_RARE(header < sizeof(*tcp) || header > p->l4_length))
		TURNOUT_FAULT(p, bad_tcp_header);
	p->opens = (tcp->flags & (syn | ack)) == syn;
}

static inline __attribute__((always_inline)) void turnout_parse_udp(const void *l4, const void *end,
								    struct turnout_packet *p)
{
	const struct turnout_udp *udp = l4;
	__u32 length;

	p->flow.protocol = TURNOUT_PROTO_UDP;
	if (TURNOUT_RARE(p->l4_length < sizeof(*udp) || (const void *)(udp + 1) > end)) {
		if (p->l4_length < sizeof(*udp))
			TURNOUT_FAULT(p, bad_udp_length);
		TURNOUT_FAULT(p, truncated);
		turnout_parse_ports(l4, end, p);
		return;
	}
	p->shape = TURNOUT_SHAPE_FLOW;
	p->flow.ports = *(const __u32 *)udp;
	length = __builtin_bswap16(udp->length);
	if (TURNOUT_RARE(length < sizeof(*udp) || length > p->l4_length))
		TURNOUT_FAULT(p, bad_udp_length);
	/* A datagram that ends before its packet leaves bytes no checksum covers. */
	p->summed = p->summed && udp->sum && length == p->l4_length;
}

static inline __attribute__((always_inline)) int turnout_has_ports(__u8 protocol)
{
	return protocol == TURNOUT_PROTO_TCP || protocol == TURNOUT_PROTO_UDP;
}

static inline __attribute__((always_inline)) void
turnout_parse_ipv4(const void *l3, const void *end, struct turnout_packet *p)
{
	const struct turnout_ipv4 *ip = l3;
	__u32 header;
	__u16 fragment;

	if (TURNOUT_RARE((const void *)(ip + 1) > end || ip->version_ihl >> 4 != 4)) {
		p->fault = TURNOUT_REASON_malformed_ip;
		return;
	}
	p->flow.family = 4;
	p->flow.source[0] = ip->source;
	p->flow.vip[0] = ip->destination;
	p->traffic_class = ip->tos;
	p->ip_length = __builtin_bswap16(ip->length);
	p->summed = 1;
	header = (ip->version_ihl & 15) * 4;
	p->l4_length = p->ip_length - header;
	fragment = ip->fragment & 0xff3f; /* MF and offset, as loaded */
	if (TURNOUT_RARE(!turnout_has_ports(ip->protocol))) {
		const __u8 *type = l3 + sizeof(*ip);

		p->shape = TURNOUT_SHAPE_OTHER;
		if (ip->protocol == TURNOUT_PROTO_ICMP && !fragment && header == sizeof(*ip) &&
		    p->ip_length >= sizeof(*ip) + 8 && (const void *)(type + 8) <= end &&
		    type[0] == 8 && type[1] == 0)
			p->shape = TURNOUT_SHAPE_ECHO;
	} else if (TURNOUT_RARE(header < sizeof(*ip) || header > p->ip_length)) {
		p->flow.protocol = ip->protocol;
		p->shape = TURNOUT_SHAPE_PORTLESS;
		TURNOUT_FAULT(p, bad_ip_header);
		return;
	} else if (TURNOUT_RARE(fragment & 0xff1f)) {
		p->flow.protocol = ip->protocol;
		p->shape = TURNOUT_SHAPE_PORTLESS;
		TURNOUT_FAULT(p, fragment);
		return;
	}
	if (TURNOUT_RARE(fragment))
		TURNOUT_FAULT(p, fragment);
	if (TURNOUT_RARE(!ip->ttl))
		TURNOUT_FAULT(p, ttl_expired);
	if (TURNOUT_EXPECT(p->shape == TURNOUT_SHAPE_UNKNOWN)) {
		if (ip->protocol == TURNOUT_PROTO_TCP)
			turnout_parse_tcp(l3 + header, end, p);
		else
			turnout_parse_udp(l3 + header, end, p);
	}
	if (TURNOUT_RARE(p->ip_length > end - l3))
		TURNOUT_FAULT(p, truncated);
}

static inline __attribute__((always_inline)) void
turnout_parse_ipv6(const void *l3, const void *end, struct turnout_packet *p)
{
	const struct turnout_ipv6 *ip = l3;
	const void *l4 = ip + 1;
	__u32 offset = sizeof(*ip);
	__u8 next;

	if (TURNOUT_RARE((const void *)(ip + 1) > end || (*(const __u8 *)l3) >> 4 != 6)) {
		p->fault = TURNOUT_REASON_malformed_ip;
		return;
	}
	p->flow.family = 6;
	__builtin_memcpy(p->flow.source, ip->source, 16);
	__builtin_memcpy(p->flow.vip, ip->destination, 16);
	__builtin_memcpy(&p->first8, ip, 8);
	p->traffic_class = __builtin_bswap32(ip->version_class_label) >> 20;
	p->ip_length = sizeof(*ip) + __builtin_bswap16(ip->payload_length);
	p->summed = 1;
	next = ip->next_header;
	if (TURNOUT_RARE(next == TURNOUT_PROTO_ICMPV6)) {
		const __u8 *type = l4;

		p->shape = TURNOUT_SHAPE_OTHER;
		if (p->ip_length >= sizeof(*ip) + 8 && (const void *)(type + 8) <= end &&
		    type[0] == 128 && type[1] == 0)
			p->shape = TURNOUT_SHAPE_ECHO;
	} else if (TURNOUT_RARE(!turnout_has_ports(next))) {
		p->summed = 0;
#pragma unroll
		for (int i = 0; i <= TURNOUT_MAX_EXTENSIONS; i++) {
			const __u8 *extension = l4;

			if (turnout_has_ports(next))
				break;
			/* Hop-by-hop, routing, fragment and destination options alone are followed.
			 */
			if (next != 0 && next != 43 && next != 44 && next != 60) {
				p->shape = TURNOUT_SHAPE_OTHER;
				return;
			}
			/* What is behind cannot be told: a VIP's own, to be on the safe side. */
			p->shape = TURNOUT_SHAPE_PORTLESS;
			if (i == TURNOUT_MAX_EXTENSIONS) {
				TURNOUT_FAULT(p, extension_headers);
				return;
			}
			if ((const void *)(extension + 8) > end) {
				TURNOUT_FAULT(p, truncated);
				return;
			}
			if (next == 44) {
				__u16 fragment = *(const __u16 *)(extension + 2) & 0xf9ff;

				next = extension[0];
				/* An atomic fragment (RFC 6946) is whole. */
				if (TURNOUT_RARE(fragment))
					TURNOUT_FAULT(p, fragment);
				if (fragment & 0xf8ff) {
					p->flow.protocol = next;
					return;
				}
				l4 += 8;
				offset += 8;
			} else {
				__u32 length = 8 + extension[1] * 8;

				next = extension[0];
				l4 += length;
				offset += length;
			}
		}
		p->shape = TURNOUT_SHAPE_UNKNOWN;
	}
	p->l4_length = p->ip_length - offset;
	if (TURNOUT_RARE(offset > p->ip_length)) {
		p->flow.protocol = next;
		p->shape = TURNOUT_SHAPE_PORTLESS;
		TURNOUT_FAULT(p, bad_ip_header);
		return;
	}
	if (TURNOUT_RARE(!ip->hop_limit))
		TURNOUT_FAULT(p, ttl_expired);
	if (TURNOUT_EXPECT(p->shape == TURNOUT_SHAPE_UNKNOWN)) {
		if (next == TURNOUT_PROTO_TCP)
			turnout_parse_tcp(l4, end, p);
		else
			turnout_parse_udp(l4, end, p);
	}
	if (TURNOUT_RARE(p->ip_length > end - l3))
		TURNOUT_FAULT(p, truncated);
}

/*
 * The type of what the frame in [data, end) holds, as loaded: that of a provider's tag where there
 * is more than one tag, 0 where the frame is too short to tell. The caller parses each family by
 * itself, so that no state of the one meets that of the other: then the compiler keeps the fast
 * path straight.
 */
static inline __attribute__((always_inline)) __u16 turnout_parse_link(const void *data,
								      const void *end,
								      struct turnout_packet *p)
{
	__u16 type;

	__builtin_memset(p, 0, sizeof(*p));
	p->shape = TURNOUT_SHAPE_UNKNOWN;
	p->fault = TURNOUT_REASON_COUNT;
	p->l2_length = 14;
	if (TURNOUT_RARE(data + 14 > end))
		return 0;
	type = *(const __u16 *)(data + 12);
	if (TURNOUT_RARE(type == TURNOUT_ETH_8021Q)) {
		if (data + 18 > end)
			return 0;
		type = *(const __u16 *)(data + 16);
		p->l2_length = 18;
		if (type == TURNOUT_ETH_8021Q)
			type = TURNOUT_ETH_8021AD;
	}
	return type;
}

#endif
