/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit Matcher (ToN 2020): from the lowest bit up, half of the odd ones give one unit of the level
 * to the other half; those receive whose remaining bits are later in order.
 */
#include <stdlib.h>

#include "bits.h"
#include "turnout_core.h"

/* Values that are not 0, their bits in reverse, and whose they are. */
struct alive {
	uint64_t *values;
	uint32_t *places;
	size_t count;
	/* Of this level: which of them are odd, the keys of those, and room to select in. */
	uint32_t *odd;
	uint64_t *keys, *room;
};

/* Drops those without a bit from `level` on. */
static void bury(struct alive *alive, uint32_t level)
{
	size_t kept = 0;

	for (size_t i = 0; i < alive->count; i++) {
		uint64_t value = alive->values[i];

		alive->values[kept] = value;
		alive->places[kept] = alive->places[i];
		kept += value << level != 0;
	}
	alive->count = kept;
}

/* Notes those with the bit of `level`, and as their keys the bits above; returns how many. */
static size_t find_odd(struct alive *alive, uint32_t level)
{
	size_t odds = 0;

	for (size_t i = 0; i < alive->count; i++) {
		uint64_t value = alive->values[i] << level;

		alive->odd[odds] = i;
		alive->keys[odds] = value << 1;
		odds += value >> 63;
	}
	return odds;
}

/* What adding one changes in a value whose bits are in reverse: all set ones at the top, and the
 * next. */
static uint64_t carried(uint64_t value)
{
	return ~(~0ull >> 1 >> __builtin_clzll(~value));
}

static int64_t match(struct alive *alive, uint32_t width, uint64_t limit, uint32_t *lengths,
		     uint32_t *givers, uint32_t *takers)
{
	uint64_t done = 0;

	for (uint32_t level = 0; level < width && done < limit; level++) {
		uint64_t up = done, down = done;
		size_t odds;
		struct cut cut;

		if (level % 4 == 0)
			bury(alive, level);
		odds = find_odd(alive, level);
		if (!odds)
			continue;
		cut = cut_keys(alive->keys, odds, odds / 2, alive->room);
		for (size_t i = odds; i--;) {
			uint32_t at = alive->odd[i];
			uint64_t key = alive->keys[i];
			int receives = is_last(cut, key, i);

			/* Without a branch here either. */
			key ^= carried(key) & -(uint64_t)receives;
			alive->values[at] = key >> 1 >> level;
			if (!lengths)
				continue;
			takers[up] = givers[down] = alive->places[at];
			up += receives;
			down += !receives;
		}
		for (size_t i = 0; lengths && i < odds / 2; i++)
			lengths[done + i] = width - level;
		done += odds / 2;
	}
	if (done >= limit)
		return (int64_t)limit + 1;
	if (lengths) {
		size_t root = 0;

		while (!(alive->values[root] << width))
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
			.room = keys + count + 1,
		};

		for (size_t i = 0; i < count; i++) {
			values[i] = reversed(values[i]);
			alive.places[i] = i;
		}
		rules = match(&alive, width, limit, lengths, givers, takers);
	}
	free(numbers);
	free(keys);
	return rules;
}
