// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lets everything through. A veth delivers what its peer sends by XDP_TX or XDP_REDIRECT
 * only if some XDP program is attached to it, so laboratories attach this one.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp.frags")
int pass(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
