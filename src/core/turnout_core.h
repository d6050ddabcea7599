/* SPDX-License-Identifier: Apache-2.0 */
/* What turnout.core calls: plain pointers and integers only. */
#ifndef TURNOUT_CORE_H
#define TURNOUT_CORE_H

#include <stddef.h>
#include <stdint.h>

struct turnout_flow;

#define TURNOUT_EXPORT __attribute__((visibility("default")))

TURNOUT_EXPORT void turnout_flow_hashes(const struct turnout_flow *flows, size_t count, uint64_t k0,
					uint64_t k1, uint8_t client_only, uint64_t *hashes);

#endif
