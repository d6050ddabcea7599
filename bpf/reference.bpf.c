// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the benchmarks compare with: the least that could be called a load balancer. One parse, one
 * look-up in an array by an unkeyed hash, IPIP. No services, health, counters or IPv6.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "encap.h"
#include "parse.h"

#define REFERENCE_BACKENDS 128

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REFERENCE_BACKENDS);
	__type(key, __u32);
	__type(value, struct turnout_member);
} backends SEC(".maps");

SEC("xdp.frags")
int reference(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct turnout_ipv4 *ip = data + 14;
	const struct turnout_member *backend;
	struct turnout_ipv4 *outer;
	__u32 hash, length;
	__u8 tos;

	if (data + 14 + sizeof(*ip) + sizeof(struct turnout_tcp) > end)
		return XDP_PASS;
	if (*(__u16 *)(data + 12) != TURNOUT_ETH_IPV4 || ip->version_ihl != 0x45 ||
	    ip->protocol != TURNOUT_PROTO_TCP)
		return XDP_PASS;
	hash = (ip->source ^ ip->destination ^ *(const __u32 *)(ip + 1)) * 0x9e3779b1U;
	hash >>= 25;
	backend = bpf_map_lookup_elem(&backends, &hash);
	if (!backend)
		return XDP_PASS;
	length = sizeof(*outer) + __builtin_bswap16(ip->length);
	tos = ip->tos;
	if (bpf_xdp_adjust_head(ctx, -(int)sizeof(*outer)))
		return XDP_DROP;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	outer = data + 14;
	if ((void *)(outer + 1) > end)
		return XDP_DROP;
	turnout_write_ethernet(data, backend, 14, 4);
	turnout_write_ipv4(outer, backend, length, TURNOUT_PROTO_IPIP, tos);
	return XDP_TX;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
