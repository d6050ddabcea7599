/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flow, its hash, and the order in which a flow tries the members: the decision that
 * kernel, Python and simulator share.
 *
 * The hash is SipHash-1-3 of the canonical flow: client address, VIP, client port, VIP
 * port (each as on the wire) and the protocol, 13 bytes with IPv4 and 37 with IPv6. A service that
 * hashes the client's address alone hashes the same message with all but that address zero, so
 * that all services of a pool agree on a client.
 */
#ifndef TURNOUT_FLOW_H
#define TURNOUT_FLOW_H

#include <linux/types.h>

#include "layout.h"
#include "siphash.h"

/* Words hold the wire's bytes as a little-endian load finds them. */
struct turnout_flow {
	__u32 source[4]; /* IPv4: source[0] */
	__u32 vip[4];	 /* IPv4: vip[0] */
	__u32 ports;	 /* source port in the low half, destination port in the high half */
	__u8 protocol;
	__u8 family; /* 4 or 6 */
};

_Static_assert(sizeof(struct turnout_flow) == 40, "turnout.core.flow mirrors it");

static inline __attribute__((always_inline)) __u64
turnout_flow_hash(const struct turnout_flow *flow, __u64 k0, __u64 k1, __u8 client_only)
{
	struct turnout_siphash s = turnout_sip_begin(k0, k1);
	__u64 keep = client_only ? 0 : ~0ULL;

	if (flow->family == 4) {
		turnout_sip_word(&s, flow->source[0] | ((__u64)flow->vip[0] << 32 & keep));
		turnout_sip_word(&s, (((__u64)flow->protocol << 32 | flow->ports) & keep) |
					     13ULL << 56);
	} else {
		turnout_sip_word(&s, (__u64)flow->source[1] << 32 | flow->source[0]);
		turnout_sip_word(&s, (__u64)flow->source[3] << 32 | flow->source[2]);
		turnout_sip_word(&s, ((__u64)flow->vip[1] << 32 | flow->vip[0]) & keep);
		turnout_sip_word(&s, ((__u64)flow->vip[3] << 32 | flow->vip[2]) & keep);
		turnout_sip_word(&s, (((__u64)flow->protocol << 32 | flow->ports) & keep) |
					     37ULL << 56);
	}
	return turnout_sip_end(&s);
}

/* h in [0, 2^32) to [0, size): unbiased to within size / 2^32, and no division. */
static inline __attribute__((always_inline)) __u32 turnout_scale(__u32 h, __u32 size)
{
	return (__u64)h * size >> 32;
}

/*
 * h_i of second try i: a bijection of h for each i, of additions, shifts and xors only
 * (the shape of Jenkins' 32-bit integer mix).
 */
static inline __attribute__((always_inline)) __u32 turnout_try(__u32 h, __u32 i)
{
	h += i * 0x9e3779b9U;
	h = (h + 0x7ed55d16U) + (h << 12);
	h = (h ^ 0xc761c23cU) ^ (h >> 19);
	h = (h + 0x165667b1U) + (h << 5);
	h = (h + 0xd3a2646cU) ^ (h << 9);
	h = (h + 0xfd7046c5U) + (h << 3);
	h = (h ^ 0xb55a4f09U) ^ (h >> 16);
	return h;
}

/*
 * The walk after the second tries: position j visits (first + j * step) mod prime, the
 * positions that are not below the number of members are passed over. Since the modulus
 * is prime every step visits every member once.
 */
static inline __attribute__((always_inline)) __u32 turnout_walk_first(__u32 h, __u32 prime)
{
	return turnout_scale(turnout_try(h, TURNOUT_SECOND_TRIES + 1), prime);
}

static inline __attribute__((always_inline)) __u32 turnout_walk_step(__u32 h, __u32 prime)
{
	return 1 + turnout_scale(turnout_try(h, TURNOUT_SECOND_TRIES + 2), prime - 1);
}

#endif
