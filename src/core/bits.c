/* SPDX-License-Identifier: Apache-2.0 */
/* Selection by digits from the most significant on: linear whatever the keys are. */
#include "bits.h"

/* Few digits, so that one pass over random keys leaves few and the tally is small. */
#define DIGIT 6
#define FEW 24

uint64_t reversed(uint64_t value)
{
	value = (value >> 1 & 0x5555555555555555) | (value & 0x5555555555555555) << 1;
	value = (value >> 2 & 0x3333333333333333) | (value & 0x3333333333333333) << 2;
	value = (value >> 4 & 0x0f0f0f0f0f0f0f0f) | (value & 0x0f0f0f0f0f0f0f0f) << 4;
	return __builtin_bswap64(value);
}

/* The largest first. */
static void sort_few(const uint64_t *keys, size_t count, uint64_t *sorted)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t key = keys[i];
		size_t at = i;

		for (; at && sorted[at - 1] < key; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = key;
	}
}

struct cut cut_keys(const uint64_t *keys, size_t count, size_t take, uint64_t *room)
{
	const uint64_t *left = keys;
	size_t lefts = count;
	struct cut cut = {.first = count};

	for (int bits = 0; bits < 64 && lefts > FEW; bits += DIGIT) {
		size_t tally[1 << DIGIT] = {0};
		size_t kept = 0;
		unsigned int digit = (1 << DIGIT) - 1;

		for (size_t i = 0; i < lefts; i++)
			tally[left[i] << bits >> (64 - DIGIT)]++;
		for (; tally[digit] < take; digit--)
			take -= tally[digit];
		for (size_t i = 0; i < lefts; i++)
			if (left[i] << bits >> (64 - DIGIT) == digit)
				room[kept++] = left[i];
		left = room;
		lefts = kept;
	}
	/* What is still many is all equal. */
	if (lefts <= FEW) {
		sort_few(left, lefts, room);
		left = room;
	}
	cut.key = left[take - 1];
	for (; *left > cut.key; left++)
		take--;
	while (take)
		take -= keys[--cut.first] == cut.key;
	return cut;
}
