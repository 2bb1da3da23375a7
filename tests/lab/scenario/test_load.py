"""Scenario files: what they may say, and what is wrong with impossible ones, by line."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from _pytest.mark import ParameterSet

from fcn.lab.modes import Mode
from fcn.lab.scenario.dcqcn import PROFILES, ProfileName
from fcn.lab.scenario.load import EXAMPLE, ScenarioError, catalog, load_scenario, parse_scenario
from fcn.lab.scenario.model import DcqcnSettings, HostSettings

GOOD = """\
network: dual-dc
hosts_per_data_centre: 4
duration: 2ms
links:
  core: {rate: 400 Gb/s, delay: 20 km, buffer: 1000}
  hosts: {rate: 100 Gb/s}
traffic:
  - {pattern: messages, from: [gw1], to: [gw2], size: 1MB}
events:
  - {at: 1ms, link: [r1, r3], state: down}
controller:
  delay: 1ms
measure:
  interval: 10us
"""


def problem(old: str, new: str) -> str:
    """What is said of the scenario with this change."""
    assert old in GOOD
    with pytest.raises(ScenarioError) as found:
        parse_scenario(GOOD.replace(old, new), Path("bad.yaml"))
    return str(found.value)


def test_a_good_scenario_is_taken() -> None:
    plan = parse_scenario(GOOD, Path("good.yaml"))
    assert (plan.name, plan.text) == ("good", GOOD)
    assert len(plan.wiring.hosts) == 8
    assert [flow.target.name for flow in plan.traffic.flows] == ["d2h1", "d2h2", "d2h3", "d2h4"]


def test_the_controller_knows_the_rates_of_links() -> None:
    only = "  only: [{between: [r1, r3], rate: 100 Gb/s}]"
    text = GOOD.replace("  hosts:", f"{only}\n  hosts:")
    config = parse_scenario(text, Path("good.yaml")).config
    rates = {port.name: port.rate for port in config.nodes["r1"].ports}
    assert rates["r3"] == 100 * 10**9
    assert {rate for name, rate in rates.items() if name != "r3"} == {400 * 10**9}
    assert {port.rate for port in config.nodes["pe1"].dc_ports} == {None}


def test_a_scenario_can_balance_loads() -> None:
    sections = "configuration: {failure_detection: {interval: 10ms}, load_balancing: {}}"
    text = GOOD.replace("  delay: 1ms", f"  delay: 1ms\n  {sections}")
    assert parse_scenario(text, Path("good.yaml")).config.load_balancing is not None
    with pytest.raises(ScenarioError, match="write 1ms to 1s"):
        parse_scenario(text.replace("{}}", "{refresh: 2s}}"), Path("bad.yaml"))


@pytest.mark.parametrize("name", [*catalog(), str(EXAMPLE)])
def test_scenarios_that_come_with_fcn_are_valid(name: str) -> None:
    plan = load_scenario(name)
    assert plan.scenario.title
    assert plan.traffic.sends or plan.work.tasks
    assert plan.config.nodes


IMPOSSIBLE = r"""
7 hosts.dcqcn.profile
  {rate: 100 Gb/s} => {rate: 100 Gb/s}\nhosts: {dcqcn: {profile: paper}}
7 sends at 1000000000 b/s at least
  {rate: 100 Gb/s} => {rate: 1 Mb/s}\nhosts: {dcqcn: {profile: hpcc-ns3}}
1 no network nowhere
  network: dual-dc => network: nowhere
2 has no data centres
  network: dual-dc => network: wan
2 gw2 has ports for 505 hosts: give fewer
  network: dual-dc => network: dual-dc\nhosts_per_data_centre: 506
3 write 10us, 2.5 ms or 1s
  duration: 2ms => duration: 2
1 duration: is missing
  duration: 2ms => durration: 2ms
5 is not above 0
  rate: 400 Gb/s => rate: 0 Gb/s
