#include "sw_qdisc.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One from the kernel has no handle (noqueue, mq and its children, the default qdisc). */
static bool configured(const struct nlmsghdr *h)
{
    const struct tcmsg *t = NLMSG_DATA(h);
    if (h->nlmsg_type != RTM_NEWQDISC || h->nlmsg_len < NLMSG_LENGTH(sizeof *t) || !t->tcm_handle)
        return false;
    int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof *t));
    for (const struct rtattr *a = TCA_RTA(t); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == TCA_KIND)
            return strncmp(RTA_DATA(a), "ingress", RTA_PAYLOAD(a)) != 0;
    return true;
}

/* True when the list has ended, in *complete whether it did without an error. */
static bool read_part(const uint8_t *part, size_t size, void (*found)(void *, int), void *context,
                      bool *complete)
{
    const struct nlmsghdr *h = (const void *)part;
    for (; NLMSG_OK(h, size); h = NLMSG_NEXT(h, size)) {
        if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
            *complete = h->nlmsg_type == NLMSG_DONE;
            return true;
        }
        if (configured(h))
            found(context, ((const struct tcmsg *)NLMSG_DATA(h))->tcm_ifindex);
    }
    return false;
}

bool sw_qdisc_each(void (*found)(void *context, int index), void *context)
{
    struct {
        struct nlmsghdr head;
        struct tcmsg body;
    } ask = {
        .head = {.nlmsg_len = sizeof ask,
                 .nlmsg_type = RTM_GETQDISC,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.tcm_family = AF_UNSPEC},
    };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return false;
    bool complete = false, ended = send(fd, &ask, sizeof ask, 0) != (ssize_t)sizeof ask;
    uint8_t part[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
    while (!ended) {
        ssize_t n = recv(fd, part, sizeof part, 0);
        if (n > 0)
            ended = read_part(part, (size_t)n, found, context, &complete);
        else
            ended = n == 0 || errno != EINTR;
    }
    close(fd);
    return complete;
}
