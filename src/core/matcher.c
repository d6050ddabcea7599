/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit Matcher (ToN 2020): from the lowest bit up, half of the odd ones give one unit of the level
 * to the other half; those receive whose remaining bits are later in order.
 */
#include <stdlib.h>

#include "bits.h"
#include "turnout_core.h"

/* Shifts all values and notes the odd ones, with their keys; returns how many they are. */
static size_t halve(uint64_t *values, size_t count, uint32_t *odd, uint64_t *keys)
{
	size_t odds = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t value = values[i];

		values[i] = value >> 1;
		odd[odds] = i;
		odds += value & 1;
	}
	for (size_t i = 0; i < odds; i++)
		keys[i] = reversed(values[odd[i]]);
	return odds;
}

int64_t turnout_match(uint64_t *values, size_t count, uint32_t width, uint64_t limit,
		      uint32_t *lengths, uint32_t *givers, uint32_t *takers)
{
	uint32_t *odd = malloc((count + 1) * sizeof(*odd));
	uint64_t *keys = malloc((count + 1) * sizeof(*keys));
	uint64_t done = 0;
	size_t root = 0;

	if (!odd || !keys) {
		free(odd);
		free(keys);
		return -1;
	}
	for (uint32_t level = 0; level < width && done < limit; level++) {
		size_t odds = halve(values, count, odd, keys);
		uint64_t up = done, down = done;
		struct cut cut;

		if (!odds)
			continue;
		cut = cut_keys(keys, odds, odds / 2);
		for (size_t i = 0; i < odds; i++) {
			uint32_t at = odd[i];
			int receives = after(&cut, reversed(values[at]));

			values[at] += receives;
			if (!lengths)
				continue;
			if (receives) {
				lengths[up] = width - level;
				takers[up++] = at;
			} else {
				givers[down++] = at;
			}
		}
		done += odds / 2;
	}
	free(odd);
	free(keys);
	if (done >= limit)
		return (int64_t)limit + 1;
	if (lengths) {
		for (size_t i = 0; i < count; i++)
			root = values[i] ? i : root;
		lengths[done] = 0;
		givers[done] = root;
		takers[done] = UINT32_MAX;
	}
	return (int64_t)done + 1;
}
