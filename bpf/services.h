/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys and buckets of the service table, for the kernel that reads and Python that writes. */
#ifndef TURNOUT_SERVICES_H
#define TURNOUT_SERVICES_H

#include <linux/types.h>

#include "layout.h"

#define TURNOUT_FOLD 0x9e3779b97f4a7c15ULL

/* Address and port as big-endian loads leave them in a little-endian register. */
static inline __attribute__((always_inline)) __u64 turnout_service_key4(__u32 address, __u16 port,
									__u8 protocol)
{
	return (__u64)__builtin_bswap32(address) << 32 | (__u32)__builtin_bswap16(port) << 16 |
	       (__u32)protocol << 8 | 4;
}

/* Two IPv6 addresses may share a key: the record's own address decides. */
static inline __attribute__((always_inline)) __u64 turnout_service_key6(const __u32 address[4],
									__u16 port, __u8 protocol)
{
	__u64 x = (__u64)address[1] << 32 | address[0];

	x = (x ^ x >> 29) * TURNOUT_FOLD;
	x ^= (__u64)address[3] << 32 | address[2];
	x = (x ^ x >> 29) * TURNOUT_FOLD;
	return (x >> 32) << 32 | (__u32)__builtin_bswap16(port) << 16 | (__u32)protocol << 8 | 6;
}

/*
 * First bucket of a key; the next ones follow it, modulo TURNOUT_BUCKETS, while each is full
 * (its last way has a key). A product carries upwards only, so fold first and take the top bits.
 */
static inline __attribute__((always_inline)) __u32 turnout_service_bucket_of(__u64 key)
{
	return ((key ^ key >> 29) * TURNOUT_FOLD) >> 52;
}

/*
 * Bit of the address of a key. Where it is not set no service has the address, so that traffic for
 * others is done with before its layer 4 is looked at.
 */
static inline __attribute__((always_inline)) __u32 turnout_filter_bit(__u64 key)
{
	__u32 address = key >> 32;

	return ((address ^ address >> 15) * (__u32)TURNOUT_FOLD) >> 16;
}

_Static_assert(TURNOUT_FILTER_BITS == 1 << 16, "turnout_filter_bit takes the top 16 bits of 32");
_Static_assert(TURNOUT_BUCKETS == 1 << 12, "turnout_service_bucket_of takes the top 12 bits");

#endif
