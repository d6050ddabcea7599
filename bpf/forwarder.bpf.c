// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The forwarder: (VIP, protocol, port) -> service -> slot of its lookup table -> member ->
 * encapsulate and send to the member's next hop. What is not for a service is passed untouched.
 *
 * Calls cost more than anything else here (returns are mispredicted on purpose where the
 * processor needs that), so the whole way has one, bpf_xdp_adjust_head, and everything looked
 * up lies in global data or in arrays that the verifier inlines.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "echo.h"
#include "encap.h"
#include "flow.h"
#include "layout.h"
#include "parse.h"
#include "reasons.h"
#include "services.h"

struct turnout_service_bucket buckets[TURNOUT_BUCKETS] SEC(".data.buckets");
__u64 vip_filter[TURNOUT_FILTER_BITS / 64] SEC(".data.filter");
struct turnout_service services[2 * TURNOUT_MAX_SERVICES] SEC(".data.services");
struct turnout_member members[TURNOUT_MAX_MEMBERS] SEC(".data.members");

struct row {
	__u16 number[TURNOUT_ROW_ENTRIES];
};

/*
 * Lookup tables. A look-up in an inner array is inlined only where all are of one size, so the
 * usual tables share one and those that are larger lie apart, where a call is spent on each.
 * Sizes are numbers: clang 14 leaves the type of an inner map's value undefined.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TURNOUT_MAX_TABLES);
	__uint(key_size, sizeof(__u32));
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, TURNOUT_COMMON_ROWS);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, TURNOUT_ROW_ENTRIES * 2);
		});
} tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TURNOUT_MAX_TABLES);
	__uint(key_size, sizeof(__u32));
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_INNER_MAP);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, TURNOUT_ROW_ENTRIES * 2);
		});
} large_tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TURNOUT_MAX_SERVICES);
	__type(key, __u32);
	__type(value, struct turnout_counters);
} service_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TURNOUT_MAX_MEMBERS);
	__type(key, __u32);
	__type(value, struct turnout_counters);
} member_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TURNOUT_REASON_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} reason_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u32);
} egress SEC(".maps");

static const __u32 verdicts[32] = {
#define X(name, verdict, text) XDP_##verdict,
	TURNOUT_REASONS(X)
#undef X
};

_Static_assert(TURNOUT_REASON_COUNT <= 32, "verdicts");

/* Record index of a service, or of a VIP with port and protocol 0; 0 where there is none. */
static __always_inline __u32 find(const struct turnout_flow *flow, __u16 port, __u8 protocol)
{
	__u64 key = flow->family == 4 ? turnout_service_key4(flow->vip[0], port, protocol)
				      : turnout_service_key6(flow->vip, port, protocol);
	__u32 index = turnout_service_bucket_of(key);

	for (int probe = 0; probe < TURNOUT_BUCKET_PROBES; probe++) {
		const struct turnout_service_entry *entry =
			buckets[(index + probe) & (TURNOUT_BUCKETS - 1)].way;

#pragma unroll
		for (int way = 0; way < TURNOUT_BUCKET_WAYS; way++, entry++) {
			const struct turnout_service *service;
			__u32 record;

			if (entry->key != key) {
				/* Keys stand in order and are never taken out: here is the end. */
				if (!entry->key)
					return 0;
				continue;
			}
			record = *(const volatile __u64 *)&entry->record &
				 (2 * TURNOUT_MAX_SERVICES - 1);
			if (!record)
				continue;
			if (flow->family == 4)
				return record;
			service = &services[record];
			if (*(const __u64 *)service->vip ==
				    ((__u64)flow->vip[1] << 32 | flow->vip[0]) &&
			    *(const __u64 *)(service->vip + 8) ==
				    ((__u64)flow->vip[3] << 32 | flow->vip[2]))
				return record;
		}
	}
	return 0;
}

/* Whether an address can be a VIP: the key's port and protocol do not matter. */
static __always_inline int may_be_vip(__u64 key)
{
	__u32 bit = turnout_filter_bit(key);

	return vip_filter[bit / 64] >> bit % 64 & 1;
}