5 no rate for pe1-r1
  rate: 400 Gb/s, delay => delay
6 no rate for d1h1-gw1
  {rate: 100 Gb/s} => {}
5 links.core.red: marks all from kmax on: 1000 octets, below kmin: 2000
  buffer: 1000 => buffer: 1MB, red: {kmin: 2kB, kmax: 1kB, pmax: 0.1}
6 the queues of d1h1-gw1 mark what leaves more than 21000 octets behind
  {rate: 100 Gb/s} => {rate: 100 Gb/s, buffer: 20, red: {kmin: 21kB, kmax: 2MB, pmax: 1.0}}
5 links.core.red.pmax
  buffer: 1000 => buffer: 1MB, red: {kmin: 1kB, kmax: 2kB, pmax: 1.1}
2 no switch r9
  network: dual-dc => network: dual-dc\nswitches: {only: {r9: 1MB}}
11 nobody would be told before it is full
  buffer: 1000 => buffer: 7
11 7000 octets, holds 6 packets
  buffer: 1000 => buffer: 7kB
12 congestion begins at 2000000 octets
  delay: 1ms\n => thresholds: [2MB]\n
5 at least 1
  buffer: 1000 => buffer: 0
5 a queue holds 4294967294 packets at most
  buffer: 1000 => buffer: 1000000000000
5 a queue holds 9223372036854775807 octets
  buffer: 1000 => buffer: 9999999999999MB
6 are not linked
  buffer: 1000} => buffer: 1000}\n  only: [{between: [pe1, pe2]}]
6 above xoff
  {rate: 100 Gb/s} => {rate: 1 Gb/s, pfc: {priorities: [3], xoff: 1kB, xon: 2kB}}
6 flow control needs a link with a rate
  hosts: {rate => gateways: {pfc: {priorities: [3], xoff: 2kB, xon: 1kB}}\n  hosts: {rate
7 flow control of the links of gw1 promises
  {rate: 100 Gb/s} => {rate: 100 Gb/s, pfc: {priorities: [3], xoff: 1MB, xon: 1MB}}
  \nswitches: {memory: 2MB}
8 should be 'messages'
  pattern: messages => pattern: mesages
8 no host gw3
  from: [gw1] => from: [gw3]
8 d1h1 cannot send to itself
  from: [gw1], to: [gw2] => from: [d1h1], to: [d1h1]
8 as many or fewer
  from: [gw1], to: [gw2] => from: [d1h1], to: [gw2]
8 an incast has one target, not 4
  messages, from: [gw1] => incast, from: [gw1]
8 only a poisson
  to: [gw2], size: 1MB => to: [d2h1], size: 1MB, load: 0.5
8 give either size or sizes
  size: 1MB => count: 3
8 less than or equal to 4294967295
  size: 1MB => size: 8GB
8 the run has ended by then
  size: 1MB => size: 1MB, start: 2ms
8 more than 5000000 messages
  size: 1MB => size: 1MB, count: 1000000, qps: 9
8 needs its load
  messages, from => poisson, from
8 d1h1 would send to itself
  from: [gw1], to: [gw2] => from: [gw1], to: [gw1]
8 d1h1 is the only target, and cannot send to itself
  messages, from: [gw1], to: [gw2] => poisson, from: [d1h1, d1h2], to: [d1h1], load: 0.5
8 more than 5000000 messages
  pattern: messages, from: [gw1], to: [gw2], size: 1MB => pattern: poisson, from: [gw1], to:
  [gw2], load: 2.0, size: 1B
8 greater than or equal to
  pattern: messages, from: [gw1], to: [gw2], size: 1MB => pattern: poisson, from: [gw1], to:
  [gw2], load: 0.0000000000001, size: 1MB
8 their shares above 0
  pattern: messages, from: [gw1], to: [gw2], size: 1MB => pattern: poisson, from: [gw1], to:
  [gw2], load: 0.5, sizes: [[1kB, "nan"]]
8 only a poisson pattern has a distribution; give size
  size: 1MB} => distribution: hadoop}
