"""What is impossible about a scenario in its network, as the path of a value and a message each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle

from fcn.contract.depth import PACKET_SIZE, Depth, DepthUnit, QueueDepth
from fcn.contract.targets import V1MODEL
from fcn.controller.config import Config
from fcn.controller.config.document import KeyPath, listed
from fcn.lab.modes import FLOW_CONTROL
from fcn.lab.roce import QPS
from fcn.lab.scenario.jobs import messages_of, workload
from fcn.lab.scenario.model import (
    Event,
    HostSettings,
    Job,
    Pattern,
)
from fcn.lab.scenario.sizes import Shares
from fcn.lab.scenario.traffic import NS, named, sizes_of
from fcn.lab.scenario.wiring import EndHost, Wire, Wiring
from fcn.topologies.model import TopologyError

Finding = tuple[KeyPath, str]

MAX_TCP = 1000
"""TCP connections: their ports tell them apart."""

MAX_MESSAGES = 5_000_000
"""Of a pattern: what can be kept in memory."""

MAX_CAPTURE = 2 * 10**9
"""Octets of all captures of a run, which are kept in memory until its end."""

MAX_SAMPLES = 10_000_000
"""Of all queues of a run, which are kept in memory until its end."""

MAX_SHARE = 1e6
"""Of a size: shares are added up."""


_TWICE = "{} is named twice, and counts once: each host has one place"


def problems(wiring: Wiring) -> Iterator[Finding]:
    """Every problem of a scenario whose fields are valid one by one, in whichever mode."""
    yield from _links(wiring)
    yield from _controller(wiring)
    for number, some in enumerate(wiring.scenario.hosts.only):
        for place, name in enumerate(some.names):
            if not wiring.select(name):
                yield ("hosts", "only", number, "names", place), _no_host(name)
    yield from _rates(wiring)
    yield from _controls(wiring)
    for number, pattern in enumerate(wiring.scenario.traffic):
        for path, message in _pattern(wiring, pattern):
            yield ("traffic", number, *path), message
    of_tcp = (each for each in wiring.scenario.traffic if each.pattern == "tcp")
    if sum(len(named(wiring, each.from_)) * each.qps for each in of_tcp) > MAX_TCP:
        yield ("traffic",), f"more than {MAX_TCP} TCP connections; give fewer qps"
    for number, job in enumerate(wiring.scenario.jobs):
        for path, message in _job(wiring, job):
            yield ("jobs", number, *path), message
    if not wiring.scenario.traffic and not wiring.scenario.jobs:
        yield ("traffic",), "nobody sends anything: give traffic or jobs"
    for number, event in enumerate(wiring.scenario.events):
        for path, message in _event(wiring, event):
            yield ("events", number, *path), message
    recovery = wiring.scenario.recovery
    if recovery.by != "data-plane" and not wiring.topology.detection:
        network = wiring.scenario.network
        yield ("recovery", "by"), f"no link of {network} is watched: it has no failure_detection"
    yield from _measure(wiring)


def _rates(wiring: Wiring) -> Iterator[Finding]:
    """DCQCN must have room between its rates at every host."""
    for host in wiring.hosts.values():
        wire = wiring.wire(host.name, host.site)
        dcqcn = wiring.settings(host).dcqcn
        highest = dcqcn.line_rate or (wire.rate_bps if wire else None)
        if highest and dcqcn.min_rate > highest:
            yield (
                ("hosts", "dcqcn", "min_rate"),
                f"{host.name} sends at {dcqcn.min_rate} b/s at least, above its highest rate, "
                f"{highest} b/s",
            )
            return


def _controls(wiring: Wiring) -> Iterator[Finding]:
    """What a host has of a control may be in two places, `hosts` and `only`."""
    for host in wiring.hosts.values():
        settings = wiring.settings(host)
        for key, problem in (
            ("timely", settings.timely.problem),
            ("swift", settings.swift.problem),
        ):
            if problem:
                yield ("hosts", key), f"{problem}, of {host.name}"
                return


def queue_pairs(wiring: Wiring) -> Iterator[Finding]:
    """Every connection needs a number at both hosts; of a scenario without other problems.

    The default numbers leave room for more connections than there can be.
    """
    chosen = [(host, wiring.settings(host)) for host in wiring.hosts.values()]
    default = HostSettings()
    if all(
        (settings.first_qp, settings.first_accepted_qp)
        == (default.first_qp, default.first_accepted_qp)
        for _, settings in chosen
    ):
        return
    flows = workload(wiring)[0].flows
    opened = Counter(flow.source.name for flow in flows)
    accepted = Counter(flow.target.name for flow in flows)
    for host, settings in chosen:
        own = range(settings.first_qp, settings.first_qp + opened[host.name])
        other = range(settings.first_accepted_qp, settings.first_accepted_qp + accepted[host.name])
        for key, numbers in (("first_qp", own), ("first_accepted_qp", other)):
            if numbers.stop > QPS.stop:
                yield (
                    ("hosts", key),
                    f"{host.name} needs {len(numbers)} queue pairs from {numbers.start} on; "
                    f"the last one is {QPS.stop - 1}",
                )
                return
        if max(own.start, other.start) < min(own.stop, other.stop) or own.start == other.start:
            yield (
                ("hosts", "first_qp"),
                f"{host.name} opens connections with the queue pairs from {own.start} and accepts "
                f"some with those from {other.start} on: give each their own",
            )
            return


def _no_host(name: str) -> str:
    return f"no host {name}, and no PE or gateway of this name with hosts"


def _links(wiring: Wiring) -> Iterator[Finding]:
    scenario = wiring.scenario
    if not wiring.hosts:
        yield ("network",), "the network has no hosts; nobody could send anything"
    if scenario.hosts_per_data_centre and not wiring.gateways:
        yield ("hosts_per_data_centre",), f"network {scenario.network} has no data centres"
    for gateway in wiring.gateways:
        beyond = [host.port for host in gateway.hosts if V1MODEL.ports.problem(host.port)]
        if beyond:
            key = "hosts_per_data_centre" if scenario.hosts_per_data_centre else "network"
            most = min(beyond) - gateway.hosts[0].port
            yield (key,), f"{gateway.name} has ports for {most} hosts: give fewer"
    linked = {wire.ends for wire in wiring.wires}
    for number, link in enumerate(scenario.links.only):
        path: KeyPath = ("links", "only", number)
        if frozenset(link.between) not in linked:
            yield (*path, "between"), f"{' and '.join(link.between)} are not linked"
        if any(set(link.between) == set(each.between) for each in scenario.links.only[:number]):
            yield path, f"the link between {' and '.join(link.between)} is above"
    without: dict[str, list[str]] = {}
    for wire in wiring.wires:
        if wire.rate_bps == 0:
            without.setdefault(wire.kind, []).append(f"{wire.a}-{wire.b}")
    for kind, links in without.items():
        where = "core" if kind == "core" else "hosts"
        shown = listed(links[:5]) + (", …" if len(links) > 5 else "")
        yield ("links", where), f"no rate for {shown}: give links.{where}.rate"
    switches = [node.name for node in wiring.topology.nodes]
    switches += [gateway.name for gateway in wiring.gateways]
    for name in scenario.switches.only:
        if name not in switches:
            yield ("switches", "only", name), f"no switch {name}; there are {listed(switches)}"
    yield from _flow_control(wiring)
    yield from _red(wiring)


def _flow_control(wiring: Wiring) -> Iterator[Finding]:
    if any(wire.pfc and wire.rate_bps is None for wire in wiring.wires):
        yield (
            ("links", "gateways"),
            "flow control needs a link with a rate: give links.gateways.rate",
        )
        return
    promised: Counter[str] = Counter()
    for wire in wiring.wires:
        for end in (wire.a, wire.b):
            promised[end] += wire.promised
    for node, octets in promised.items():
        memory = None if node in wiring.hosts else wiring.memory_of(node)
        if memory is not None and octets >= memory:
            yield (
                ("switches",),
                f"flow control of the links of {node} promises {octets} octets, and leaves none "
                f"of its {memory} to other traffic: give it more memory, or less xoff or headroom",
            )


def _red(wiring: Wiring) -> Iterator[Finding]:
    for wire in wiring.wires:
        if wire.red is not None and wire.red.kmin >= (octets := _octets_in(wiring, wire.buffer)):
            yield (
                _place_of_red(wiring, wire),
                f"the queues of {wire.a}-{wire.b} mark what leaves more than {wire.red.kmin} "
                f"octets behind, but hold {octets}: nothing would be marked before they are full",
            )


def _place_of_red(wiring: Wiring, wire: Wire) -> KeyPath:
    for number, link in enumerate(wiring.scenario.links.only):
        if link.red is not None and frozenset(link.between) == wire.ends:
            return ("links", "only", number, "red")
    return ("links", {"core": "core", "gateway": "gateways", "host": "hosts"}[wire.kind], "red")


def _octets_in(wiring: Wiring, buffer: Depth) -> int:
    """Octets that a buffer holds, packets being of the hosts' MTU, without their headers."""
    in_packets = buffer.unit is DepthUnit.PACKETS
    return buffer.amount * wiring.scenario.hosts.mtu if in_packets else buffer.amount


