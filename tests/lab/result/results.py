"""A small result for the tests of result folders."""

from fcn.lab.result.model import About, BalanceInfo, HostInfo, LinkInfo, NetworkInfo, NodeInfo

NETWORK = NetworkInfo(
    name="line",
    nodes=(NodeInfo(name="pe1", role="pe"), NodeInfo(name="pe2", role="pe")),
    links=(
        LinkInfo(a="h1", b="pe1", delay_ns=500, rate_bps=10**11),
        LinkInfo(a="pe1", b="pe2", delay_ns=5_000_000, rate_bps=10**11),
        LinkInfo(a="pe2", b="h2", delay_ns=500, rate_bps=10**11),
    ),
    hosts=(
        HostInfo(name="h1", addresses=("10.1.1.10",), pe="pe1"),
        HostInfo(name="h2", addresses=("10.2.1.10",), pe="pe2"),
    ),
)


def about(**changes: object) -> About:
    """What a run of the line is about."""
    made = About(
        fcn="0.1.0",
        scenario="line",
        text="network: line\n",
        mode="fcn",
        seed=1,
        duration_ns=10**7,
        reached_ns=10**7,
        finished=True,
        wall_s=0.5,
        digest="0123456789abcdef",
        hops=100,
        balance=BalanceInfo(sources={"h1: sent": 2}, ends={"h2: received": 2}, places={}),
        network=NETWORK,
    )
    return made.model_copy(update=changes)
