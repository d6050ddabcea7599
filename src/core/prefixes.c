/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefixes for transactions, the largest first ("Optimal Weighted Load Balancing in TCAMs",
 * section III): each block is cut from the smallest larger block that its taker has, so that no
 * prefix is used twice.
 */
#include <stdlib.h>

#include "turnout_core.h"

#define NOTHING UINT32_MAX

struct block {
	uint64_t prefix;
	uint32_t length;
	uint32_t next;
};

/* A target's blocks. Those of the current length cannot be cut at it; a half that was left of a
 * cut may be given whole, while the block of a rule may not: two rules would have one prefix. */
struct hand {
	uint32_t larger; /* the longest prefix first */
	uint32_t own, halves;
	uint32_t length; /* of own and halves */
};

struct pool {
	struct block *blocks;
	uint32_t used, room, free;
	int exhausted;
};

static void push(struct pool *pool, uint32_t *list, uint64_t prefix, uint32_t length)
{
	uint32_t at = pool->free;

	if (at != NOTHING) {
		pool->free = pool->blocks[at].next;
	} else {
		if (pool->used == pool->room) {
			size_t room = pool->room ? 2 * (size_t)pool->room : 1024;
			struct block *more =
				room < NOTHING ? realloc(pool->blocks, room * sizeof(*more)) : NULL;

			if (!more) {
				pool->exhausted = 1;
				return;
			}
			pool->blocks = more;
			pool->room = room;
		}
		at = pool->used++;
	}
	pool->blocks[at] = (struct block){prefix, length, *list};
	*list = at;
}

static struct block pop(struct pool *pool, uint32_t *list)
{
	uint32_t at = *list;
	struct block block = pool->blocks[at];

	*list = block.next;
	pool->blocks[at].next = pool->free;
	pool->free = at;
	return block;
}

static void move(struct pool *pool, uint32_t *from, uint32_t *to)
{
	while (*from != NOTHING) {
		uint32_t at = *from;

		*from = pool->blocks[at].next;
		pool->blocks[at].next = *to;
		*to = at;
	}
}

/* The hand of `target` for steps of `length`. */
static struct hand *at_length(struct pool *pool, struct hand *hands, uint32_t target,
			      uint32_t length)
{
	struct hand *hand = &hands[target];

	if (hand->length != length) {
		move(pool, &hand->own, &hand->larger);
		move(pool, &hand->halves, &hand->larger);
		hand->length = length;
	}
	return hand;
}

/* Takes a block of `length` from the hand; false where there is none. */
static int cut(struct pool *pool, struct hand *hand, uint32_t length, uint64_t *prefix)
{
	struct block block;

	if (hand->larger == NOTHING) {
		if (hand->halves == NOTHING)
			return 0;
		*prefix = pop(pool, &hand->halves).prefix;
		return 1;
	}
	block = pop(pool, &hand->larger);
	while (++block.length < length) {
		block.prefix <<= 1;
		push(pool, &hand->larger, block.prefix | 1, block.length);
	}
	*prefix = block.prefix << 1;
	push(pool, &hand->halves, *prefix | 1, length);
	return 1;
}

int64_t turnout_prefixes(const uint32_t *lengths, const uint32_t *givers, const uint32_t *takers,
			 size_t count, size_t targets, uint64_t *prefixes)
{
	struct hand *hands = malloc(targets * sizeof(*hands));
	struct pool pool = {.free = NOTHING};
	int64_t stuck = 0;

	if (!hands)
		return -1;
	for (size_t i = 0; i < targets; i++)
		hands[i] = (struct hand){NOTHING, NOTHING, NOTHING, 0};
	prefixes[0] = 0;
	push(&pool, &hands[givers[0]].own, 0, 0);
	for (size_t i = 1; i < count && !pool.exhausted; i++) {
		struct hand *taker = at_length(&pool, hands, takers[i], lengths[i]);

		if (!cut(&pool, taker, lengths[i], &prefixes[i])) {
			stuck = i;
			break;
		}
		push(&pool, &at_length(&pool, hands, givers[i], lengths[i])->own, prefixes[i],
		     lengths[i]);
	}
	free(hands);
	free(pool.blocks);
	return pool.exhausted ? -1 : stuck;
}
