/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What lies in the forwarder's maps: the contract between the kernel program and
 * Python (turnout.xdp.layout mirrors it, and the loader compares the sizes).
 *
 * Lookup of a packet: (VIP, port, protocol) -> entry in a bucket -> service record ->
 * lookup table -> member number -> member record. Zero means "none" everywhere, so an
 * unset entry drops and counts instead of misrouting.
 *
 * Everything that the packet path reads is made live by one aligned 8-byte store: the
 * controller fills what nothing refers to yet, then flips the word that refers to it.
 */
#ifndef TURNOUT_LAYOUT_H
#define TURNOUT_LAYOUT_H

#include <linux/types.h>

#define TURNOUT_LAYOUT_VERSION 2

#define TURNOUT_MAX_SERVICES 4096     /* numbers 1..4095; VIPs take one each too */
#define TURNOUT_MAX_MEMBERS 16384     /* numbers 1..16383 */
#define TURNOUT_MAX_POOL_MEMBERS 4096 /* bound of the walk after the second tries */
#define TURNOUT_MAX_TABLES 8192	      /* outer slots 1..8191, of both outer maps together */
#define TURNOUT_ROW_ENTRIES 4096      /* u16 entries in one 8 KB row of an inner map */
#define TURNOUT_COMMON_ROWS 18 /* of each inner map of `tables`: 17 of slots, one of members */
#define TURNOUT_COMMON_SIZE                                                                        \
	69632		     /* largest table that lies in `tables`; others in `large_tables` */
#define TURNOUT_BUCKETS 4096 /* of the service table */
#define TURNOUT_BUCKET_WAYS 4
#define TURNOUT_BUCKET_PROBES 8	  /* buckets visited while each one met is full */
#define TURNOUT_FILTER_BITS 65536 /* of the filter in front of the service table */
#define TURNOUT_SECOND_TRIES 8
#define TURNOUT_GUE_PORT 6080

enum turnout_encapsulation {
	TURNOUT_GUE = 1,
	TURNOUT_IPIP = 2,
	TURNOUT_GRE = 3,
};

/* Who may take a flow: only a member that is up, for now. */
enum turnout_member_state {
	TURNOUT_MEMBER_NONE = 0,
	TURNOUT_MEMBER_UP = 1,
	TURNOUT_MEMBER_DRAINING = 2,
	TURNOUT_MEMBER_DOWN = 3,
};

/* Flags of a service record. */
#define TURNOUT_HASH_CLIENT 0x01 /* the flow hash covers the client's address alone */
#define TURNOUT_VIP_TCP 0x10	 /* VIP record: some TCP service has this address */
#define TURNOUT_VIP_UDP 0x20	 /* VIP record: some UDP service has this address */

/*
 * Service table. The key of an IPv4 entry is exact:
 *
 *	address << 32 | port << 16 | protocol << 8 | 4
 *
 * where address and port are the wire's bytes read as big-endian numbers. An IPv6 key
 * puts a 32-bit fold of the address in the address' place and 6 in the last byte, so
 * the record's own address decides. Port 0 is "all ports"; port 0 with protocol 0 is
 * the VIP itself (echo requests, fragments).
 *
 * An entry is free while its key is 0, and dead while its record is 0.
 */
struct turnout_service_entry {
	__u64 key;
	__u64 record; /* index into the service records */
};

struct turnout_service_bucket {
	struct turnout_service_entry way[TURNOUT_BUCKET_WAYS];
} __attribute__((aligned(64)));

/*
 * Records come in pairs: service number n owns records 2n and 2n + 1, one live and one
 * to prepare the next change in. Counters belong to the number.
 */
struct turnout_service {
	__u8 vip[16];	   /* IPv4 in the first four bytes, the rest zero */
	__u64 hash_key[2]; /* SipHash-1-3, the pool's */
	__u32 table;	   /* outer slot of the lookup table; 0 for a VIP record */
	__u32 table_size;  /* M */
	__u32 members;	   /* n member numbers follow the table's rows in the inner map */
	__u32 walk;	   /* least prime >= n */
	__u16 port;	   /* host order; 0 is all ports */
	__u8 protocol;	   /* IPPROTO_TCP or IPPROTO_UDP; 0 for a VIP record */
	__u8 encapsulation;
	__u8 flags;
	__u8 reserved[11];
};

/* Index: member number. Each of the first two words is stored in one piece. */
struct turnout_member {
	__u8 next_hop[6]; /* destination MAC */
	__u16 vlan;	  /* VLAN id of the egress, 0: untagged */
	__u8 own_mac[6];  /* source MAC */
	__u16 mtu;	  /* of the egress interface: largest outer IP packet */
	__u32 ifindex;	  /* egress; 0: no next hop known */
	__u8 family;	  /* 4 or 6: of the outer header */
	__u8 state;	  /* enum turnout_member_state */
	__u8 reserved0[2];
	__u32 address_sum; /* of the 16-bit words of source and destination, as loaded */
	__u8 reserved1[4];
	__u8 source[16];	/* outer source: the instance's own address */
	__u8 destination[16];	/* outer destination: the backend's address */
} __attribute__((aligned(64))); /* or the compiler loads its words in halves */

/* Counters, one set per CPU. */
struct turnout_counters {
	__u64 packets;
	__u64 bytes;	 /* of the inner IP packets */
	__u64 new_flows; /* TCP SYNs */
};

_Static_assert(sizeof(struct turnout_service_entry) == 16, "layout");
_Static_assert(sizeof(struct turnout_service_bucket) == 64, "layout");
_Static_assert(sizeof(struct turnout_service) == 64, "layout");
_Static_assert(sizeof(struct turnout_member) == 64, "layout");
_Static_assert(sizeof(struct turnout_counters) == 24, "layout");

#endif
