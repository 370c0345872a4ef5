/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection (an MRC QP): requester and responder. doc/protocol.md, "Reliability" and "QP
 * life".
 *
 * Requester    WRs in the SQ ring become messages 0, 1, 2 ...; a message becomes packets with
 * consecutive PSNs. A PSN has a send record until cack passes it:
 *
 *      (new) --tx--> FLIGHT --SACK--> ACKED --cack--> free
 *                    |  ^  \--cack------------------> free
 *         NACK, gap, |  | tx again, fresh EV
 *         timeout    v  |
 *                    QUEUED --SACK--> ACKED          (it had arrived after all)
 *
 *   - FLIGHT records form a list in order of sending; QUEUED ones a list in order of need;
 *   - inflight counts what was sent less what rcvd_bytes, trims and losses took back; idle means 0;
 *   - new data goes out while QUEUED is empty, the PSN lies in the peer's window, and cwnd and a
 * plane allow. Responder    rcv_next is the first PSN not received (cack + 1). A received PSN has
 * its bit until rcv_next passes it, and with it bits "last" and "imm", so that messages complete in
 * order whatever the order of arrival.
 *
 * Files: conn_tx.c sends; conn_ack.c takes SACK and ACK; conn_loss.c finds losses; conn_rx.c places
 * data; conn_rsp.c answers; conn_timer.c keeps the deadlines; conn.c makes and breaks connections.
 * The protocol knows no clock, port or thread: now_ns, room and randomness are handed in.
 * Thread contract: one lcore, but for the application's ends of SQ, RQ and CQ.
 */
#ifndef MRC_CONN_H
#define MRC_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "mrc_bitmap.h"
#include "mrc_cc.h"
#include "mrc_cq.h"
#include "mrc_drop.h"
#include "mrc_encap.h"
#include "mrc_limits.h"
#include "mrc_mem.h"
#include "mrc_path.h"
#include "mrc_prng.h"
#include "mrc_psn.h"
#include "mrc_wheel.h"

enum mrc_conn_state { MRC_CONN_RTS, MRC_CONN_ERROR };

/* Feedback that waits for room on a plane. */
enum mrc_ctl_kind { MRC_CTL_SACK, MRC_CTL_NACK, MRC_CTL_ACK, MRC_CTL_PROBE };

struct mrc_conn;

struct mrc_ctl {
	struct mrc_conn *conn; /* NULL: withdrawn */
	uint64_t psn;	       /* the packet it is about */
	uint32_t ev32;	       /* its EV */
	uint16_t ts;	       /* its timestamp */
	uint16_t probe_id;
	uint8_t kind; /* enum mrc_ctl_kind */
	uint8_t code; /* SACK: m; NACK: reason; ACK: syndrome */
	bool tsr, probe;
};

#define MRC_CTL_RING 4096 /* per engine, a power of two */

/* What all connections of an engine share; the engine owns it. */
struct mrc_conn_ctx {
	struct mrc_ctl *ctl; /* ring of MRC_CTL_RING */
	uint32_t ctl_head, ctl_tail;
	struct mrc_conn_list {
		struct mrc_conn *first, **last;
	} ready, cc_wait; /* may send; want to, but the congestion window is full */
	struct mrc_wheel wheel;
	struct mrc_prng prng;
	struct mrc_mem *mem;
	struct mrc_wire_cfg wire;
	struct mrc_drops drops;
};

/** @return 0 or -ENOMEM */
int mrc_conn_ctx_init(struct mrc_conn_ctx *ctx, struct mrc_mem *mem,
	const struct mrc_wire_cfg *wire, uint64_t seed, uint64_t now_ns);
void mrc_conn_ctx_fini(struct mrc_conn_ctx *ctx);

/* A packet to build: the engine turns it into bytes. */
struct mrc_txd {
	struct mrc_hdr hdr;
	struct mrc_conn *conn; /* NULL: endpoint packets */
	struct mrc_path_set *set;
	const uint8_t *payload;
	uint32_t payload_len;
	uint64_t psn; /* of data, for mrc_conn_unsent */
	uint16_t ev;  /* index in set */
	uint8_t plane;
	uint8_t tclass; /* DSCP << 2 | ECN */
	bool data;
};

