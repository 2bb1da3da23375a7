// SPDX-License-Identifier: GPL-2.0-only
/*
 * Applies rdma_rxe's receive checks to RoCEv2 CNPs (opcode 0x81) and counts those that pass each.
 *
 * Linux 6.1 has no opcode 0x81 and drops such packets before any of these checks. This module adds
 * it to the table of opcodes, which gives the offsets of the ICRC and of what it covers: for a CNP,
 * as for SEND_ONLY, all that follows the BTH. The kernel then checks the queue pair, its state, the
 * peer's address, the P_Key and the ICRC. After the ICRC check CNPs are dropped like packets with a
 * wrong ICRC, since the code behind it does not handle them. No octet of a packet is changed.
 *
 * opcodes=<address of rxe_opcode> type_check=<name of check_type_state>, both from /proc/kallsyms:
 * both are static. For guests with one CPU: the counters are not atomic.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <rdma/ib_pack.h>

#define OPCODE_CNP 0x81

/* drivers/infiniband/sw/rxe/rxe_hdr.h and rxe_opcode.h */
struct rxe_pkt_info {
	struct rxe_dev *rxe;
	struct rxe_qp *qp;
	struct rxe_send_wqe *wqe;
	u8 *hdr; /* BTH */
	u32 mask;
	u32 psn;
	u16 pkey_index;
	u16 paylen;
	u8 port_num;
	u8 opcode;
};

struct rxe_opcode_info {
	char *name;
	u32 mask;
	int length;
	int offset[12];
};

static struct rxe_opcode_info none;
static unsigned long opcodes;
static char *type_check;
static unsigned long arrived, found, checked, valid;

module_param(opcodes, ulong, 0444);
module_param(type_check, charp, 0444);
module_param(arrived, ulong, 0444);
module_param(found, ulong, 0444);
module_param(checked, ulong, 0444);
module_param(valid, ulong, 0444);

static bool is_cnp(const struct rxe_pkt_info *pkt)
{
	return pkt->hdr[0] == OPCODE_CNP;
}

/* rxe_rcv(skb): a packet with valid IP and UDP headers. */
static int on_receive(struct kprobe *probe, struct pt_regs *regs)
{
	struct sk_buff *skb = (struct sk_buff *)regs->di;

	arrived += is_cnp((struct rxe_pkt_info *)skb->cb);
	return 0;
}

/* check_type_state(pkt, qp): called when the queue pair was found. */
static int on_queue_pair(struct kprobe *probe, struct pt_regs *regs)
{
	struct rxe_pkt_info *pkt = (struct rxe_pkt_info *)regs->di;

	if (is_cnp(pkt)) {
		found++;
		/* An RC queue pair accepts RC opcodes only: change the kernel's copy, not the packet. */
		pkt->opcode = IB_OPCODE_RC_SEND_ONLY;
	}
	return 0;
}

/* rxe_icrc_check(skb, pkt): called when state, peer's address and P_Key were right. */
static int on_icrc(struct kretprobe_instance *call, struct pt_regs *regs)
{
	if (!is_cnp((struct rxe_pkt_info *)regs->si))
		return 1;
	checked++;
	return 0;
}

static int on_icrc_result(struct kretprobe_instance *call, struct pt_regs *regs)
{
	valid += (int)regs_return_value(regs) == 0;
	regs_set_return_value(regs, -EINVAL);
	return 0;
}

static struct kprobe receive = { .symbol_name = "rxe_rcv", .pre_handler = on_receive };
static struct kprobe queue_pair = { .pre_handler = on_queue_pair };
static struct kretprobe icrc = {
	.kp.symbol_name = "rxe_icrc_check",
	.entry_handler = on_icrc,
	.handler = on_icrc_result,
};

static int __init rxe_cnp_init(void)
{
	struct rxe_opcode_info *table = (struct rxe_opcode_info *)opcodes;
	struct kprobe *probes[] = { &receive, &queue_pair };
	int error;

	if (!table || !type_check)
		return -EINVAL;
	queue_pair.symbol_name = type_check;
	error = register_kretprobe(&icrc);
	if (error)
		return error;
	error = register_kprobes(probes, ARRAY_SIZE(probes));
	if (error) {
		unregister_kretprobe(&icrc);
		return error;
	}
	none = table[OPCODE_CNP];
	table[OPCODE_CNP] = table[IB_OPCODE_RC_SEND_ONLY];
	return 0;
}

static void __exit rxe_cnp_exit(void)
{
	((struct rxe_opcode_info *)opcodes)[OPCODE_CNP] = none;
	unregister_kprobe(&receive);
	unregister_kprobe(&queue_pair);
	unregister_kretprobe(&icrc);
}

module_init(rxe_cnp_init);
module_exit(rxe_cnp_exit);
MODULE_DESCRIPTION("rdma_rxe's own checks on CNPs");
MODULE_LICENSE("GPL");
