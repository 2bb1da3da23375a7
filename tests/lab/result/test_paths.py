"""Paths and their delays."""

from fcn.lab.result.model import HostInfo, LinkInfo, NetworkInfo, NodeInfo
from fcn.lab.result.paths import Paths

NETWORK = NetworkInfo(
    name="square",
    nodes=tuple(NodeInfo(name=name, role="p") for name in ("a", "b", "c", "d", "alone")),
    links=(
        LinkInfo(a="h", b="a", delay_ns=1, rate_bps=0),
        LinkInfo(a="a", b="b", delay_ns=100, rate_bps=0),
        LinkInfo(a="b", b="d", delay_ns=100, rate_bps=0),
        LinkInfo(a="a", b="c", delay_ns=30, rate_bps=0),
        LinkInfo(a="c", b="d", delay_ns=40, rate_bps=0),
        LinkInfo(a="d", b="k", delay_ns=2, rate_bps=0),
    ),
    hosts=(HostInfo(name="h", addresses=(), pe="a"), HostInfo(name="k", addresses=(), pe="d")),
)


def test_the_delay_is_that_of_the_fastest_path_with_the_fewest_hops() -> None:
    paths = Paths(NETWORK)
    assert paths.delay_ns("h", "k") == 1 + 30 + 40 + 2
    assert paths.delay_ns("b", "a", "h") == 101
    assert paths.delay_ns("h", "k", "h") == 2 * 73
    assert paths.delay_ns("h", "h") == 0
    assert paths.delay_ns("h", "alone") is None


def test_every_path_with_the_fewest_hops_counts() -> None:
    paths = Paths(NETWORK)
    assert paths.crosses("a", "b", "h", "k")
    assert paths.crosses("a", "c", "h", "k")
    assert not paths.crosses("b", "a", "h", "k")
    assert not paths.crosses("a", "alone", "h", "k")
    assert not paths.crosses("c", "d", "h", "alone")
