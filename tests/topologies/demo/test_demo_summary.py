"""What the demo shows on a terminal when it ends."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

from demo_record import record, scenario
from rich.console import Console

from fcn.topologies.demo.measure import measure
from fcn.topologies.demo.scenario import demo_scenario
from fcn.topologies.demo.summary import network_picture, summary


def test_first_the_network_then_the_report_a_sentence_and_three_numbers() -> None:
    results = {name: measure(scenario(), record(name)) for name in ("ecn", "fcn")}
    text = StringIO()
    console = Console(file=text, width=100)
    for part in summary(scenario(), results, Path("out/demo/index.html")):
        console.print(part, soft_wrap=True)
    order = [
        text.getvalue().index(each)
        for each in (
            "── PE1 ──",
            "out/demo/index.html",
            "a sender slows down",
            "onset of congestion to first rate cut",
            "time above level 1 per onset",
            "goodput of all senders",
            "Result",
        )
    ]
    assert order == sorted(order)


def test_the_picture_has_everything_of_the_description() -> None:
    demo = demo_scenario(8.0)
    text = network_picture(demo).plain
    topology = demo.topology
    words = text.split()
    assert {node.name.upper() for node in topology.nodes} <= set(words)
    assert sorted(each for each in words if each[0] == "h") == [
        host.name for host in topology.hosts
    ]
    assert text.count("▮▮▮") == 1
    assert text.index("P2 ▮▮▮━━ 5 ms ━━ PE2") > 0
    assert max(map(len, text.splitlines())) < 80
    # The ways back end where the notification begins.
    way, _, fast, slow = text.splitlines()
    assert fast.index("┘") == way.index("P2")
    assert slow.index("┘") == len(way)
    far = tuple(replace(link, delay_ns=2 * link.delay_ns) for link in topology.links)
    longer = replace(demo, topology=replace(topology, links=far))
    assert "tells the sender: 26 ms" in network_picture(longer).plain
