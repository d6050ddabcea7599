/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outer headers. The inner packet stays as it is to the byte: its TTL too, since it has
 * reached the address that it was sent to and the tunnel is no hop of its way (RFC 2003, 3.1).
 *
 * DSCP is copied (RFC 2983, uniform model) and so is ECN (RFC 6040, normal mode). Outer IPv4
 * packets are atomic: DF set, identification 0 (RFC 6864); nothing here is ever fragmented.
 */
#ifndef TURNOUT_ENCAP_H
#define TURNOUT_ENCAP_H

#include <linux/types.h>

#include "layout.h"
#include "parse.h"

#define TURNOUT_OUTER_TTL 64
#define TURNOUT_PROTO_IPIP 4
#define TURNOUT_PROTO_IPV6 41
#define TURNOUT_PROTO_GRE 47

/* Bytes between outer IP header and inner packet. */
static inline __attribute__((always_inline)) __u32 turnout_shim_length(__u8 encapsulation)
{
	return encapsulation == TURNOUT_GUE ? 8 : encapsulation == TURNOUT_GRE ? 4 : 0;
}

static inline __attribute__((always_inline)) __u8 turnout_outer_protocol(__u8 encapsulation,
									 __u8 inner_family)
{
	if (encapsulation == TURNOUT_GUE)
		return TURNOUT_PROTO_UDP;
	if (encapsulation == TURNOUT_GRE)
		return TURNOUT_PROTO_GRE;
	return inner_family == 4 ? TURNOUT_PROTO_IPIP : TURNOUT_PROTO_IPV6;
}

static inline __attribute__((always_inline)) __u16 turnout_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/*
 * Ones' complement sum of the whole inner packet, without touching its payload: layer 4 with
 * its pseudo header sums to zero where its checksum is right, and so does an IPv4 header.
 * (The kernel calls this local checksum offload.) Only where p->summed.
 */
static inline __attribute__((always_inline)) __u64 turnout_inner_sum(const struct turnout_packet *p)
{
	__u64 tail = (__u64)__builtin_bswap16(p->l4_length) +
		     ((__u32)p->flow.protocol << 8); /* of the pseudo header */

	if (p->flow.family == 4)
		return (__u64)(~p->flow.source[0]) + (~p->flow.vip[0]) + (__u16)~turnout_fold(tail);
	/* The addresses are in the header and in the pseudo header, so they cancel. */
	return (p->first8 & 0xffffffff) + (p->first8 >> 32) + (__u16)~turnout_fold(tail);
}

static inline __attribute__((always_inline)) void
turnout_write_ethernet(void *data, const struct turnout_member *m, __u32 l2_length, __u8 family)
{
	/* One load a word: a change of next hop is one store. What is too much is overwritten. */
	__u64 to = *(const volatile __u64 *)m->next_hop;
	__u64 from = *(const volatile __u64 *)m->own_mac;
	__u16 type = family == 4 ? TURNOUT_ETH_IPV4 : TURNOUT_ETH_IPV6;

	*(__u64 *)data = to;
	*(__u64 *)(data + 6) = from;
	if (TURNOUT_RARE(l2_length == 18)) {
		*(__u16 *)(data + 12) = TURNOUT_ETH_8021Q;
		*(__u16 *)(data + 14) = __builtin_bswap16((__u16)(to >> 48));
		*(__u16 *)(data + 16) = type;
	} else {
		*(__u16 *)(data + 12) = type;
	}
}

static inline __attribute__((always_inline)) void turnout_write_ipv4(struct turnout_ipv4 *outer,
								     const struct turnout_member *m,
								     __u32 length, __u8 protocol,
								     __u8 traffic_class)
{
	/* The header's first three words, as they are stored: fewer stores than fields. */
	__u32 first = 0x45 | (__u32)traffic_class << 8 | (__u32)__builtin_bswap16(length) << 16;
	__u32 second = 0x00400000; /* identification 0, DF */
	__u32 third = TURNOUT_OUTER_TTL | (__u32)protocol << 8;
	__u32 sum = m->address_sum + (first & 0xffff) + (first >> 16) + (second >> 16) + third;
	__u32 *word = (__u32 *)outer;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	word[0] = first;
	word[1] = second;
	word[2] = third | sum << 16;
	word[3] = *(const __u32 *)m->source;
	word[4] = *(const __u32 *)m->destination;
}

static inline __attribute__((always_inline)) void
turnout_write_ipv6(struct turnout_ipv6 *outer, const struct turnout_member *m, __u32 length,
		   __u8 protocol, __u8 traffic_class, __u32 entropy)
{
	outer->version_class_label =
		__builtin_bswap32(6U << 28 | (__u32)traffic_class << 20 | (entropy & 0xfffff));
	outer->payload_length = __builtin_bswap16(length);
	outer->next_header = protocol;
	outer->hop_limit = TURNOUT_OUTER_TTL;
#pragma unroll
	for (int i = 0; i < 4; i++) /* source and destination, one behind the other in both */
		((__u64 *)outer->source)[i] = ((const __u64 *)m->source)[i];
}

/* `length`: of header and inner packet. */
static inline __attribute__((always_inline)) void turnout_write_gue(struct turnout_udp *udp,
								    const struct turnout_member *m,
								    const struct turnout_packet *p,
								    __u32 length, __u32 entropy)
{
	__u16 sum = 0;

	udp->source = __builtin_bswap16(0xc000 | (entropy >> 18));
	udp->destination = __builtin_bswap16(TURNOUT_GUE_PORT);
	udp->length = __builtin_bswap16(length);
	if (m->family == 6 && p->summed) {
		sum = ~turnout_fold(turnout_inner_sum(p) + m->address_sum +
				    2 * (__u64)__builtin_bswap16(length) +
				    ((__u32)TURNOUT_PROTO_UDP << 8) + udp->source +
				    udp->destination);
		sum = sum ? sum : 0xffff;
	}
	udp->sum = sum;
}

static inline __attribute__((always_inline)) void turnout_write_gre(__u16 *gre, __u8 inner_family)
{
	gre[0] = 0;
	gre[1] = inner_family == 4 ? TURNOUT_ETH_IPV4 : TURNOUT_ETH_IPV6;
}

#endif
