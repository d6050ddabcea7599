/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An echo request becomes its reply, in place. Checksums change by what changed (RFC 1624). */
#ifndef TURNOUT_ECHO_H
#define TURNOUT_ECHO_H

#include <linux/types.h>

#include "parse.h"

#define TURNOUT_ECHO_TTL 64

static inline __attribute__((always_inline)) void turnout_swap(void *a, void *b, const int words)
{
	__u16 *x = a, *y = b;

#pragma unroll
	for (int i = 0; i < words; i++) {
		__u16 kept = x[i];

		x[i] = y[i];
		y[i] = kept;
	}
}

/* The checksum once one 16-bit word that it covers has changed; both carries come round. */
static inline __attribute__((always_inline)) __u16 turnout_resum(__u16 sum, __u16 old, __u16 new)
{
	__u32 s = (__u16)~sum + (__u32)(__u16)~old + new;

	s = (s & 0xffff) + (s >> 16);
	s = (s & 0xffff) + (s >> 16);
	return ~s;
}

/* `l3` holds a whole IPv4 header without options and 8 bytes of ICMP, checked by the caller. */
static inline __attribute__((always_inline)) void turnout_answer_ipv4(void *frame, void *l3)
{
	struct turnout_ipv4 *ip = l3;
	__u16 *icmp = l3 + sizeof(*ip);
	__u16 *ttl_protocol = (__u16 *)&ip->ttl;
	__u16 old = *ttl_protocol;
	__u16 type = icmp[0];

	turnout_swap(frame, frame + 6, 3);
	turnout_swap(&ip->source, &ip->destination, 2);
	ip->ttl = TURNOUT_ECHO_TTL;
	ip->sum = turnout_resum(ip->sum, old, *ttl_protocol);
	icmp[0] = type & 0xff00; /* type 0: echo reply */
	icmp[1] = turnout_resum(icmp[1], type, icmp[0]);
}

static inline __attribute__((always_inline)) void turnout_answer_ipv6(void *frame, void *l3)
{
	struct turnout_ipv6 *ip = l3;
	__u16 *icmp = l3 + sizeof(*ip);
	__u16 type = icmp[0];

	turnout_swap(frame, frame + 6, 3);
	turnout_swap(ip->source, ip->destination, 8);
	ip->hop_limit = TURNOUT_ECHO_TTL;
	icmp[0] = (type & 0xff00) | 129;
	icmp[1] = turnout_resum(icmp[1], type, icmp[0]);
}

#endif
