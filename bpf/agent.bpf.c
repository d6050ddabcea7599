// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The backend's side. `decapsulate` (TC ingress) opens what an instance sent to this backend for
 * a VIP of its own; everything else goes on untouched. `lower_mss` (TC egress) lowers the MSS in
 * SYN-ACKs of VIPs, so that what the client sends still fits once it is encapsulated.
 *
 * TC rather than XDP: it runs behind GRO and before checksums are looked at, needs nothing of the
 * driver, and a packet's partial checksum survives.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "agent_reasons.h"
#include "encap.h"
#include "layout.h"
#include "parse.h"

#ifndef BPF_F_ADJ_ROOM_DECAP_L3_IPV4
#define BPF_F_ADJ_ROOM_DECAP_L3_IPV4 (1ULL << 7)
#define BPF_F_ADJ_ROOM_DECAP_L3_IPV6 (1ULL << 8)
#endif

#define ETH_LENGTH 14
#define NEXT TC_ACT_UNSPEC /* other programs of the hook have their turn */

#define ECN_MASK 3
#define ECN_ECT1 1
#define ECN_ECT0 2
#define ECN_CE 3

/* IPv4 addresses as IPv6 has them: ::ffff:a.b.c.d. */
struct address {
	__u32 word[4];
};

struct listener {
	struct address vip;
	__u16 port; /* as on the wire; 0: all ports */
	__u16 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct address);
	__type(value, __u8);
} instances SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct address);
	__type(value, __u8);
} own SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct address);
	__type(value, __u8);
} vips SEC(".maps");

/* Largest MSS that a SYN-ACK of this listener may offer. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct listener);
	__type(value, __u32);
} mss SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TURNOUT_AGENT_REASON_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} reason_counters SEC(".maps");

static __always_inline struct address mapped(__u32 ipv4)
{
	return (struct address){{0, 0, 0xffff0000, ipv4}};
}

static __always_inline struct address plain(const __u32 words[4])
{
	return (struct address){{words[0], words[1], words[2], words[3]}};
}

struct outer {
	struct address source, destination;
	__u32 length; /* of IP header and shim */
	__u32 end;    /* of the packet in the frame, by its IP header */
	__u8 ecn;
	__u8 inner; /* IP version inside */
	__u8 sound; /* the header's checksum is right, or there is none */
};

static __always_inline int sums_to_zero(const struct turnout_ipv4 *ip)
{
	const __u32 *word = (const __u32 *)ip;

	return turnout_fold((__u64)word[0] + word[1] + word[2] + word[3] + word[4]) == 0xffff;
}

/*
 * Whether the packet looks like one of ours: plain IP header, one of the encapsulations. The
 * loads copy, so headers may lie in any fragment of the buffer.
 */
static __always_inline int read_outer(struct __sk_buff *skb, struct outer *o)
{
	__u32 at = ETH_LENGTH;
	__u8 protocol, version;
	__u16 word[4];

	if (skb->protocol == TURNOUT_ETH_IPV4) {
		struct turnout_ipv4 ip;

		if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)) || ip.version_ihl != 0x45 ||
		    ip.fragment & 0xff3f)
			return 0;
		o->source = mapped(ip.source);
		o->destination = mapped(ip.destination);
		o->ecn = ip.tos & ECN_MASK;
		o->end = at + __builtin_bswap16(ip.length);
		o->sound = sums_to_zero(&ip);
		protocol = ip.protocol;
		at += sizeof(ip);
	} else if (skb->protocol == TURNOUT_ETH_IPV6) {
		struct turnout_ipv6 ip;

		if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)))
			return 0;
		o->source = plain(ip.source);
		o->destination = plain(ip.destination);
		o->ecn = __builtin_bswap32(ip.version_class_label) >> 20 & ECN_MASK;
		protocol = ip.next_header;
		at += sizeof(ip);
		o->end = at + __builtin_bswap16(ip.payload_length);
		o->sound = 1;
	} else {
		return 0;
	}
	switch (protocol) {
	case TURNOUT_PROTO_IPIP:
		o->inner = 4;
		break;
	case TURNOUT_PROTO_IPV6:
		o->inner = 6;
		break;
	case TURNOUT_PROTO_GRE:
		if (bpf_skb_load_bytes(skb, at, word, 4) || word[0])
			return 0;
		if (word[1] != TURNOUT_ETH_IPV4 && word[1] != TURNOUT_ETH_IPV6)
			return 0;
		o->inner = word[1] == TURNOUT_ETH_IPV4 ? 4 : 6;
		at += 4;
		break;
	case TURNOUT_PROTO_UDP:
		if (bpf_skb_load_bytes(skb, at, word, 8) ||
		    word[1] != __builtin_bswap16(TURNOUT_GUE_PORT))
			return 0;
		at += 8;
		/* Variant 1: the version of the inner packet is where variant 0 has its own. */
		o->inner = bpf_skb_load_bytes(skb, at, &version, 1) ? 0 : version >> 4;
		break;
	default:
		return 0;
	}
	o->length = at - ETH_LENGTH;
	return 1;
}