static __always_inline void tally(void *map, __u32 number, const struct turnout_packet *p)
{
	struct turnout_counters *counters = bpf_map_lookup_elem(map, &number);

	if (counters) {
		counters->packets++;
		counters->bytes += p->ip_length;
		if (TURNOUT_RARE(p->opens))
			counters->new_flows++;
	}
}

/* Member number in position `at` of a table's inner map; 0: none. */
static __always_inline __u32 entry(void *table, __u32 at)
{
	__u32 index = at / TURNOUT_ROW_ENTRIES;
	const struct row *row = bpf_map_lookup_elem(table, &index);

	return row ? row->number[at % TURNOUT_ROW_ENTRIES] & (TURNOUT_MAX_MEMBERS - 1) : 0;
}

static __always_inline int usable(__u32 number)
{
	return *(const volatile __u8 *)&members[number].state == TURNOUT_MEMBER_UP;
}

struct walk {
	__u32 table, rows_end, members, prime, large;
	__u32 at, step;
	__u32 found;
};

static long visit(__u32 j, struct walk *w)
{
	__u32 at = w->at, number = 0;
	void *table;

	(void)j;
	w->at += w->step;
	if (w->at >= w->prime)
		w->at -= w->prime;
	if (at >= w->members)
		return 0;
	if (w->large) {
		table = bpf_map_lookup_elem(&large_tables, &w->table);
		if (table)
			number = entry(table, w->rows_end + at);
	} else {
		table = bpf_map_lookup_elem(&tables, &w->table);
		if (table)
			number = entry(table, w->rows_end + at);
	}
	if (usable(number))
		w->found = number;
	return w->found != 0;
}

/* What is left when nobody whom the slots of h name may take the flow: a walk over all members. */
static __noinline __u32 walk(const struct turnout_service *service, __u32 h)
{
	struct walk w = {};

	if (!service)
		return 0;
	w.table = service->table;
	w.large = service->table_size > TURNOUT_COMMON_SIZE;
	w.rows_end = (service->table_size + TURNOUT_ROW_ENTRIES - 1) & ~(TURNOUT_ROW_ENTRIES - 1U);
	w.members = service->members;
	w.prime = service->walk;
	w.at = turnout_walk_first(h, w.prime);
	w.step = turnout_walk_step(h, w.prime);
	bpf_loop(w.prime, visit, &w, 0);
	return w.found;
}

/* By the slot of h and those of the second tries, 0 where nobody there may take the flow. */
static __always_inline __u32 by_slot(void *table, __u32 size, __u32 h)
{
	__u32 number = entry(table, turnout_scale(h, size));

	if (TURNOUT_EXPECT(usable(number)))
		return number;
	for (__u32 i = 1; i <= TURNOUT_SECOND_TRIES; i++) {
		number = entry(table, turnout_scale(turnout_try(h, i), size));
		if (usable(number))
			return number;
	}
	return 0;
}

static __noinline __u32 by_large_slot(const struct turnout_service *service, __u32 h)
{
	void *table;

	if (!service)
		return 0;
	table = bpf_map_lookup_elem(&large_tables, &service->table);
	return table ? by_slot(table, service->table_size, h) : 0;
}

/* The member of a flow whose hash is h (bpf/flow.h), 0 where nobody may take it. */
static __always_inline __u32 choose(const struct turnout_service *service, __u32 h)
{
	__u32 size = service->table_size, id = service->table, number = 0;

	if (TURNOUT_EXPECT(size <= TURNOUT_COMMON_SIZE)) {
		void *table = bpf_map_lookup_elem(&tables, &id);

		if (table)
			number = by_slot(table, size, h);
	} else {
		number = by_large_slot(service, h);
	}
	return TURNOUT_EXPECT(number) ? number : walk(service, h);
}