8 give either size or sizes
  pattern: messages, from: [gw1], to: [gw2], size: 1MB => pattern: poisson, from: [gw1], to:
  [gw2], load: 0.5, size: 1MB, distribution: storage
8 should be 'websearch', 'hadoop' or 'storage'
  pattern: messages, from: [gw1], to: [gw2], size: 1MB => pattern: poisson, from: [gw1], to:
  [gw2], load: 0.5, distribution: webserch
1 nobody
  traffic:\n  - {pattern: messages, from: [gw1], to: [gw2], size: 1MB}\nevents => events
9 d1h1 alone waits for nobody
  events: => jobs: [{job: ring, ranks: [d1h1], size: 1MB}]\nevents:
9 d1h1 is named twice
  events: => jobs: [{job: pipeline, ranks: [d1h1, d2h1, d1h1], size: 1MB}]\nevents:
8 d2h1 is named twice
  from: [gw1], to: [gw2] => from: [d1h1, d1h2, d1h3], to: [d2h1, d2h1, d2h2]
8 only a poisson pattern chooses peers
  size: 1MB}\nevents => size: 1MB, peers: 2}\nevents
9 no host gw7
  events: => jobs: [{job: ring, ranks: [gw1, gw7], size: 1MB}]\nevents:
9 give more
  events: => jobs: [{job: ring, ranks: [gw1], size: 3B}]\nevents:
9 24000000 messages, of at most 5000000
  events: => jobs: [{job: ring, ranks: [gw1], size: 1MB, iterations: 1000000}]\nevents:
9 only a pipeline has it, not a ring
  events: => jobs: [{job: ring, ranks: [gw1], size: 1MB, microbatches: 2}]\nevents:
9 the run has ended by then
  events: => jobs: [{job: ring, ranks: [gw1], size: 1MB, start: 2ms}]\nevents:
13 above its highest rate, 100000000000 b/s
  delay: 1ms\n => delay: 1ms\nhosts: {dcqcn: {min_rate: 200 Gb/s}}\n
13 low is above high: between them the gradient decides, of d2h1
  delay: 1ms\n => delay: 1ms\nhosts: {timely: {low: 400us}, only: [{names: [gw2], settings: {timely:
  {high: 300us}}}]}\n
13 least_window is above most_window, of d1h1
  delay: 1ms\n => delay: 1ms\nhosts: {swift: {least_window: 9.0, most_window: 8.0}}\n
13 scaling_least is not below scaling_most, of d1h2
  delay: 1ms\n => delay: 1ms\nhosts: {only: [{names: [d1h2], settings: {swift: {scaling_least:
  100.0}}}]}\n
13 greater than or equal to 1
  delay: 1ms\n => delay: 1ms\nhosts: {timeout: 0ms}\n
13 greater than or equal to 2
  delay: 1ms\n => delay: 1ms\nhosts: {first_qp: 1}\n
13 less than 16777216
  delay: 1ms\n => delay: 1ms\nhosts: {first_psn: 0x1000000}\n
9 needs 3 queue pairs from 16777214 on; the last one is 16777215
  size: 1MB}\n => size: 1MB, qps: 3}\nhosts: {first_accepted_qp: 16777214}\n
10 give each their own
  size: 1MB}\n => size: 1MB}\n  - {pattern: messages, from: [gw2], to: [gw1], size: 1MB, qps:
  3}\nhosts: {first_qp: 12, first_accepted_qp: 10}\n
13 less than 9223372036854
  delay: 1ms\n => delay: 1ms\nhosts: {dcqcn: {byte_counter: 99999999999GB}}\n
10 nobody would be told before it is full
  link: [r1, r3], state: down => thresholds: {node: r1, towards: r3, depths: [2000]}
1 no file has a name with the character NUL
  network: dual-dc => network: "dual\0dc"
