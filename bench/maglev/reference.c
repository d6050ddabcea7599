/* SPDX-License-Identifier: Apache-2.0 */
/* The reference: the loop of Maglev (NSDI 2016, section 3.4, figure 2), permutations on the fly. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int paper_table(const uint32_t *offsets, const uint32_t *skips, uint32_t members, uint32_t size,
		int32_t *entry)
{
	uint32_t *next = calloc(members, sizeof(*next)), filled = 0;

	if (!next)
		return -1;
	memset(entry, -1, size * sizeof(*entry));
	while (1)
		for (uint32_t i = 0; i < members; i++) {
			uint32_t slot = (offsets[i] + (uint64_t)next[i] * skips[i]) % size;

			while (entry[slot] >= 0) {
				next[i]++;
				slot = (offsets[i] + (uint64_t)next[i] * skips[i]) % size;
			}
			entry[slot] = i;
			next[i]++;
			if (++filled == size) {
				free(next);
				return 0;
			}
		}
}