enum mrc_rec_state { MRC_REC_FREE, MRC_REC_FLIGHT, MRC_REC_QUEUED, MRC_REC_ACKED };
enum mrc_loss { MRC_LOSS_TRIM, MRC_LOSS_GAP, MRC_LOSS_TIMEOUT, MRC_LOSS_PORT, MRC_LOSS_NACK };

#define MRC_REC_NONE 0xffffu

/* One PSN on its way; position = PSN modulo the window. 40 bytes. */
struct mrc_rec {
	uint64_t sent_ns;
	uint64_t order;	     /* of transmission, per connection */
	uint32_t msg;	     /* message number, low 32 bits */
	uint32_t pkt;	     /* packet of the message */
	uint16_t prev, next; /* list of its state */
	uint16_t ev;	     /* of the latest transmission */
	uint16_t lost_ev;    /* that was blamed before it, or MRC_EV_NONE */
	uint16_t nominal;    /* bytes, as congestion control counts */
	uint8_t state;	     /* enum mrc_rec_state */
	uint8_t sends;	     /* transmissions that left, saturating */
	uint8_t lost_plane;  /* of the transmission before, where sends > 0 */
	bool debited;	     /* QUEUED: its size was taken off inflight */
};

struct mrc_rec_list {
	uint16_t first, last;
	uint32_t n;
};

struct mrc_tx_msg {
	uint64_t psn_first;
	uint32_t packets;
	uint16_t rqmsn;
};

struct mrc_conn_tx_stats {
	uint64_t packets, bytes;	  /* data sent, retransmissions included; payload bytes */
	uint64_t messages, message_bytes; /* completed */
	uint64_t rtx;			  /* retransmissions sent */
	uint64_t trim, gap, timeout, port, nack; /* why they were needed */
	uint64_t spurious;			 /* of them, not needed after all */
	uint64_t probes, rto_fires;
	uint64_t unsent;       /* refused by our own port and queued again */
	uint64_t rtx_last_ns;  /* time of the latest retransmission */
	uint64_t cack_last_ns; /* time cack last moved */
};

struct mrc_conn_tx {
	struct mrc_wr *sq;	/* ring; application writes */
	struct mrc_tx_msg *msg; /* beside it */
	uint32_t sq_mask;
	uint64_t msg_next; /* message being cut into packets */
	uint32_t pkt_next; /* its next packet */
	bool msg_begun;	   /* it has PSNs and numbers */
	uint16_t rqmsn_next;
	uint64_t psn_next, una; /* una = cack + 1 */
	uint64_t limit;		/* first PSN past the peer's window */
	uint32_t window;	/* of the peer, packets */
	struct mrc_rec *rec;
	uint32_t rec_mask;
	struct mrc_rec_list flight, queue;
	struct mrc_bitmap acked; /* PSNs from una on that are ACKED */
	uint64_t order_next;
	uint64_t *ev_order;  /* per EV: order of the latest transmission known delivered, + 1; 0:
				none */
	uint32_t rcvd_units; /* rcvd_bytes of the newest SACK, 24 bits */
	int64_t inflight;    /* this connection's share of cc->inflight_bytes */
	int64_t owed;	     /* given back by a transport ACK; rcvd_bytes has yet to report it */
	uint64_t rack_ns;    /* send time of the latest-sent packet known delivered */
	uint64_t miss_base, miss; /* what the newest SACK says missing: PSN miss_base + bit */
	uint64_t miss_una;	  /* and this one, una then; 0: none */
	uint32_t reo_steps; /* reorder window in base RTTs; grows when a loss proves spurious */
	uint64_t heard_ns;  /* feedback last heard */
	uint64_t moved_ns;  /* cack or the transport ACK last moved */
	uint64_t tlp_ns;    /* next reliability probe; 0: none */
	uint64_t tlp_wait_ns;
	uint16_t probe_id;
	uint64_t probe_psn;   /* psn_next when the latest probe went out */
	uint64_t probe_ns;    /* and when that was */
	uint64_t hold_ns;     /* QUEUED may not go before (non-trim NACK) */
	uint32_t rto_fires;   /* since cack last moved */
	uint64_t rto_ns;      /* in force */
	uint64_t rto_fire_ns; /* when a timeout last counted */
	struct mrc_conn_tx_stats stats;
	_Alignas(64) _Atomic uint64_t sq_tail; /* application: rw, lcore: ro */
	_Alignas(64) _Atomic uint64_t
		sq_head; /* lcore: rw, application: ro; WRs before it completed */
};