static __always_inline __u32 forward(struct xdp_md *ctx, const struct turnout_packet *p,
				     __u32 record)
{
	const struct turnout_service *service = &services[record & (2 * TURNOUT_MAX_SERVICES - 1)];
	__u8 encapsulation = service->encapsulation;
	__u32 shim = turnout_shim_length(encapsulation);
	const struct turnout_member *m;
	__u32 number, outer, l2_length, length, ifindex, reason = TURNOUT_REASON_forwarded;
	void *data, *end, *l3, *l4;
	__u64 hash;
	__u8 protocol;

	hash = turnout_flow_hash(&p->flow, service->hash_key[0], service->hash_key[1],
				 service->flags & TURNOUT_HASH_CLIENT);
	number = choose(service, hash >> 32) & (TURNOUT_MAX_MEMBERS - 1);
	if (!number)
		return TURNOUT_REASON_no_member;
	m = &members[number];
	ifindex = m->ifindex;
	if (!ifindex)
		return TURNOUT_REASON_no_next_hop;
	outer = m->family == 4 ? sizeof(struct turnout_ipv4) : sizeof(struct turnout_ipv6);
	length = outer + shim + p->ip_length;
	if (length > m->mtu)
		return TURNOUT_REASON_too_big;
	l2_length = m->vlan ? 18 : 14;
	if (bpf_xdp_adjust_head(ctx, (int)p->l2_length - (int)(l2_length + outer + shim)))
		return TURNOUT_REASON_no_room;

	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	protocol = turnout_outer_protocol(encapsulation, p->flow.family);
	l3 = data + l2_length;
	/* The shortest packet with ports is longer than tag and shim: these never fail. */
	if (m->family == 4) {
		if (data + 18 + sizeof(struct turnout_ipv4) + 8 > end)
			return TURNOUT_REASON_truncated;
		turnout_write_ethernet(data, m, l2_length, 4);
		turnout_write_ipv4(l3, m, length, protocol, p->traffic_class);
		l4 = l3 + sizeof(struct turnout_ipv4);
	} else {
		if (data + 18 + sizeof(struct turnout_ipv6) + 8 > end)
			return TURNOUT_REASON_truncated;
		turnout_write_ethernet(data, m, l2_length, 6);
		turnout_write_ipv6(l3, m, shim + p->ip_length, protocol, p->traffic_class, hash);
		l4 = l3 + sizeof(struct turnout_ipv6);
	}
	if (encapsulation == TURNOUT_GUE)
		turnout_write_gue(l4, m, p, shim + p->ip_length, hash);
	else if (encapsulation == TURNOUT_GRE)
		turnout_write_gre(l4, p->flow.family);

	if (ifindex != ctx->ingress_ifindex) {
		if (bpf_redirect_map(&egress, ifindex, XDP_DROP) != XDP_REDIRECT)
			return TURNOUT_REASON_no_egress;
		reason = TURNOUT_REASON_redirected;
	}
	tally(&service_counters, record >> 1, p);
	tally(&member_counters, number, p);
	return reason;
}

/* A broadcast or multicast frame. RFC 1812, 5.3.4: a unicast packet in one is not forwarded. */
static __always_inline int sent_to_many(const void *data, const void *end)
{
	return data + 1 > end || *(const __u8 *)data & 1;
}

static __always_inline __u32 answer(struct xdp_md *ctx, const struct turnout_packet *p)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	void *l3 = data + p->l2_length;

	/* Sent to many, it would be answered by many, from an address that is nobody's. */
	if (sent_to_many(data, end))
		return TURNOUT_REASON_vip_other;
	if (p->flow.family == 4) {
		if (l3 + sizeof(struct turnout_ipv4) + 8 > end)
			return TURNOUT_REASON_truncated;
		turnout_answer_ipv4(data, l3);
	} else {
		if (l3 + sizeof(struct turnout_ipv6) + 8 > end)
			return TURNOUT_REASON_truncated;
		turnout_answer_ipv6(data, l3);
	}
	return TURNOUT_REASON_echo_answered;
}

/*
 * What is wrong with a packet of ours, TURNOUT_REASON_COUNT: nothing. One in several buffers is
 * whole although its first buffer is shorter than it; no helper tells for free, so ask only then.
 */