10 no link between r1 and r4
  [r1, r3], state: down => [r1, r4], state: down
10 link and state belong together
  [r1, r3], state: down => [r1, r3]
10 no node r9
  link: [r1, r3], state: down => controller: away, node: r9
10 exactly one of link, controller
  link: [r1, r3], state: down => node: r1
10 the run has ended by then
  at: 1ms => at: 3ms
12 no node r9
  delay: 1ms\n => delays: {r9: 1ms}\n
12 must rise from level to level
  delay: 1ms\n => thresholds: [8, 8]\n
12 r1 has no link to gw1
  delay: 1ms\n => queues: [{node: r1, towards: gw1, depths: [9]}]\n
12 the controller refuses flows.watched
  delay: 1ms\n => configuration: {flows: {watched: many}}\n
12 controller.holding.drain: unknown key
  delay: 1ms\n => holding: {drain: 1ms}\n
12 controller.two_threshold.light_interval: 400h is out of range
  delay: 1ms\n => two_threshold: {light_interval: 400h}\n
12 controller.holding: the controller refuses holding.time: an ARN asks for more
  delay: 1ms\n => holding: {time: 20ms}\nmode: service\n
14 no link between r1 and r4
  interval: 10us => queues: [[r1, r4]]
14 d1h1 is a host
  interval: 10us => queues: [[d1h1, gw1]]
14 is longer than the run
  interval: 10us => interval: 5ms