struct mrc_rx_imm {
	uint64_t psn; /* of the packet that brought it; 0: none has */
	uint32_t imm, len;
	bool solicited;
};

struct mrc_conn_rx_stats {
	uint64_t packets, bytes; /* placed */
	uint64_t duplicates, trimmed, marks;
	uint64_t sacks, nacks, acks; /* answers sent */
	uint64_t messages;
	uint64_t received_bytes; /* of completed messages with immediate */
};

struct mrc_conn_rx {
	struct mrc_bitmap got, last, imm;
	uint64_t next;	  /* rcv_next: cack + 1 */
	uint64_t highest; /* highest PSN received; next - 1 if none above */
	uint32_t window;
	uint64_t rcvd_nominal;	/* bytes, exactly */
	uint32_t ooo;		/* received above cack */
	uint64_t unreported;	/* lowest PSN received and not yet in a SACK; UINT64_MAX: none */
	uint64_t unreported_hi; /* highest such */
	uint64_t hole_next;	/* holes are reported in turn from here */
	bool hole_turn;
	uint32_t sack_bytes, sack_packets; /* since the last SACK */
	struct mrc_ctl last_seen;	   /* the latest packet: what a timer's SACK reflects */
	uint64_t last_seen_ns;
	uint64_t ack_ns; /* ACK timer; 0: off */
	uint64_t asked;	 /* highest PSN with A above cack; 0: none */
	uint32_t msgs;	 /* completed, 24 bits on the wire */
	uint32_t msgs_unacked;
	bool ack_queued;	 /* a transport ACK waits for room */
	uint64_t nak_ns;	 /* when a NAK was last sent */
	struct mrc_ctl nak;	 /* what it said */
	uint16_t rq_done;	 /* Write-Imms completed = receives consumed */
	struct mrc_rx_imm *imms; /* ring by rqmsn */
	uint32_t imm_mask;
	uint64_t *rq_wr_id; /* ring of receive WRs; application writes */
	uint32_t rq_mask;
	uint64_t rq_head;
	struct mrc_conn_rx_stats stats;
	_Alignas(64) _Atomic uint64_t rq_tail;	    /* application: rw, lcore: ro */
	_Alignas(64) _Atomic uint64_t rq_head_seen; /* lcore: rw, application: ro */
};

struct mrc_conn_params {
	uint32_t qpn, peer_qpn;
	struct mrc_addr gid, peer_gid;
	uint32_t psn, peer_psn;		  /* first PSN of each direction, 24 bits */
	uint32_t mtu_bytes;		  /* path MTU: a power of two, MRC_MTU_MIN .. MRC_MTU_MAX */
	uint32_t mpr, mpr_dest;		  /* bound on what we send, what we accept */
	uint32_t max_wimm, max_wimm_dest; /* Write-Imms outstanding: what the peer accepts of us,
					     what we accept */
	uint32_t timeout;		  /* 1.024 us * 2^timeout, 0: never */
	uint32_t linear_cnt, exp_cnt;
	uint32_t sq_depth, rq_depth; /* powers of two */
	uint32_t sack_threshold;     /* bytes we receive before we must SACK */
	uint32_t peer_sack_threshold;
	bool trim_nack;		/* the peer answers trimmed packets: send trimmable */
	bool window_nack;	/* answer PSNs past the window by NACK, else drop them */
	bool ts_us;		/* timestamps in 1 us units, else 128 ns */
	int16_t nominal_adjust; /* bytes, added to each packet's size as congestion control counts:
				   other header sizes in simulations; the same at both ends */
	uint32_t pd;
	struct mrc_cq *send_cq, *recv_cq;
	struct mrc_path_set *set; /* shared */
	struct mrc_cc *cc;	  /* shared */
};

