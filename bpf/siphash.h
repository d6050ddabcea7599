/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash-1-3 with a 128-bit key and a 64-bit result (Aumasson, Bernstein 2012; one
 * compression round a word, three to finish), over whole words: the caller lays out the
 * message, its last word carrying the length in the top byte as the paper says.
 *
 * Additions, rotations and xors only, so that hardware and P4 can do the same.
 */
#ifndef TURNOUT_SIPHASH_H
#define TURNOUT_SIPHASH_H

#include <linux/types.h>

#define TURNOUT_ROTL64(x, b) (((x) << (b)) | ((x) >> (64 - (b))))

struct turnout_siphash {
	__u64 v0, v1, v2, v3;
};

static inline __attribute__((always_inline)) void turnout_sip_round(struct turnout_siphash *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = TURNOUT_ROTL64(s->v1, 13) ^ s->v0;
	s->v3 = TURNOUT_ROTL64(s->v3, 16) ^ s->v2;
	s->v0 = TURNOUT_ROTL64(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = TURNOUT_ROTL64(s->v1, 17) ^ s->v2;
	s->v3 = TURNOUT_ROTL64(s->v3, 21) ^ s->v0;
	s->v2 = TURNOUT_ROTL64(s->v2, 32);
}

static inline __attribute__((always_inline)) struct turnout_siphash turnout_sip_begin(__u64 k0,
										      __u64 k1)
{
	struct turnout_siphash s = {
		k0 ^ 0x736f6d6570736575ULL,
		k1 ^ 0x646f72616e646f6dULL,
		k0 ^ 0x6c7967656e657261ULL,
		k1 ^ 0x7465646279746573ULL,
	};
	return s;
}

static inline __attribute__((always_inline)) void turnout_sip_word(struct turnout_siphash *s,
								   __u64 word)
{
	s->v3 ^= word;
	turnout_sip_round(s);
	s->v0 ^= word;
}

static inline __attribute__((always_inline)) __u64 turnout_sip_end(struct turnout_siphash *s)
{
	s->v2 ^= 0xff;
	turnout_sip_round(s);
	turnout_sip_round(s);
	turnout_sip_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

#endif