def thresholds_in_buffers(wiring: Wiring) -> Iterator[Finding]:
    """In its mode a queue must be able to reach the depths at which levels begin."""
    for place, node, towards, depths in _depths(wiring):
        yield from _in_buffer(wiring, place, node, towards, depths)


def depths_in_buffers(wiring: Wiring, config: Config) -> Iterator[Finding]:
    """The same in modes whose depths are in sections of the configuration."""
    if wiring.scenario.mode == "two-threshold":
        section, depths = "two_threshold", config.two_threshold.depths
    elif wiring.scenario.mode in FLOW_CONTROL:
        section, depths = "holding", (config.holding.hold_at,)
    else:
        return
    for node, towards in wiring.core_directions:
        yield from _in_buffer(wiring, ("controller", section), node, towards, depths)


def _in_buffer(
    wiring: Wiring, place: KeyPath, node: str, towards: str, depths: Sequence[Depth]
) -> Iterator[Finding]:
    wire = wiring.wire(node, towards)
    if wire is None:
        return
    packets = _packets_in(wiring, wire.buffer)
    if QueueDepth().convert(depths[0], PACKET_SIZE) > packets:
        yield (
            place,
            f"congestion begins at {depths[0]}, but the buffer of {node} towards {towards}, "
            f"{wire.buffer}, holds {packets} packets: nobody would be told before it is full",
        )