struct mrc_conn {
	struct mrc_conn_ctx *ctx;
	struct mrc_conn *next, **pprev; /* ready or cc_wait; pprev NULL: on neither */
	struct mrc_conn_list *list;
	struct mrc_timer timer;
	struct mrc_path_set *set;
	struct mrc_cc *cc;
	struct mrc_path_rot rot;
	uint8_t state; /* enum mrc_conn_state */
	uint8_t error; /* enum mrc_wc_status that caused it */
	uint32_t mtu_shift;
	struct mrc_conn_params p;
	struct mrc_conn_tx tx;
	struct mrc_conn_rx rx;
	void *user; /* the owner's */
};

/** Allocates everything a connection needs; control's thread. @return 0, -EINVAL, -ENOMEM, -ENOSPC
 * (CQ too shallow) */
int mrc_conn_create(const struct mrc_conn_params *p, struct mrc_conn **conn);
/** Binds it to an engine's context: from then on it belongs to that lcore. @return 0 or -ENOMEM */
int mrc_conn_attach(struct mrc_conn *c, struct mrc_conn_ctx *ctx, uint64_t now_ns);
/** Takes it off its lcore's lists; call on that lcore. Outstanding inflight goes back to cc. */
void mrc_conn_detach(struct mrc_conn *c);
/** Frees a connection that was never attached or is detached. */
void mrc_conn_destroy(struct mrc_conn *c);

/* ---- application side ---- */

/** Posts a WR. @return 0, -ENOSPC (SQ full), -EINVAL (length, opcode). The lcore must be rung by
 * the caller. */
int mrc_conn_post_send(struct mrc_conn *c, const struct mrc_wr *wr);
/** Posts a receive for the completion of one Write-Imm. @return 0, -ENOSPC */
int mrc_conn_post_recv(struct mrc_conn *c, uint64_t wr_id);

/* ---- lcore side ---- */

/** The doorbell rang: looks for WRs. */
void mrc_conn_kick(struct mrc_conn *c, uint64_t now_ns);
/**
 * Cuts packets while windows, planes and max allow.
 * @param room per plane; lowered by what was taken
 * @return number of descriptors filled; fewer than max: the connection left the ready list unless
 * only room is missing
 */
unsigned
mrc_conn_tx(struct mrc_conn *c, uint16_t *room, struct mrc_txd *out, unsigned max, uint64_t now_ns);
/** Sends the connection to the end of the ready list, if it is on it. */
void mrc_conn_requeue(struct mrc_conn *c);
/** The engine's port refused a data packet: queued again at the front, no EV blamed, inflight back.
 */
void mrc_conn_unsent(struct mrc_conn *c, uint64_t psn);
/** Fills the descriptor of a control packet. @return false: nothing to send after all, or no room
 * (*out untouched) */
bool mrc_conn_ctl_tx(struct mrc_ctl *ctl, uint16_t *room, struct mrc_txd *out, uint64_t now_ns);

/** A control packet that no path leads to its peer will not be sent: it may be asked for again. */
void mrc_conn_ctl_drop(const struct mrc_ctl *ctl);

/** A parsed packet of this connection, ICRC verified (trimmed packets have none). Data is placed
 * before this returns. */
enum mrc_drop mrc_conn_rx(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns);

/** A plane's port went down: what is outstanding on it is sent again on others at once. */
void mrc_conn_port_down(struct mrc_conn *c, unsigned plane, uint64_t now_ns);
/** Ends the connection: WRs complete with the status, then FLUSH_ERR. */
void mrc_conn_fail(struct mrc_conn *c, enum mrc_wc_status status, uint64_t now_ns);
/** The connection's timer, fired by the context's wheel. */
void mrc_conn_timer(struct mrc_conn *c, uint64_t now_ns);

static inline struct mrc_conn *
mrc_conn_of_timer(struct mrc_timer *t)
{
	return (struct mrc_conn *)(void *)((char *)t - offsetof(struct mrc_conn, timer));
}

#endif /* MRC_CONN_H */