"""
"""The line and words of the reason; indented, what is changed."""


def impossible() -> Iterator[ParameterSet]:
    """The cases of IMPOSSIBLE."""
    for line, reason, change in re.findall(r"^(\d+) (.*)\n((?:  .*\n)+)", IMPOSSIBLE, re.MULTILINE):
        old, new = " ".join(change.split("\n  ")).strip().replace("\\n", "\n").split(" => ")
        yield pytest.param(old, new, int(line), reason, id=f"{line} {reason}")


@pytest.mark.parametrize(("old", "new", "line", "reason"), list(impossible()))
def test_an_impossible_scenario_is_refused_with_its_line(
    old: str, new: str, line: int, reason: str
) -> None:
    found = problem(old, new)
    assert any(
        each.startswith(f"bad.yaml:{line}: ") and reason in each for each in found.splitlines()
    ), found


def test_what_a_long_run_would_keep_in_memory_is_refused() -> None:
    text = GOOD.replace("duration: 2ms", "duration: 50ms")
    pcap = "interval: 10us\n  pcap: [[r1, r3], [pe1, r1]]"
    with pytest.raises(ScenarioError, match=r"bad.yaml:15: measure.pcap: up to 5.0 GB would be"):
        parse_scenario(text.replace("interval: 10us", pcap), Path("bad.yaml"))
    parse_scenario(text.replace("interval: 10us", pcap + "\n  snap: 128"), Path("good.yaml"))
    text = GOOD.replace("duration: 2ms", "duration: 2s").replace("10us", "100ns")
    queues = "100ns\n  queues: [[r1, r3]]"
    with pytest.raises(ScenarioError, match=r"bad.yaml:14: measure.interval: 20000000 samples"):
        parse_scenario(text.replace("100ns", queues), Path("bad.yaml"))
    few = text.replace("100ns", "1us")
    with pytest.raises(ScenarioError, match=r"bad.yaml:14: measure.interval: 40000000 samples of "):
        parse_scenario(few, Path("bad.yaml"))
    parse_scenario(few.replace("1us", "1us\n  queues: [[r1, r3]]"), Path("good.yaml"))


def test_every_problem_is_told_at_once() -> None:
    found = problem("rate: 400 Gb/s, ", "rate: 0 b/s, ").splitlines()
    assert len(found) == 1
    both = GOOD.replace("from: [gw1]", "from: [nobody]").replace("[r1, r3]", "[r1, r9]")
    with pytest.raises(ScenarioError) as error:
        parse_scenario(both, Path("bad.yaml"))
    assert len(str(error.value).splitlines()) == 2


def test_a_scenario_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ScenarioError, match=r"no scenario nowhere.yaml: .*dumbbell"):
        load_scenario("nowhere.yaml")


def test_hosts_of_two_ip_versions_cannot_send_to_each_other() -> None:
    mixed = "hosts:\n  only:\n    - {names: [d1h1], settings: {ip: 6}}\ntraffic:"
    assert "bad.yaml:11: traffic[0]: some of these hosts use IPv4" in problem("traffic:", mixed)


def test_a_network_beside_the_scenario_is_found(tmp_path: Path) -> None:
    network = (
        "nodes: {pe1: {role: pe}, pe2: {role: pe}}\nlinks: [{between: [pe1, pe2]}]\n"
        "hosts: {a: {pe: pe1}, b: {pe: pe2}}\n"
    )
    (tmp_path / "own.yaml").write_text(network)
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "network: own.yaml\nduration: 1ms\n"
        "links: {core: {rate: 1 Gb/s}, hosts: {rate: 1 Gb/s}}\n"
        "traffic: [{pattern: messages, from: [a], to: [b], size: 1kB}]\n"
    )
    assert list(load_scenario(scenario).wiring.hosts) == ["a", "b"]
    two = "vrfs: {blue: 1, red: 2}\n" + network.replace("pe: pe1}", "pe: pe1, vrf: red}")
    (tmp_path / "own.yaml").write_text(two.replace("pe: pe2}", "pe: pe2, vrf: blue}"))
    with pytest.raises(ScenarioError, match=r"scenario.yaml:4: .* VRFs blue, red cannot reach"):
        load_scenario(scenario)
    (tmp_path / "own.yaml").write_text(network.replace("{between: [pe1, pe2]}", ""))
    with pytest.raises(ScenarioError, match=r"scenario.yaml:4: .* no path from pe1 to pe2"):
        load_scenario(scenario)
    (tmp_path / "own.yaml").write_text(network.replace("hosts:", "hostts:"))
    with pytest.raises(ScenarioError, match=r"scenario.yaml:1: network: .*own.yaml:3: hostts"):
        load_scenario(scenario)
    (tmp_path / "own.yaml").write_text(network.partition("hosts")[0])
    with pytest.raises(ScenarioError, match="the network has no hosts"):
        load_scenario(scenario)


def test_depths_that_no_queue_has_are_refused() -> None:
    """As events give them: by the target, and in the mode chosen for the run."""
    event = "thresholds: {node: r1, towards: r3, depths: [%s]}"
    deep = GOOD.replace("link: [r1, r3], state: down", event % "8, 16, 999999")
    with pytest.raises(ScenarioError, match="reports 524287 at most"):
        parse_scenario(deep, Path("bad.yaml"))
    two = parse_scenario(
        GOOD.replace("link: [r1, r3], state: down", event % "8, 16"), Path("good.yaml")
    )
    with pytest.raises(
        ScenarioError, match=r"events\[0\].thresholds.depths: 2 depths; .* has three"
    ):
        two.using(mode="two-threshold")


KEYS: dict[Mode, str] = {"fcn": "thresholds", "two-threshold": "two_threshold", "flow": "holding"}
"""Of `controller`, with the depths of a mode."""


def test_a_queue_can_reach_the_depths_of_the_mode() -> None:
    """Those of other modes are nothing to it."""
    small = GOOD.replace("buffer: 1000", "buffer: 4")
    plan = parse_scenario(f"mode: none\n{small}", Path("small.yaml"))
    for mode, key in KEYS.items():
        told = rf"controller.{key}: congestion begins at .* holds 4 packets"
        with pytest.raises(ScenarioError, match=told):
            plan.using(mode=mode)
    deep = "thresholds: [2000]\n  two_threshold: {depths: [1, 2, 3]}\n  holding: {hold_at: 4,"
    fitting = small.replace("delay: 1ms\n", f"{deep} release_at: 1}}\n")
    for name in ("two-threshold", "flow"):
        parse_scenario(f"mode: {name}\n{fitting}", Path("small.yaml"))


def test_a_configuration_that_is_too_large_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcn.controller.config.document.MAX_VALUES", 200)
    told = problem("delay: 1ms\n", "cnp_interval: 51us\n")
    assert "refuses this network's configuration: more than 200 values" in told


def test_a_mode_that_the_controller_refuses_is_named() -> None:
    """Chosen for the run (`fcn lab run --mode`), after the scenario was read in its own mode."""
    text = GOOD.replace("delay: 1ms\n", "two_threshold: {hold: 1ms}\n")
    plan = parse_scenario(text, Path("good.yaml"))
    assert plan.using(mode="ecn").scenario.mode == "ecn"
    with pytest.raises(ScenarioError, match=r"good in mode two-threshold: .*hold \(1ms\) is short"):
        plan.using(mode="two-threshold")


def dcqcn_of(text: str, host: str) -> HostSettings:
    plan = parse_scenario(GOOD + text, Path("good.yaml"))
    return plan.wiring.settings(plan.wiring.hosts[host])


def test_a_profile_gives_what_the_scenario_does_not() -> None:
    hosts = "hosts: {dcqcn: {profile: nic, additive_increase: 7 Mb/s}, only: [%s]}\n"
    other = "{names: [gw2], settings: {dcqcn: {profile: hpcc-ns3, g: 0.5}}}"
    faster = "{names: [d2h1], settings: {cnp_interval: 9us, dcqcn: {hyper_increase: 9 Mb/s}}}"
    text = hosts % f"{other}, {faster}"
    nic, hpcc, mixed = (dcqcn_of(text, name) for name in ("d1h1", "d2h2", "d2h1"))
    assert (nic.cnp_interval, hpcc.cnp_interval, mixed.cnp_interval) == (4_000, 0, 9_000)
    rates = (nic.dcqcn.additive_increase, nic.dcqcn.hyper_increase, nic.dcqcn.min_rate)
    assert rates == (7 * 10**6, 50 * 10**6, 10**6)
    assert nic.dcqcn.g == 5 / 1024
    assert (hpcc.dcqcn.g, hpcc.dcqcn.byte_counter, hpcc.dcqcn.min_rate) == (0.5, 0, 10**9)
    assert mixed.dcqcn == hpcc.dcqcn.model_copy(update={"hyper_increase": 9 * 10**6})


def test_what_some_hosts_have_need_not_fit_the_defaults() -> None:
    """Only what others have, too: a `low` of 1 ms would be above the default of `high`."""
    some = "{names: [gw2], settings: {timely: {low: 1ms}}}"
    settings = dcqcn_of(f"hosts: {{timely: {{high: 5ms}}, only: [{some}]}}\n", "d2h1")
    assert (settings.timely.low, settings.timely.high) == (1_000_000, 5_000_000)


def test_without_a_profile_dcqcn_is_as_it_was() -> None:
    """The paper's rules with the timer of NICs: none of the profiles."""
    plain, paper = (
        dcqcn_of("", "d1h1"),
        dcqcn_of("hosts: {dcqcn: {profile: sigcomm2015}}\n", "d1h1"),
    )
    assert plain.cnp_interval == paper.cnp_interval == 50_000
    changed = {"profile": None, "increase_period": 300_000, "hyper_increase": 400 * 10**6}
    assert plain.dcqcn == DcqcnSettings() == paper.dcqcn.model_copy(update=changed)


@pytest.mark.parametrize("name", get_args(ProfileName))
def test_a_profile_says_all_but_the_line_rate(name: ProfileName) -> None:
    said = set(PROFILES[name].reaction_point)
    assert said == set(DcqcnSettings.model_fields) - {"profile", "line_rate"}