def _packets_in(wiring: Wiring, buffer: Depth) -> int:
    """Packets of the hosts' MTU that a buffer holds, without their headers."""
    in_packets = buffer.unit is DepthUnit.PACKETS
    return buffer.amount if in_packets else buffer.amount // wiring.scenario.hosts.mtu


def _depths(wiring: Wiring) -> Iterator[tuple[KeyPath, str, str, Sequence[Depth]]]:
    if wiring.has_red or wiring.scenario.mode in ("none", "two-threshold", *FLOW_CONTROL):
        return
    controller = wiring.scenario.controller
    own = {(queue.node, queue.towards) for queue in controller.queues}
    for node, towards in wiring.core_directions:
        if (node, towards) not in own:
            yield ("controller", "thresholds"), node, towards, controller.thresholds
    for number, queue in enumerate(controller.queues):
        yield ("controller", "queues", number), queue.node, queue.towards, queue.depths


def _controller(wiring: Wiring) -> Iterator[Finding]:
    controller = wiring.scenario.controller
    nodes = [node.name for node in wiring.topology.nodes]
    for name in controller.delays:
        if name not in nodes:
            yield ("controller", "delays", name), f"no node {name}; there are {listed(nodes)}"
    for number, queue in enumerate(controller.queues):
        path: KeyPath = ("controller", "queues", number)
        yield from _queue(wiring, path, queue.node, queue.towards)
        if any(
            (queue.node, queue.towards) == (other.node, other.towards)
            for other in controller.queues[:number]
        ):
            yield path, f"the queue of {queue.node} towards {queue.towards} is above"


def _queue(wiring: Wiring, path: KeyPath, node: str, towards: str) -> Iterator[Finding]:
    """Of a PE or P node."""
    nodes = [each.name for each in wiring.topology.nodes]
    if node not in nodes:
        yield path, f"no node {node}; there are {listed(nodes)}"
    elif wiring.wire(node, towards) is None:
        yield path, f"{node} has no link to {towards}"


def _pattern(wiring: Wiring, pattern: Pattern) -> Iterator[Finding]:
    for key, names in (("from", pattern.from_), ("to", pattern.to)):
        for number, name in enumerate(names):
            if not wiring.select(name):
                yield (key, number), _no_host(name)
            if name in names[:number]:
                yield (key, number), _TWICE.format(name)
    sources, targets = named(wiring, pattern.from_), named(wiring, pattern.to)
    if not sources or not targets:
        return
    both = set(sources) & set(targets)
    kind = pattern.pattern
    if kind == "incast" and len(targets) != 1:
        yield ("to",), f"an incast has one target, not {len(targets)}"
    if kind == "incast" and both:
        yield ("from",), f"{targets[0].name} is the target, and cannot send to itself"
    if kind == "permutation" and len(targets) < len(sources):
        yield ("to",), f"{len(sources)} hosts cannot each send to another one of {len(targets)}"
    if len(sources) == 1 and sources == targets:
        yield ("to",), f"{sources[0].name} cannot send to itself"
    if kind in ("messages", "tcp"):
        for source, target in zip(sources, cycle(targets), strict=False):
            if source == target and len(both) > 1:
                yield ("to",), f"{source.name} would send to itself; order the hosts differently"
    if kind == "poisson" and len(targets) == 1 and both and len(sources) > 1:
        yield ("from",), f"{targets[0].name} is the only target, and cannot send to itself"
    if kind in ("messages", "tcp") and not 1 <= len(targets) <= len(sources):
        yield ("to",), f"{len(sources)} hosts send to as many or fewer, not to {len(targets)}"
    yield from _reach(wiring, sources, targets)
    yield from _amounts(wiring, pattern, sources, targets)


