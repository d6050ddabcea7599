/* SPDX-License-Identifier: Apache-2.0 */
/* The data path's choice over an array of hashes. */
#include "flow.h"
#include "turnout_core.h"

static int32_t choose(const uint16_t *table, uint32_t size, const uint8_t *usable, uint32_t members,
		      uint32_t walk, uint32_t h)
{
	uint32_t member = table[turnout_scale(h, size)];
	uint32_t at, step;

	if (usable[member])
		return member;
	for (uint32_t i = 1; i <= TURNOUT_SECOND_TRIES; i++) {
		member = table[turnout_scale(turnout_try(h, i), size)];
		if (usable[member])
			return member;
	}
	at = turnout_walk_first(h, walk);
	step = turnout_walk_step(h, walk);
	for (uint32_t j = 0; j < walk; j++) {
		if (at < members && usable[at])
			return at;
		at += step;
		if (at >= walk)
			at -= walk;
	}
	return -1;
}

void turnout_lookup(const uint16_t *table, uint32_t size, const uint8_t *usable, uint32_t members,
		    uint32_t walk, const uint64_t *hashes, size_t count, int32_t *found)
{
	for (size_t i = 0; i < count; i++)
		found[i] = choose(table, size, usable, members, walk, hashes[i] >> 32);
}
