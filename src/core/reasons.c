/* SPDX-License-Identifier: Apache-2.0 */
/* The reasons of forwarder and agent, as text. */
#include "agent_reasons.h"
#include "reasons.h"
#include "turnout_core.h"

struct text {
	const char *name, *verdict, *text;
};

#define X(name, verdict, text) {#name, #verdict, text},
static const struct text forwarder[] = {TURNOUT_REASONS(X)};
static const struct text agent[] = {TURNOUT_AGENT_REASONS(X)};
#undef X

static int copy(const struct text *texts, uint32_t count, uint32_t index, const char **name,
		const char **verdict, const char **text)
{
	if (index >= count)
		return 0;
	*name = texts[index].name;
	*verdict = texts[index].verdict;
	*text = texts[index].text;
	return 1;
}

int turnout_reason(uint32_t index, const char **name, const char **verdict, const char **text)
{
	return copy(forwarder, TURNOUT_REASON_COUNT, index, name, verdict, text);
}

int turnout_agent_reason(uint32_t index, const char **name, const char **verdict, const char **text)
{
	return copy(agent, TURNOUT_AGENT_REASON_COUNT, index, name, verdict, text);
}