static __always_inline __u32 fault(struct xdp_md *ctx, const struct turnout_packet *p)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u32 length = p->l2_length + p->ip_length;

	if (p->fault == TURNOUT_REASON_truncated && data + length > end &&
	    length <= bpf_xdp_get_buff_len(ctx))
		return TURNOUT_REASON_COUNT;
	return p->fault;
}

/* Whether the VIP has a service that a packet of unknown ports may be for. */
static __always_inline int concerns(__u32 record, __u8 protocol)
{
	__u8 flags = services[record & (2 * TURNOUT_MAX_SERVICES - 1)].flags;

	switch (protocol) {
	case TURNOUT_PROTO_TCP:
		return flags & TURNOUT_VIP_TCP;
	case TURNOUT_PROTO_UDP:
		return flags & TURNOUT_VIP_UDP;
	case 0: /* not reached, or more extension headers */
	case 43:
	case 44:
	case 60:
		return flags & (TURNOUT_VIP_TCP | TURNOUT_VIP_UDP);
	default:
		return 0;
	}
}

/* What becomes of an IP packet. */
static __always_inline __u32 decide(struct xdp_md *ctx, const struct turnout_packet *p)
{
	__u32 record, wrong;

	if (TURNOUT_RARE(p->shape == TURNOUT_SHAPE_UNKNOWN))
		return p->fault;

	if (TURNOUT_EXPECT(p->shape == TURNOUT_SHAPE_FLOW)) {
		record = find(&p->flow, p->flow.ports >> 16, p->flow.protocol);
		if (!record)
			record = find(&p->flow, 0, p->flow.protocol);
		if (!record)
			return TURNOUT_REASON_not_service;
		wrong = fault(ctx, p);
		if (TURNOUT_RARE(wrong != TURNOUT_REASON_COUNT))
			return wrong;
		/* Each instance that hears it would forward it. */
		if (TURNOUT_RARE(
			    sent_to_many((void *)(long)ctx->data, (void *)(long)ctx->data_end)))
			return TURNOUT_REASON_vip_other;
		return forward(ctx, p, record);
	}

	record = find(&p->flow, 0, 0);
	if (!record)
		return TURNOUT_REASON_not_service;
	if (p->shape == TURNOUT_SHAPE_PORTLESS)
		return concerns(record, p->flow.protocol) ? p->fault : TURNOUT_REASON_vip_other;
	if (p->shape == TURNOUT_SHAPE_ECHO) {
		wrong = fault(ctx, p);
		return wrong == TURNOUT_REASON_COUNT ? answer(ctx, p) : wrong;
	}
	return TURNOUT_REASON_vip_other;
}

static __always_inline __u32 handle(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct turnout_packet p;
	__u16 type = turnout_parse_link(data, end, &p);

	if (TURNOUT_EXPECT(type == TURNOUT_ETH_IPV4)) {
		const struct turnout_ipv4 *ip = data + p.l2_length;

		if ((void *)(ip + 1) <= end && ip->version_ihl >> 4 == 4 &&
		    !may_be_vip(turnout_service_key4(ip->destination, 0, 0)))
			return TURNOUT_REASON_not_service;
		turnout_parse_ipv4(ip, end, &p);
		return decide(ctx, &p);
	}
	if (TURNOUT_EXPECT(type == TURNOUT_ETH_IPV6)) {
		const struct turnout_ipv6 *ip = data + p.l2_length;

		if ((void *)(ip + 1) <= end && *(const __u8 *)ip >> 4 == 6 &&
		    !may_be_vip(turnout_service_key6(ip->destination, 0, 0)))
			return TURNOUT_REASON_not_service;
		turnout_parse_ipv6(ip, end, &p);
		return decide(ctx, &p);
	}
	return type == TURNOUT_ETH_8021AD ? TURNOUT_REASON_stacked_vlan : TURNOUT_REASON_not_ip;
}

SEC("xdp.frags")
int forwarder(struct xdp_md *ctx)
{
	__u32 reason = handle(ctx);
	__u64 *count = bpf_map_lookup_elem(&reason_counters, &reason);

	if (count)
		(*count)++;
	return verdicts[reason & 31];
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