/*
 * RFC 6040, 4.2: what the two ECN fields become. -1: drop.
 */
static __always_inline int combine_ecn(__u8 outer, __u8 inner)
{
	if (outer == ECN_CE)
		return inner ? ECN_CE : -1;
	if (outer == ECN_ECT1 && inner == ECN_ECT0)
		return ECN_ECT1;
	return inner;
}

static __always_inline __u32 handle(struct __sk_buff *skb)
{
	__u64 flags = BPF_F_ADJ_ROOM_FIXED_GSO;
	struct address destination;
	struct outer o = {};
	__u32 inner_at, length;
	__u16 type, old, new;
	__u8 traffic_class;
	int ecn;

	if (!read_outer(skb, &o))
		return TURNOUT_AGENT_not_encapsulated;
	if (!bpf_map_lookup_elem(&instances, &o.source))
		return TURNOUT_AGENT_not_instance;
	if (!bpf_map_lookup_elem(&own, &o.destination))
		return TURNOUT_AGENT_not_own;

	inner_at = ETH_LENGTH + o.length;
	if (o.inner == 4) {
		struct turnout_ipv4 ip;

		if (bpf_skb_load_bytes(skb, inner_at, &ip, sizeof(ip)) ||
		    ip.version_ihl >> 4 != 4 || (ip.version_ihl & 15) < 5)
			return TURNOUT_AGENT_malformed;
		length = __builtin_bswap16(ip.length);
		if (length < sizeof(ip))
			return TURNOUT_AGENT_malformed;
		destination = mapped(ip.destination);
		traffic_class = ip.tos;
		type = TURNOUT_ETH_IPV4;
		if (skb->protocol != type)
			flags |= BPF_F_ADJ_ROOM_DECAP_L3_IPV4;
	} else if (o.inner == 6) {
		struct turnout_ipv6 ip;

		if (bpf_skb_load_bytes(skb, inner_at, &ip, sizeof(ip)) ||
		    __builtin_bswap32(ip.version_class_label) >> 28 != 6)
			return TURNOUT_AGENT_malformed;
		length = sizeof(ip) + __builtin_bswap16(ip.payload_length);
		destination = plain(ip.destination);
		traffic_class = __builtin_bswap32(ip.version_class_label) >> 20;
		type = TURNOUT_ETH_IPV6;
		if (skb->protocol != type)
			flags |= BPF_F_ADJ_ROOM_DECAP_L3_IPV6;
	} else {
		return TURNOUT_AGENT_malformed;
	}
	/* Where GRO has merged packets it has made lengths and checksum fit. */
	if (!o.sound || inner_at + length > o.end || o.end > skb->len)
		return TURNOUT_AGENT_malformed;
	if (!bpf_map_lookup_elem(&vips, &destination))
		return TURNOUT_AGENT_not_vip;
	ecn = combine_ecn(o.ecn, traffic_class & ECN_MASK);
	if (ecn < 0)
		return TURNOUT_AGENT_congestion;

	if (bpf_skb_adjust_room(skb, -(int)o.length, BPF_ADJ_ROOM_MAC, flags) ||
	    bpf_skb_store_bytes(skb, 12, &type, 2, 0))
		return TURNOUT_AGENT_failed;
	if (ecn == (traffic_class & ECN_MASK))
		return TURNOUT_AGENT_decapsulated;
	/*
	 * The first word of either header holds the field. An IPv4 header sums to zero before and
	 * after, so what a device has summed over the packet stays right by itself.
	 */
	if (bpf_skb_load_bytes(skb, ETH_LENGTH, &old, 2))
		return TURNOUT_AGENT_failed;
	if (o.inner == 4) {
		new = (old & 0xfcff) | ecn << 8;
		flags = 0;
		if (bpf_l3_csum_replace(skb, ETH_LENGTH + 10, old, new, 2))
			return TURNOUT_AGENT_failed;
	} else {
		new = (old & 0xcfff) | ecn << 12;
		flags = BPF_F_RECOMPUTE_CSUM;
	}
	return bpf_skb_store_bytes(skb, ETH_LENGTH, &new, 2, flags) ? TURNOUT_AGENT_failed
								    : TURNOUT_AGENT_decapsulated;
}

