"""What the exercises of p4lang/tutorials ask for: what to type at Mininet's prompt, what to see.

Commands are those of the exercises' README files, with xterms replaced by background jobs of the
hosts, and shorter. The outputs of such jobs are files named NAME.log. Mininet's own command iperf
is spelled out: with iperf 2.1 it waits for ever, whatever the switch.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Logs = Mapping[str, str]
"""What Mininet's prompt ("mininet") and the hosts' jobs printed."""


def _until(condition: str) -> str:
    """Wait a minute at most for a shell condition."""
    return f"sh timeout 60 sh -c 'until {condition}; do sleep 0.2; done'\n"


def _until_said(text: str, job: str) -> str:
    return _until(f'grep -q "{text}" {job}.log')


def _receivers(*hosts: str) -> str:
    """receive.py on hosts, until they listen."""
    start = "".join(f"{host} ./receive.py > {host}.log 2>&1 &\n" for host in hosts)
    return start + "".join(_until_said("sniffing on", host) for host in hosts) + "sh sleep 1\n"


_IPERF_UDP = "h22 iperf -s -u > h22.log 2>&1 &\nh11 iperf -c 10.0.2.22 -t 12 -u > h11.log 2>&1 &\n"
_CONTROLLER = "sh python3 -u mycontroller.py > controller.log 2>&1 &\n"


@dataclass(frozen=True)
class Exercise:
    """A folder of exercises/, what to type, and whether what was printed is right."""

    name: str
    commands: str
    right: Callable[[Logs], bool]


def _pings(logs: Logs) -> list[str]:
    """The losses of pings and pingalls."""
    return re.findall(r"([\d.]+)% (?:dropped|packet loss)", logs["mininet"])


def _tos(logs: Logs, name: str) -> set[str]:
    return set(re.findall(r"tos\s*= (0x[0-9a-f]+)", logs[name]))


def _iperfs(logs: Logs) -> list[str]:
    """The rates iperf reports at the prompt."""
    return re.findall(r"[\d.]+ [KMG]?bits/sec", logs["mininet"])


def _load_is_balanced(logs: Logs) -> bool:
    got = [logs[name].count("got a packet") for name in ("h2", "h3")]
    return sum(got) == 20 and 0 not in got


def _utilization_is_seen(logs: Logs) -> bool:
    return any(float(x) > 0.1 for x in re.findall(r": ([\d.]+) Mbps", logs["probes"]))


def _queue_is_seen(logs: Logs) -> bool:
    depths = [int(x) for x in re.findall(r"qdepth\s*= (\d+)", logs["h2"])]
    return 0 in depths and max(depths) >= 10


EXERCISES = (
    Exercise("basic", "pingall\n", lambda logs: _pings(logs) == ["0"]),
    Exercise(
        "basic_tunnel",
        f"pingall\n{_receivers('h2')}"
        "h1 ./send.py 10.0.2.2 'by address'\nh1 ./send.py 10.0.3.3 'by tunnel' --dst_id 2\n"
        f"{_until_said('by tunnel', 'h2')}",
        lambda logs: (
            _pings(logs) == ["0"] and "by address" in logs["h2"] and "by tunnel" in logs["h2"]
        ),
    ),
    Exercise(
        "calc",
        r"h1 printf '1+1\n7-2\n12&10\n8|3\n6^3\nquit\n' | ./calc.py" + "\n",
        lambda logs: re.findall(r"^(\d+)$", logs["mininet"], re.M) == ["2", "5", "8", "11", "5"],
    ),
    Exercise(
        "ecn",
        f"{_receivers('h2')}{_IPERF_UDP}h1 ./send.py 10.0.2.2 'P4 is cool' 16\n"
        f"{_until_said('tos *= 0x3', 'h2')}",
        lambda logs: _tos(logs, "h2") == {"0x1", "0x3"},
    ),
    Exercise(
        "firewall",
        "h1 iperf -s > h1.log 2>&1 &\nh3 iperf -s > h3.log 2>&1 &\n"
        f"{_until_said('listening', 'h1')}{_until_said('listening', 'h3')}"
        "h1 iperf -c 10.0.3.3 -t 2\nh3 timeout 6 iperf -c 10.0.1.1 -t 2\n",
        lambda logs: len(_iperfs(logs)) == 1,
    ),
    Exercise(
        "flowcache",
        f"{_CONTROLLER}{_until_said('on s3', 'controller')}h1 ping -c 15 h2\n",
        lambda logs: float(_pings(logs)[0]) <= 50 and "added table entry" in logs["controller"],
    ),
    Exercise(
        "link_monitor",
        "h1 ./send.py > sender.log 2>&1 &\nh1 ./receive.py > probes.log 2>&1 &\n"
        f"h4 iperf -s > h4.log 2>&1 &\n{_until_said('Mbps', 'probes')}"
        f"h1 iperf -c 10.0.4.4 -t 3\n{_until_said(': [1-9]', 'probes')}",
        _utilization_is_seen,
    ),
    Exercise(
        "load_balance",
        _receivers("h2", "h3")
        + "h1 ./send.py 10.0.0.1 'P4 is cool'\n" * 20
        + _until('[ $(cat h2.log h3.log | grep -c "got a packet") -ge 20 ]'),
        _load_is_balanced,
    ),
    Exercise(
        "mri",
        f"{_receivers('h2')}{_IPERF_UDP}h1 ./send.py 10.0.2.2 'P4 is cool' 16\n"
        f"{_until_said('qdepth *= [1-9][0-9]', 'h2')}",
        _queue_is_seen,
    ),
    Exercise("multicast", "pingall\n", lambda logs: _pings(logs) == ["0"]),
    Exercise(
        "p4runtime",
        f"{_CONTROLLER}{_until_said('tunnel counters', 'controller')}h1 ping -c 5 h2\n"
        f"{_until_said('s1 .*ingressTunnelCounter 100: 5 packets', 'controller')}",
        lambda logs: (
            _pings(logs) == ["0"]
            and "s1 MyIngress.ingressTunnelCounter 100: 5 packets" in logs["controller"]
        ),
    ),
    Exercise(
        "qos",
        f"{_receivers('h2')}"
        "h1 ./send.py --p=UDP --des=10.0.2.2 --m='P4 is cool' --dur=2\n"
        "h1 ./send.py --p=TCP --des=10.0.2.2 --m='P4 is cool' --dur=2\n"
        f"{_until_said('tos *= 0xb1', 'h2')}",
        lambda logs: {"0xb9", "0xb1"} <= _tos(logs, "h2"),
    ),
    Exercise(
        "source_routing",
        f"{_receivers('h2')}"
        r"h1 printf '2 3 2 2 1\nq\n' | ./send.py 10.0.2.2" + f"\n{_until_said('got a', 'h2')}",
        lambda logs: "got a packet" in logs["h2"] and "ttl       = 59" in logs["h2"],
    ),
)