def _job(wiring: Wiring, job: Job) -> Iterator[Finding]:
    unknown = [number for number, name in enumerate(job.ranks) if not wiring.select(name)]
    for number in unknown:
        yield ("ranks", number), _no_host(job.ranks[number])
    if unknown:
        return
    for number, name in enumerate(job.ranks):
        if name in job.ranks[:number]:
            yield ("ranks", number), _TWICE.format(name)
    ranks = named(wiring, job.ranks)
    if len(ranks) < 2:
        yield ("ranks",), f"{ranks[0].name} alone waits for nobody; name two hosts or more"
    if job.job == "ring" and job.size < len(ranks):
        yield ("size",), f"{len(ranks)} ranks reduce a part each of {job.size} octets; give more"
    if (most := messages_of(job, len(ranks))) > MAX_MESSAGES:
        yield ("iterations",), f"{most} messages, of at most {MAX_MESSAGES}; give fewer iterations"
    for key in ("backward", "microbatches"):
        if job.job != "pipeline" and key in job.model_fields_set:
            yield (key,), f"only a pipeline has it, not a {job.job}"
    if job.start >= wiring.scenario.duration:
        yield ("start",), "the run has ended by then"
    yield from _reach(wiring, ranks, ranks)


def _reach(
    wiring: Wiring, sources: Iterable[EndHost], targets: Iterable[EndHost]
) -> Iterator[Finding]:
    """Hosts that cannot send to others."""
    vrfs = {wiring.vrf_of(host) for host in (*sources, *targets)}
    if len(vrfs) > 1:
        yield (), f"hosts of the VRFs {listed(sorted(vrfs))} cannot reach each other"
    mixed = {wiring.settings(host).ip for host in (*sources, *targets)}
    if len(mixed) > 1:
        yield (), "some of these hosts use IPv4 and some IPv6"
    if len({wiring.settings(host).retransmission for host in (*sources, *targets)}) > 1:
        yield (), "some of these hosts have selective-repeat as their retransmission, and some not"
    far = {wiring.pe_of(host) for host in targets}
    for pe in sorted({wiring.pe_of(host) for host in sources}):
        for other in sorted(far):
            try:
                wiring.topology.path(pe, other)
            except TopologyError:
                yield (), f"there is no path from {pe} to {other}"


def _amounts(
    wiring: Wiring, pattern: Pattern, sources: Sequence[EndHost], targets: Sequence[EndHost]
) -> Iterator[Finding]:
    # Of the other patterns each host sends to one.
    pairs = len(sources) * (len(targets) if pattern.pattern == "all-to-all" else 1)
    given = [pattern.size is not None, bool(pattern.sizes), pattern.distribution is not None]
    if sum(given) != 1:
        yield (), "give either size or sizes, or of a poisson pattern a distribution"
        return
    if pattern.pattern != "poisson":
        if pattern.peers is not None:
            yield ("peers",), "only a poisson pattern chooses peers; name the hosts in to"
        if pattern.sizes:
            yield ("sizes",), "only a poisson pattern has several sizes; give size"
        if pattern.distribution:
            yield ("distribution",), "only a poisson pattern has a distribution; give size"
        if pattern.load is not None:
            yield ("load",), "only a poisson pattern has a load; give count and interval"
        if pattern.pattern == "tcp" and (pattern.count > 1 or pattern.interval):
            yield ("count",), "TCP sends its size once; give more qps, or another pattern"
        if pairs * pattern.qps * pattern.count > MAX_MESSAGES:
            yield ("count",), f"more than {MAX_MESSAGES} messages; give fewer and larger ones"
    elif pattern.load is None:
        yield (), "a poisson pattern needs its load: 0.5 is half of the hosts' rate"
    else:
        for key in ("count", "interval"):
            if key in pattern.model_fields_set:
                yield (key,), "a poisson pattern sends to the end; it has a load instead"
        yield from _random_messages(wiring, pattern, sources, targets)
    if pattern.start >= wiring.scenario.duration:
        yield ("start",), "the run has ended by then"


