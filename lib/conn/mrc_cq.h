/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work requests, completions, and the rings between an application thread and the lcore of a QP.
 *
 * Both rings are single producer, single consumer with C11 atomics:
 *   SQ  application -> lcore. A slot is given back when its WR completes.
 *   RQ  application -> lcore. Receives carry no buffer: a Write-Imm consumes one for its completion
 * only. CQ  lcore -> application. One ring per CQ and lcore; it never overruns as long as it is as
 * deep as the queues that complete into it, which mrc_conn_create demands. Values of status and
 * opcode are those of ibv_wc_status and ibv_wc_opcode.
 */
#ifndef MRC_CQ_H
#define MRC_CQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum mrc_wr_opcode { MRC_WR_WRITE = 0, MRC_WR_WRITE_IMM = 1 };
enum mrc_wr_flag { MRC_WR_SIGNALED = 1 << 1, MRC_WR_SOLICITED = 1 << 2 };

struct mrc_wr {
	uint64_t wr_id;
	const void *addr; /* local bytes, inside the region of lkey */
	uint64_t raddr;
	uint32_t lkey, rkey;
	uint32_t len; /* 0 .. MRC_MSG_BYTES_MAX; 0 needs no keys */
	uint32_t imm;
	uint8_t opcode; /* enum mrc_wr_opcode */
	uint8_t flags;	/* enum mrc_wr_flag */
};

enum mrc_wc_status {
	MRC_WC_SUCCESS = 0,
	MRC_WC_LOC_QP_OP_ERR = 2,
	MRC_WC_LOC_PROT_ERR = 4,
	MRC_WC_WR_FLUSH_ERR = 5,
	MRC_WC_REM_INV_REQ_ERR = 9,
	MRC_WC_REM_ACCESS_ERR = 10,
	MRC_WC_REM_OP_ERR = 11,
	MRC_WC_RETRY_EXC_ERR = 12,
	MRC_WC_GENERAL_ERR = 21,
};

enum mrc_wc_opcode { MRC_WC_RDMA_WRITE = 1, MRC_WC_RECV_RDMA_WITH_IMM = 129 };

struct mrc_cqe {
	uint64_t wr_id;
	uint32_t qpn;
	uint32_t byte_len;
	uint32_t imm;
	uint8_t status; /* enum mrc_wc_status */
	uint8_t opcode; /* enum mrc_wc_opcode */
	bool solicited;
};

struct mrc_cq {
	struct mrc_cqe *cqes;
	uint32_t mask;
	uint32_t committed;		    /* control: depths of the queues that complete here */
	_Alignas(64) _Atomic uint64_t tail; /* lcore: rw, application: ro */
	_Alignas(64) _Atomic uint64_t head; /* application: rw, lcore: ro */
};

/** @param depth rounded up to a power of two @return 0, -EINVAL, -ENOMEM */
int mrc_cq_create(uint32_t depth, struct mrc_cq **cq);
void mrc_cq_destroy(struct mrc_cq *cq);
/** Application side. @return number of completions copied out */
unsigned mrc_cq_poll(struct mrc_cq *cq, struct mrc_cqe *cqes, unsigned n);
/** Lcore side. @return false: full (a broken promise of depths) */
bool mrc_cq_push(struct mrc_cq *cq, const struct mrc_cqe *cqe);

#endif /* MRC_CQ_H */
