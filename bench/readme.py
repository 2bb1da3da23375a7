"""The figures of README.md and docs/softswitch.md, of results that one commit made.

`python -m fcn.bench.readme` is the last step of `make bench`. It writes what stands between
`<!-- NAME: written by make bench -->` and `<!-- end of NAME -->`.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from fcn.bench.forwarding import LOSS_LIMIT
from fcn.bench.harness import RESULTS, ROOT, BenchError, options_of, with_part

FILES = ("forwarding", "demo", "tracing")

Results = Mapping[str, Any]


def main() -> None:
    options_of("readme", __doc__, results=False).parse_args()
    results = {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in FILES}
    try:
        texts = {
            ROOT / file: in_file((ROOT / file).read_text(), parts)
            for file, parts in parts_of(results).items()
        }
    except BenchError as error:
        sys.exit(f"error: {error}")
    for file, text in texts.items():
        file.write_text(text)


def parts_of(results: Results) -> dict[str, dict[str, str]]:
    """What is written, by file and name. Raises BenchError where results are of several commits, or
    of files that were changed since."""
    commits = {name: results[name]["machine"].get("commit", "") for name in FILES}
    (commit, *others) = set(commits.values())
    if others or not commit or " " in commit:
        said = ", ".join(f"{name} of {commit or 'no commit'}" for name, commit in commits.items())
        raise BenchError(f"results are not of one commit ({said}): commit all, then `make bench`")
    runs = results["demo"]["runs"]
    ecn, fcn = (runs[f"{mode}, real time"] for mode in ("ecn", "fcn"))
    cores = results["forwarding"]["machine"]["cores"]
    rates = {
        (each["program"], each["target"]): _rate(each) for each in results["forwarding"]["sweeps"]
    }
    need = [(program, target) for program in ("pe", "p") for target in ("bmv2", "softswitch")]
    if missing := [" on ".join(each) for each in need if each not in rates]:
        raise BenchError(f"{', '.join(missing)}: not measured; `make bench` needs BMv2 on PATH")
    headline = (
        "In the network of `make demo` the sender's first cut comes "
        f"{fcn['reaction_ms']:.1f} ms after congestion begins, with ECN alone "
        f"{ecn['reaction_ms']:.1f} ms (propagation alone: 3 and 13)."
    )
    figures = f"""\
Measured at commit {commit} on a virtual machine with {cores} cores; run the commands for your own numbers.

| `python -m fcn.bench.demo`, softswitch, 20 s | end-to-end ECN | with FCN | propagation alone |
|---|---|---|---|
| from congestion to the first rate cut, median | {ecn["reaction_ms"]:.1f} ms | {fcn["reaction_ms"]:.1f} ms | 13 / 3 ms |
| longest | {ecn["longest_ms"]:.1f} ms | {fcn["longest_ms"]:.1f} ms | |
| most packets in the queue | {ecn["peak_queue"]:.0f} | {fcn["peak_queue"]:.0f} | |

`make bench` gives both switches the same programs, entries and packets, with a core for the switch and one for the traffic
source. Packets a second ([raw numbers](bench/results/forwarding.json); \\*: the source sent no more):

| | BMv2 | softswitch |
|---|---|---|
| PE | {rates["pe", "bmv2"]} | {rates["pe", "softswitch"]} |
| P | {rates["p", "bmv2"]} | {rates["p", "softswitch"]} |"""  # noqa: E501
    return {
        "README.md": {"headline": headline, "figures": figures},
        "docs/softswitch.md": {"tracing": _tracing(results["tracing"]["samples"], commit)},
    }


def _rate(sweep: Mapping[str, Any]) -> str:
    """The most that was delivered, in thousands."""
    best = max(sample["delivered"] for sample in sweep["samples"])
    last = sweep["samples"][-1]
    unlimited = last["delivered"] >= LOSS_LIMIT * last["offered"]
    return f"{round(best, -3):,.0f}" + ("\\*" if unlimited else "")


_TRACED = {
    "forwards": "the code that forwards",
    "can tell": "the other code, no trace",
    "tells of none": "a trace whose filter wants none",
    "tells of all": "every packet is recorded",
    "stories as JSON": "and made a story, as JSON (Python)",
}


def _tracing(samples: list[Mapping[str, Any]], commit: str) -> str:
    pe, p = (each["rates"] for each in samples)
    rows = "\n".join(
        f"| {text} | {pe[name]:,.0f} | {p[name]:,.0f} |" for name, text in _TRACED.items()
    )
    times = [each["forwards"] / each["tells of all"] for each in (pe, p)]
    most = p["forwards"] / FOUR_WARD
    return f"""\
Packets a second of the engine in memory, on one core, by processor time, at commit {commit}:

| | PE | P |
|---|---|---|
{rows}

A packet that is recorded takes {times[0]:.0f} times as long on PE and {times[1]:.0f} times on P.
4ward, an interpreter that makes a tree of every packet, states {FOUR_WARD:,} packets a second on
one core of a faster machine for another program of 30 tables; P forwards {most:.0f} times as
many here."""


FOUR_WARD = 2500
"""Packets a second that 4ward's authors state."""


def in_file(text: str, parts: Mapping[str, str]) -> str:
    """A file with these parts anew. Raises BenchError where it has no place for one."""
    for name, part in parts.items():
        text = with_part(text, name, "make bench", part + "\n")
    return text


if __name__ == "__main__":
    main()
