/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and buckets of the service table, for Python that writes it. */
#include "services.h"
#include "turnout_core.h"

#include <string.h>

uint64_t turnout_key4(const uint8_t address[4], uint16_t port, uint8_t protocol)
{
	uint32_t word;

	memcpy(&word, address, 4);
	return turnout_service_key4(word, __builtin_bswap16(port), protocol);
}

uint64_t turnout_key6(const uint8_t address[16], uint16_t port, uint8_t protocol)
{
	uint32_t words[4];

	memcpy(words, address, 16);
	return turnout_service_key6(words, __builtin_bswap16(port), protocol);
}

uint32_t turnout_filter(uint64_t key)
{
	return turnout_filter_bit(key);
}

uint32_t turnout_bucket(uint64_t key)
{
	return turnout_service_bucket_of(key);
}