/* In .rodata by name: libbpf 1.1 cannot open the section for mergeable constants of this size. */
static const __u32 verdicts[8] SEC(".rodata") = {
#define PASS NEXT
#define DROP TC_ACT_SHOT
#define X(name, verdict, text) verdict,
	TURNOUT_AGENT_REASONS(X)
#undef X
#undef PASS
#undef DROP
};

_Static_assert(TURNOUT_AGENT_REASON_COUNT <= 8, "verdicts");

SEC("tc")
int decapsulate(struct __sk_buff *skb)
{
	__u32 reason = handle(skb);
	__u64 *count = bpf_map_lookup_elem(&reason_counters, &reason);

	if (count)
		(*count)++;
	return verdicts[reason & 7];
}

#define TCP_OPTIONS 40

/* Lower the MSS option of the TCP header at `at`, if it offers more than `limit`. */
static __always_inline void lower(struct __sk_buff *skb, __u32 at, __u32 header, __u32 limit)
{
	__u32 option = at + 20, end = at + header;

	for (int i = 0; i < TCP_OPTIONS; i++) {
		__u8 head[4];
		__u16 old, new;

		if (option + 4 > end || bpf_skb_load_bytes(skb, option, head, 4))
			return;
		if (head[0] == 0)
			return;
		if (head[0] == 1) {
			option++;
			continue;
		}
		if (head[0] != 2) {
			if (head[1] < 2)
				return;
			option += head[1];
			continue;
		}
		if (head[1] != 4 || (__u32)(head[2] << 8 | head[3]) <= limit)
			return;
		__builtin_memcpy(&old, head + 2, 2);
		new = __builtin_bswap16((__u16)limit);
		if (bpf_skb_store_bytes(skb, option + 2, &new, 2, 0))
			return;
		/* At an odd place the two bytes belong to two words of the sum. */
		if ((option - at) & 1) {
			old = __builtin_bswap16(old);
			new = __builtin_bswap16(new);
		}
		bpf_l4_csum_replace(skb, at + 16, old, new, 2);
		return;
	}
}

SEC("tc")
int lower_mss(struct __sk_buff *skb)
{
	struct listener listener = {};
	struct turnout_tcp tcp;
	__u32 at, *limit;

	if (skb->protocol == TURNOUT_ETH_IPV4) {
		struct turnout_ipv4 ip;

		if (bpf_skb_load_bytes(skb, ETH_LENGTH, &ip, sizeof(ip)) ||
		    ip.protocol != TURNOUT_PROTO_TCP || ip.fragment & 0xff3f)
			return NEXT;
		listener.vip = mapped(ip.source);
		at = ETH_LENGTH + (ip.version_ihl & 15) * 4;
	} else if (skb->protocol == TURNOUT_ETH_IPV6) {
		struct turnout_ipv6 ip;

		if (bpf_skb_load_bytes(skb, ETH_LENGTH, &ip, sizeof(ip)) ||
		    ip.next_header != TURNOUT_PROTO_TCP)
			return NEXT;
		listener.vip = plain(ip.source);
		at = ETH_LENGTH + sizeof(ip);
	} else {
		return NEXT;
	}
	if (bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)) || (tcp.flags & 0x12) != 0x12)
		return NEXT;
	listener.port = tcp.source;
	limit = bpf_map_lookup_elem(&mss, &listener);
	if (!limit) {
		listener.port = 0;
		limit = bpf_map_lookup_elem(&mss, &listener);
	}
	if (limit)
		lower(skb, at, (tcp.offset >> 4) * 4, *limit);
	return NEXT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
