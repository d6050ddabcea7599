/* SPDX-License-Identifier: Apache-2.0 */
/* The forwarder's reasons, as text. */
#include "reasons.h"
#include "turnout_core.h"

static const struct turnout_reason_text {
	const char *name, *verdict, *text;
} reasons[] = {
#define X(name, verdict, text) {#name, #verdict, text},
	TURNOUT_REASONS(X)
#undef X
};

int turnout_reason(uint32_t index, const char **name, const char **verdict, const char **text)
{
	if (index >= TURNOUT_REASON_COUNT)
		return 0;
	*name = reasons[index].name;
	*verdict = reasons[index].verdict;
	*text = reasons[index].text;
	return 1;
}
