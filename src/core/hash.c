/* SPDX-License-Identifier: Apache-2.0 */
/* The flow hash for Python: the header that the kernel program includes, over many flows. */
#include <stddef.h>

#include "flow.h"
#include "turnout_core.h"

void turnout_flow_hashes(const struct turnout_flow *flows, size_t count, uint64_t k0, uint64_t k1,
			 uint8_t client_only, uint64_t *hashes)
{
	for (size_t i = 0; i < count; i++)
		hashes[i] = turnout_flow_hash(&flows[i], k0, k1, client_only);
}
