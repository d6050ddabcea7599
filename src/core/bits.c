/* SPDX-License-Identifier: Apache-2.0 */
/* Selection by the bytes from the most significant on: linear whatever the keys are. */
#include "bits.h"

#define FEW 24

uint64_t reversed(uint64_t value)
{
	value = (value >> 1 & 0x5555555555555555) | (value & 0x5555555555555555) << 1;
	value = (value >> 2 & 0x3333333333333333) | (value & 0x3333333333333333) << 2;
	value = (value >> 4 & 0x0f0f0f0f0f0f0f0f) | (value & 0x0f0f0f0f0f0f0f0f) << 4;
	return __builtin_bswap64(value);
}

/* Few enough to sort, the largest first. */
static struct cut cut_few(uint64_t *keys, size_t count, size_t take)
{
	size_t ties = 0;

	for (size_t i = 1; i < count; i++) {
		uint64_t key = keys[i];
		size_t at = i;

		for (; at && keys[at - 1] < key; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
	for (size_t i = take; i && keys[i - 1] == keys[take - 1]; i--)
		ties++;
	return (struct cut){keys[take - 1], ties};
}

struct cut cut_keys(uint64_t *keys, size_t count, size_t take)
{
	for (int shift = 56; shift >= 0 && count > FEW; shift -= 8) {
		size_t tally[256] = {0};
		size_t kept = 0;
		unsigned int byte = 255;

		for (size_t i = 0; i < count; i++)
			tally[keys[i] >> shift & 255]++;
		for (; tally[byte] < take; byte--)
			take -= tally[byte];
		for (size_t i = 0; i < count; i++)
			if ((keys[i] >> shift & 255) == byte)
				keys[kept++] = keys[i];
		count = kept;
	}
	/* What is still many is all equal. */
	return count > FEW ? (struct cut){keys[0], take} : cut_few(keys, count, take);
}
