/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit Matcher (ToN 2020): from the lowest bit up, half of the odd ones give one unit of the level
 * to the other half; those receive whose remaining bits are later in order.
 */
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "turnout_core.h"

/* Values that are not 0, and whose they are. */
struct alive {
	uint64_t *values;
	uint32_t *places;
	size_t count;
	/* Of this level: which of them are odd, the keys of those, and a copy to select in. */
	uint32_t *odd;
	uint64_t *keys, *selected;
};

/* Shifts all values and notes the odd ones, with their keys; returns how many they are. */
static size_t halve(struct alive *alive)
{
	size_t kept = 0, odds = 0;

	for (size_t i = 0; i < alive->count; i++) {
		uint64_t value = alive->values[i];

		alive->values[kept] = value >> 1;
		alive->places[kept] = alive->places[i];
		alive->odd[odds] = kept;
		odds += value & 1;
		kept += value != 0;
	}
	alive->count = kept;
	for (size_t i = 0; i < odds; i++)
		alive->keys[i] = reversed(alive->values[alive->odd[i]]);
	return odds;
}

static int64_t match(struct alive *alive, uint32_t width, uint64_t limit, uint32_t *lengths,
		     uint32_t *givers, uint32_t *takers)
{
	uint64_t done = 0;

	for (uint32_t level = 0; level < width && done < limit; level++) {
		size_t odds = halve(alive);
		uint64_t up = done, down = done;
		struct cut cut;

		if (!odds)
			continue;
		memcpy(alive->selected, alive->keys, odds * sizeof(*alive->keys));
		cut = cut_keys(alive->selected, odds, odds / 2);
		for (size_t i = odds; i--;) {
			uint32_t at = alive->odd[i];
			int receives = after(&cut, alive->keys[i]);

			alive->values[at] += receives;
			if (!lengths)
				continue;
			if (receives) {
				lengths[up] = width - level;
				takers[up++] = alive->places[at];
			} else {
				givers[down++] = alive->places[at];
			}
		}
		done += odds / 2;
	}
	if (done >= limit)
		return (int64_t)limit + 1;
	if (lengths) {
		size_t root = 0;

		while (!alive->values[root])
			root++;
		lengths[done] = 0;
		givers[done] = alive->places[root];
		takers[done] = UINT32_MAX;
	}
	return (int64_t)done + 1;
}

int64_t turnout_match(uint64_t *values, size_t count, uint32_t width, uint64_t limit,
		      uint32_t *lengths, uint32_t *givers, uint32_t *takers)
{
	uint32_t *numbers = malloc(2 * (count + 1) * sizeof(*numbers));
	uint64_t *keys = malloc(2 * (count + 1) * sizeof(*keys));
	int64_t rules = -1;

	if (numbers && keys) {
		struct alive alive = {
			.values = values,
			.places = numbers,
			.count = count,
			.odd = numbers + count + 1,
			.keys = keys,
			.selected = keys + count + 1,
		};

		for (size_t i = 0; i < count; i++)
			alive.places[i] = i;
		rules = match(&alive, width, limit, lengths, givers, takers);
	}
	free(numbers);
	free(keys);
	return rules;
}
