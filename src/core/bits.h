/* SPDX-License-Identifier: Apache-2.0 */
/* The order of numbers by their bits from the least significant on. */
#ifndef TURNOUT_BITS_H
#define TURNOUT_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Keys above `key` are among the last in order, and those equal to it from the place `first` on. */
struct cut {
	uint64_t key;
	size_t first;
};

/* The bits of `value` in reverse: as numbers, these compare as the bits do. */
uint64_t reversed(uint64_t value);

/* Where the last `take` of `count` keys begin; 1 <= take <= count. Keys are of values below 2^63;
 * of equal ones, those that stand last are last. There is room for as many. */
struct cut cut_keys(const uint64_t *keys, size_t count, size_t take, uint64_t *room);

static inline int is_last(struct cut cut, uint64_t key, size_t at)
{
	/* Without a branch: of random keys, none would be foreseen. */
	return key + (at >= cut.first) > cut.key;
}

#endif