def _random_messages(
    wiring: Wiring, pattern: Pattern, sources: Sequence[EndHost], targets: Sequence[EndHost]
) -> Iterator[Finding]:
    try:
        sizes = sizes_of(pattern)
    except (TypeError, ValueError, OverflowError) as error:
        yield ("sizes",), f"write [[64kB, 0.9], [1MB, 0.1]]: {error}"
        return
    shares = sizes.shares if isinstance(sizes, Shares) else ()
    if any(not 0 < share <= MAX_SHARE or not 1 <= size < 1 << 32 for size, share in shares):
        yield ("sizes",), "sizes are 1 octet to 4 GiB, and their shares above 0, such as 0.9"
        return
    links = [wiring.wire(source.name, source.site) for source in sources]
    rate = sum(link.rate_bps or 0 for link in links if link is not None) * (pattern.load or 0)
    seconds = max(0, wiring.scenario.duration - pattern.start) / NS
    if rate * seconds / 8 / sizes.mean > MAX_MESSAGES:
        yield ("load",), f"more than {MAX_MESSAGES} messages; give less load or larger sizes"
    peers = min(pattern.peers or len(targets), len(targets))
    if len(sources) * peers * pattern.qps > MAX_MESSAGES:
        yield ("qps",), f"more than {MAX_MESSAGES} connections; give fewer peers"


def _event(wiring: Wiring, event: Event) -> Iterator[Finding]:
    kinds = [key for key in ("link", "controller", "thresholds") if getattr(event, key) is not None]
    if len(kinds) != 1:
        yield (), "an event has exactly one of link, controller and thresholds"
        return
    if event.at >= wiring.scenario.duration:
        yield ("at",), "the run has ended by then"
    if (event.state is None) == (event.link is not None):
        yield (), "link and state belong together: {link: [p1, p2], state: down}"
    if event.node is not None and event.controller is None:
        yield ("node",), "node belongs to controller: {controller: away, node: p1}"
    nodes = [node.name for node in wiring.topology.nodes]
    if event.node is not None and event.node not in nodes:
        yield ("node",), f"no node {event.node}; there are {listed(nodes)}"
    if event.link is not None and wiring.wire(*event.link) is None:
        yield ("link",), f"there is no link between {' and '.join(event.link)}"
    if event.thresholds is not None:
        queue = event.thresholds
        wrong = list(_queue(wiring, ("thresholds",), queue.node, queue.towards))
        yield from wrong or _in_buffer(
            wiring, ("thresholds", "depths"), queue.node, queue.towards, queue.depths
        )


def _measure(wiring: Wiring) -> Iterator[Finding]:
    measure = wiring.scenario.measure
    for key in ("queues", "crossings", "pcap"):
        for number, (node, towards) in enumerate(getattr(measure, key) or ()):
            path: KeyPath = ("measure", key, number)
            if wiring.wire(node, towards) is None:
                yield path, f"there is no link between {node} and {towards}"
            elif key == "queues" and node in wiring.hosts:
                yield path, f"{node} is a host; queues are those of switches"
    duration = wiring.scenario.duration
    queues = wiring.core_directions if measure.queues is None else measure.queues
    if (samples := duration // measure.interval * max(1, len(queues))) > MAX_SAMPLES:
        yield (
            ("measure", "interval"),
            f"{samples} samples of queues in a run, of at most {MAX_SAMPLES}: give a longer "
            "interval or fewer queues",
        )
    if (octets := _captured(wiring)) > MAX_CAPTURE:
        yield (
            ("measure", "pcap"),
            f"up to {octets / 1e9:.1f} GB would be kept in memory, of at most "
            f"{MAX_CAPTURE / 1e9:g} GB: give fewer links, a smaller snap or a shorter duration",
        )
    if measure.interval > duration:
        yield ("measure", "interval"), "is longer than the run"


def _captured(wiring: Wiring) -> float:
    """Octets that captures can have at most: links that are never idle, frames of the hosts' MTU
    (a link without a limit as fast as all hosts)."""
    measure, mtu = wiring.scenario.measure, wiring.scenario.hosts.mtu
    wires = [wiring.wire(node, towards) for node, towards in set(measure.pcap)]
    hosts = sum(wire.rate_bps or 0 for wire in wiring.wires if wire.kind == "host")
    rate = sum(hosts if wire.rate_bps is None else wire.rate_bps for wire in wires if wire)
    return rate / 8 * wiring.scenario.duration / NS * min(1.0, measure.snap / mtu)
