/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest partition in a box, level by level from the lowest bit up ("Optimal Weighted Load
 * Balancing in TCAMs", sections IV and V).
 */
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "turnout_core.h"

enum { NO_MEMORY = -1, NO_PARTITION = -2, UNSOLVED = -3 };

/* The sum of 2^31 values below 2^62 is more than 64 bits. */
typedef unsigned __int128 sum_t;

struct box {
	uint64_t *low, *high;
	size_t count;
	uint64_t *values;
	uint64_t *keys, *room; /* for `count` each */
};

/* What is known of a box at one level. */
struct sums {
	sum_t low, high, up, down;
	uint64_t widest;
	int empty, fixed_odd;
};

static uint64_t above(uint64_t low)
{
	return (low + 1) >> 1;
}

static struct sums sums_of(const struct box *box)
{
	struct sums s = {0};

	for (size_t i = 0; i < box->count; i++) {
		uint64_t low = box->low[i], high = box->high[i];

		if (low > high)
			return (struct sums){.empty = 1};
		s.low += low;
		s.high += high;
		s.up += above(low);
		s.down += high >> 1;
		s.widest = high - low > s.widest ? high - low : s.widest;
		s.fixed_odd |= above(low) > high >> 1;
	}
	return s;
}

/* Of those whose bit in `odd` is set, `number` have one more than `values`: the last in order. */
static void lift(struct box *box, const uint64_t *odd, size_t number)
{
	size_t odds = 0;
	struct cut cut;

	if (!number)
		return;
	/* Without branches: of random bits, none would be foreseen. */
	for (size_t i = 0; i < box->count; i++) {
		box->keys[odds] = reversed(box->values[i]);
		odds += odd[i] & 1;
	}
	cut = cut_keys(box->keys, odds, number, box->room);
	odds = 0;
	for (size_t i = 0; i < box->count; i++) {
		box->values[i] += odd[i] & is_last(cut, box->keys[odds], odds);
		odds += odd[i] & 1;
	}
}

/* Who must have one more is later in the order of the bits. */
static void unit_ranges(struct box *box, uint64_t missing)
{
	for (size_t i = 0; i < box->count; i++) {
		box->values[i] = box->low[i];
		box->high[i] -= box->low[i];
	}
	lift(box, box->high, missing);
}

/* Everyone at the top; as many as are missing have one more, each at the cost of one transaction
 * of this level with another odd one. */
static void saturate(struct box *box, uint64_t missing)
{
	uint64_t partners = missing;

	for (size_t i = 0; i < box->count; i++)
		box->values[i] = box->high[i] >> 1;
	lift(box, box->high, missing);
	for (size_t i = 0; i < box->count; i++) {
		uint64_t down = box->high[i] >> 1, lifted = box->values[i] - down;
		uint64_t pairs = (box->high[i] & 1) && !lifted && partners;

		box->values[i] = 2 * down + lifted + pairs;
		partners -= pairs;
	}
}

/* The mirror image: everyone at the bottom, and so many of the odd ones have one less. */
static void mirror(struct box *box, uint64_t spare)
{
	uint64_t partners = spare;
	size_t odds = 0;

	for (size_t i = 0; i < box->count; i++) {
		box->values[i] = box->low[i] >> 1;
		odds += box->low[i] & 1;
	}
	lift(box, box->low, odds - spare);
	for (size_t i = 0; i < box->count; i++) {
		uint64_t up = above(box->low[i]);
		uint64_t less = up - box->values[i];
		uint64_t pairs = (box->low[i] & 1) && !less && partners;

		box->values[i] = 2 * up - less - pairs;
		partners -= pairs;
	}
}

/* The level whose windows gave the values, which are in its units; below 0 what is in their stead.
 */
static int solve(struct box *box, uint32_t width)
{
	for (uint32_t level = 0;; level++) {
		uint64_t want = 1ull << (width - level), half = want >> 1;
		struct sums s = sums_of(box);

		if (s.empty || s.low > want || want > s.high)
			return NO_PARTITION;
		if (s.widest <= 1) {
			unit_ranges(box, want - s.low);
			return level;
		}
		if (s.fixed_odd)
			return UNSOLVED;
		if (s.down < half) {
			saturate(box, half - s.down);
			return level;
		}
		if (s.up > half) {
			mirror(box, s.up - half);
			return level;
		}
		/* Even windows: a partition without transactions of this level is among the best.
		 */
		for (size_t i = 0; i < box->count; i++) {
			box->low[i] = above(box->low[i]);
			box->high[i] >>= 1;
		}
	}
}

int64_t turnout_cheapest(const uint64_t *low, const uint64_t *high, size_t count, uint32_t width,
			 uint64_t *values)
{
	size_t bytes = (count + 1) * sizeof(*values);
	uint64_t *room = malloc(4 * bytes);
	int64_t rules = NO_MEMORY;

	if (room) {
		struct box box = {
			.low = room,
			.high = room + count + 1,
			.count = count,
			.values = values,
			.keys = room + 2 * (count + 1),
			.room = room + 3 * (count + 1),
		};
		int level;

		memcpy(box.low, low, count * sizeof(*low));
		memcpy(box.high, high, count * sizeof(*high));
		level = solve(&box, width);
		rules = level;
		if (level >= 0) {
			memcpy(room, values, count * sizeof(*values));
			rules = turnout_match(room, count, width - level, UINT64_MAX, NULL, NULL,
					      NULL);
			for (size_t i = 0; i < count; i++)
				values[i] <<= level;
		}
	}
	free(room);
	return rules;
}
