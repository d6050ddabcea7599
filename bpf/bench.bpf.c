// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A packet generator in front of a program that is timed. A test run with a repeat count hands a
 * program its own output, so an encapsulating one would soon meet its own packets: the generator
 * takes off what was put on, writes the headers anew with the next flow's addresses and ports, and
 * tail-calls the program. The same with the stub behind it is what to take off.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "parse.h"

#define BENCH_SHORT 64
#define BENCH_LONG 96
#define BENCH_WINDOW 1024 /* frames */
#define BENCH_WINDOWS 1024

struct bench {
	__u8 frame[BENCH_LONG];
	__u32 length;	 /* of the frame: BENCH_SHORT for IPv4, BENCH_LONG for IPv6 */
	__u32 flow_mask; /* flows - 1, flows a power of two */
	__u32 vip_mask;	 /* VIPs - 1, likewise; they follow one another */
	__u32 vip;	 /* last word of the first VIP, host order */
	__u32 client;	 /* last word of the first client, host order */
	__u32 port;	 /* of the service, host order */
	__u32 reserved;
	__u32 served;		      /* frames so far */
	__u64 begin;		      /* of the window */
	__u64 windows[BENCH_WINDOWS]; /* ns that the last ones took */
};

struct bench bench[1] SEC(".data.bench");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} timed SEC(".maps");

/*
 * Words as they lie in the IP header, so that whoever reads a field finds it in one store: a load
 * that has to gather from two waits for both, as it never would behind a network card.
 */
static __always_inline void copy(void *to, const void *from, const int length)
{
	*(__u64 *)to = *(const __u64 *)from;
	*(__u32 *)(to + 8) = *(const __u32 *)(from + 8);
	*(__u16 *)(to + 12) = *(const __u16 *)(from + 12);
#pragma unroll
	for (int i = 14; i + 8 <= length; i += 8)
		*(__u64 *)(to + i) = *(const __u64 *)(from + i);
}

SEC("xdp.frags")
int generator(struct xdp_md *ctx)
{
	struct bench *b = &bench[0];
	/* Odd factor: every flow once in each round, neighbours far apart. */
	__u32 served = b->served++, flow = (served * 0x9e3779b1U) & b->flow_mask;
	__u32 client = __builtin_bswap32(b->client + (flow >> 8));
	__u32 ports = __builtin_bswap32((1024 + (flow & 0xff)) << 16 | b->port);
	__u32 vip = __builtin_bswap32(b->vip + (flow & b->vip_mask));
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	long length = end - data;

	if (served % BENCH_WINDOW == 0) {
		__u64 now = bpf_ktime_get_ns();

		b->windows[served / BENCH_WINDOW % BENCH_WINDOWS] = now - b->begin;
		b->begin = now;
	}
	/* Pointers are subtracted whole or not at all, says the verifier. */
	asm volatile("" : "+r"(length));
	if (bpf_xdp_adjust_head(ctx, (int)length - (int)b->length))
		return XDP_ABORTED;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (b->length == BENCH_SHORT) {
		struct turnout_ipv4 *ip = data + 14;

		if (data + BENCH_SHORT > end)
			return XDP_ABORTED;
		copy(data, b->frame, BENCH_SHORT);
		ip->source = client;
		ip->destination = vip;
		*(__u32 *)(ip + 1) = ports;
	} else {
		struct turnout_ipv6 *ip = data + 14;

		if (data + BENCH_LONG > end)
			return XDP_ABORTED;
		copy(data, b->frame, BENCH_LONG);
		ip->source[3] = client;
		ip->destination[3] = vip;
		*(__u32 *)(ip + 1) = ports;
	}
	bpf_tail_call_static(ctx, &timed, 0);
	return XDP_ABORTED;
}

SEC("xdp.frags")
int stub(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
