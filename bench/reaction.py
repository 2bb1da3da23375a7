"""From the onset of congestion to the first rate cut, beside propagation, over distances.

`python -m fcn.bench.reaction` runs a dumbbell in the laboratory: hosts send at 100 Gb/s each into a
link of 100 Gb/s, from the far side of a link as long as the distance; the receivers are as far
again. With FCN at default thresholds and intervals, with END.CON in place of Fast CNPs, and with
end-to-end ECN. The bound is the
propagation delay of the way the first CNP came. No reaction can be sooner, so the ratio to it is 1
or more whatever senders do: beside it is what as many rate cuts at random times would give, and in
how many congestions there is a cut. Everything is in virtual time, so that the numbers are the same
on every machine. They are written to bench/results/reaction.json.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from fcn.bench.harness import BenchError, options_of, positive, table_of, write_results
from fcn.controller.logs import quiet_logs
from fcn.lab.modes import Mode
from fcn.lab.report.amounts import show
from fcn.lab.result.chance import by_chance
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import reactions
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, make_scenario
from fcn.topologies.units import NS_PER_KM

KILOMETRES = (100.0, 500.0, 1000.0, 2000.0)
MODES: tuple[Mode, ...] = ("fcn", "end-con", "ecn")
SENDERS = ((1, "64MB"), (2, "64MB"), (4, "32MB"))
"""How many send, and how much. One alone congests the link, too: the tunnel's headers make its
100 Gb/s more."""

GOAL = 1.05
LAST_KM = 1


Row = dict[str, Any]
"""One run. by: whose CNP came first. answered: the share of its congestions with a rate cut.
random_answered, random_ratio: the same, and the median ratio, of as many cuts at random times
(`fcn.lab.result.chance`)."""


def scenario(kilometres: float, senders: int, size: str) -> Plan:
    """A dumbbell whose queue is this far from the senders, and from the receivers."""
    longest = 2 * (2 * kilometres + LAST_KM) * NS_PER_KM
    hosts = range(1, senders + 1)
    return make_scenario(
        {
            "network": "dumbbell",
            "duration": f"{round(longest + 2e6)} ns",
            "links": {
                "core": {"buffer": 20_000},
                "hosts": {"delay": "500 ns", "buffer": 20_000},
                "only": [
                    {"between": ["pe1", "p1"], "delay": f"{kilometres:g} km", "rate": "1 Tb/s"},
                    {"between": ["p1", "p2"], "delay": f"{kilometres:g} km", "rate": "100 Gb/s"},
                    {"between": ["p2", "pe2"], "delay": f"{LAST_KM} km"},
                    *({"between": [f"h{n}", "pe1"], "rate": "100 Gb/s"} for n in hosts),
                    *({"between": [f"h{n + 4}", "pe2"], "rate": "100 Gb/s"} for n in hosts),
                ],
            },
            "hosts": {"mtu": 4096},
            "traffic": [
                {
                    "pattern": "messages",
                    "from": [f"h{number}" for number in hosts],
                    "to": [f"h{number + 4}" for number in hosts],
                    "size": size,
                }
            ],
        },
        f"reaction-{kilometres:g}-km-{senders}",
    )


def measured(kilometres: float, senders: int, result: Result) -> Row:
    """The reaction to the first congestion of a run. Raises BenchError when there is none."""
    every = reactions(result)
    found = every[every["ratio"].notna()]
    if found.empty:
        raise BenchError(f"{result.about.label}: no congestion to which a sender reacted")
    first = found.iloc[0]
    chance = by_chance(result)
    bound = first["fcn_bound_ns"] if first["by"] == "ingress PE" else first["ecn_bound_ns"]
    return {
        "kilometres": kilometres,
        "senders": senders,
        "mode": result.about.mode,
        "by": str(first["by"]),
        "reaction_ns": int(first["reaction_ns"]),
        "bound_ns": int(bound),
        "ratio": float(first["ratio"]),
        "congestions": len(every),
        "answered": len(found) / len(every),
        "random_answered": chance.answered,
        "random_ratio": chance.ratio,
    }


def measure(distances: tuple[float, ...]) -> Iterator[Row]:
    for kilometres in distances:
        for senders, size in SENDERS:
            plan = scenario(kilometres, senders, size)
            for mode in MODES:
                yield measured(kilometres, senders, run_scenario(plan.using(mode=mode)))


def table(rows: Sequence[Row]) -> Table:
    made = table_of(
        "from the onset of congestion to the first rate cut",
        ("queue to sender", "senders", "mode", "first CNP of"),
        ("propagation", "more than that", "ratio", "random", "cut", "random cut"),
        caption="random: of as many cuts at random times; cut: congestions with one",
    )
    for row in rows:
        more = row["reaction_ns"] - row["bound_ns"]
        made.add_row(
            f"{row['kilometres']:g} km", str(row["senders"]), row["mode"], row["by"],
            show(row["bound_ns"], "ns"), show(more, "ns"), f"{row['ratio']:.5f}",
            show(row["random_ratio"], "ratio"), show(row["answered"], "share"),
            show(row["random_answered"], "share"),
        )  # fmt: skip
    return made


@quiet_logs()
def main() -> None:
    parser = options_of("reaction", __doc__)
    parser.add_argument(
        "--km", type=positive, nargs="+", default=KILOMETRES, help="from the queue to the senders"
    )
    options = parser.parse_args()
    rows = list(measure(tuple(options.km)))
    console = Console()
    console.print(table(rows))
    for mode in ("fcn", "end-con"):
        worst = max(row["ratio"] for row in rows if row["mode"] == mode)
        console.print(f"greatest ratio with {mode}: {worst:.5f} (goal: at most {GOAL})")
    write_results(options.results, rows)


if __name__ == "__main__":
    main()
