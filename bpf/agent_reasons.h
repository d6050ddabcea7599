/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of a packet that comes in at a backend: counted under exactly one of these. */
#ifndef TURNOUT_AGENT_REASONS_H
#define TURNOUT_AGENT_REASONS_H

#define TURNOUT_AGENT_REASONS(X)                                                                   \
	X(not_encapsulated, PASS, "not GUE, GRE or IP in IP in a form that instances send")        \
	X(not_instance, PASS, "encapsulated, but not sent by an instance")                         \
	X(not_own, PASS, "encapsulated by an instance, but not for this backend's address")        \
	X(decapsulated, PASS, "opened and handed to the host")                                     \
	X(malformed, DROP, "from an instance, but cut short, damaged, or no IP packet inside")     \
	X(not_vip, DROP, "from an instance, but what is inside is for no VIP of this backend")     \
	X(congestion, DROP, "marked as congested on the way, and the sender knows no ECN")         \
	X(failed, DROP, "the kernel could not take the outer header off")

enum turnout_agent_reason {
#define X(name, verdict, text) TURNOUT_AGENT_##name,
	TURNOUT_AGENT_REASONS(X)
#undef X
		TURNOUT_AGENT_REASON_COUNT
};

#endif
