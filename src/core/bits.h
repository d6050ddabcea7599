/* SPDX-License-Identifier: Apache-2.0 */
/* The order of numbers by their bits from the least significant on. */
#ifndef TURNOUT_BITS_H
#define TURNOUT_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Keys above `key` are among the last in order, and `ties` of those equal to it. */
struct cut {
	uint64_t key;
	size_t ties;
};

/* The bits of `value` in reverse: as numbers, these compare as the bits do. */
uint64_t reversed(uint64_t value);

/* Where the last `take` of `count` keys begin; 1 <= take <= count. The keys are overwritten. */
struct cut cut_keys(uint64_t *keys, size_t count, size_t take);

/* Whether a key is among the last; asked once for each key, the last first, since it uses up the
 * ties: of equal keys, those that stand last are last. */
static inline int after(struct cut *cut, uint64_t key)
{
	/* Without a branch: of random keys, none would be foreseen. */
	int tie = (key == cut->key) & (cut->ties > 0);

	cut->ties -= tie;
	return (key > cut->key) | tie;
}

#endif
