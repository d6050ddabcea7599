/* SPDX-License-Identifier: Apache-2.0 */
/* What turnout.core calls: plain pointers and integers only. */
#ifndef TURNOUT_CORE_H
#define TURNOUT_CORE_H

#include <stddef.h>
#include <stdint.h>

struct turnout_flow;

#define TURNOUT_EXPORT __attribute__((visibility("default")))

/* hash.c */
TURNOUT_EXPORT void turnout_flow_hashes(const struct turnout_flow *flows, size_t count, uint64_t k0,
					uint64_t k1, uint8_t client_only, uint64_t *hashes);

/* reasons.c: 0 where there is no reason of that index */
TURNOUT_EXPORT int turnout_reason(uint32_t index, const char **name, const char **verdict,
				  const char **text);
TURNOUT_EXPORT int turnout_agent_reason(uint32_t index, const char **name, const char **verdict,
					const char **text);

/* services.c: addresses as on the wire, ports in host order */
TURNOUT_EXPORT uint64_t turnout_key4(const uint8_t address[4], uint16_t port, uint8_t protocol);
TURNOUT_EXPORT uint64_t turnout_key6(const uint8_t address[16], uint16_t port, uint8_t protocol);
TURNOUT_EXPORT uint32_t turnout_filter(uint64_t key);
TURNOUT_EXPORT uint32_t turnout_bucket(uint64_t key);

/* table.c: the exact Maglev table, each slot the label of its member; 0, or -1 without memory */
TURNOUT_EXPORT int turnout_table(const uint32_t *offsets, const uint32_t *skips,
				 const uint32_t *weights, const uint32_t *quotas,
				 const uint16_t *labels, uint32_t members, uint32_t size,
				 uint16_t *table);

/* lookup.c: index of the member for each hash, -1 where nobody may take the flow */
TURNOUT_EXPORT void turnout_lookup(const uint16_t *table, uint32_t size, const uint8_t *usable,
				   uint32_t members, uint32_t walk, const uint64_t *hashes,
				   size_t count, int32_t *found);

/* matcher.c: the rules that a partition of 2^width needs, `limit` + 1 where they are more than
 * `limit`; -1 without memory. `values` is overwritten. The transactions, unless NULL, have room for
 * count * width / 2 + 1; the smallest first, the last without a taker. */
TURNOUT_EXPORT int64_t turnout_match(uint64_t *values, size_t count, uint32_t width, uint64_t limit,
				     uint32_t *lengths, uint32_t *givers, uint32_t *takers);

/* lifting.c: the partition of 2^width in low..high, at most 2^width, that needs the fewest rules,
 * and how many. -1 without memory; -2 where there is none; -3 where one target is fixed at an odd
 * value of some level and another has room. */
TURNOUT_EXPORT int64_t turnout_cheapest(const uint64_t *low, const uint64_t *high, size_t count,
					uint32_t width, uint64_t *values);

/* prefixes.c: the prefix of each transaction, the largest first, the first without a taker. 0; the
 * index of one whose taker has no block to give; -1 without memory. */
TURNOUT_EXPORT int64_t turnout_prefixes(const uint32_t *lengths, const uint32_t *givers,
					const uint32_t *takers, size_t count, size_t targets,
					uint64_t *prefixes);

#endif
