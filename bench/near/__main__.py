"""Near traffic and traffic over a WAN through one queue near the senders, as Annulus has it.

Annulus (Saeed et al., SIGCOMM 2020): senders hear of a queue near them directly from it; completion
times of the near traffic become 1.3 to 3.5 times shorter than with BBR over the WAN and DCTCP or
DCQCN. Here: DCQCN with end-to-end ECN, and with Fast CNPs.
"""

import sys
from pathlib import Path
from statistics import fmean

import pandas as pd

from fcn.bench.harness import options_of, write_results
from fcn.controller.logs import quiet_logs
from fcn.lab.modes import Mode
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import load_scenario

SCENARIO = Path(__file__).resolve().parent / "near.yaml"
MODES: tuple[Mode, ...] = ("ecn", "fcn")
NEAR = ("n1", "n2")
COUNTED = 0.6
"""Messages that could be sent in this part of the run; later ones have no time to complete."""


def completion(result: Result, near: bool) -> "pd.Series[float]":
    """Milliseconds of each message; of one that was not completed until the end of the run."""
    messages, end = result.messages, result.about.reached_ns
    counted = messages[
        (messages["host"].isin(NEAR) == near) & (messages["start_ns"] < COUNTED * end)
    ]
    done = counted["completed_ns"].astype("float64").fillna(end)
    return (done - counted["start_ns"]) / 1e6


def measure(seeds: int) -> dict[str, dict[str, float]]:
    """Of each mode the means over seeds of mean and 99th percentile, near and far."""
    plan = load_scenario(SCENARIO)
    found: dict[str, dict[str, float]] = {}
    for mode in MODES:
        rows = []
        for seed in range(1, seeds + 1):
            result = run_scenario(plan.using(mode=mode, seed=seed))
            times = {name: completion(result, name == "near") for name in ("near", "far")}
            rows.append(
                {f"{name}_mean_ms": float(each.mean()) for name, each in times.items()}
                | {f"{name}_p99_ms": float(each.quantile(0.99)) for name, each in times.items()}
                | {"sent_again": float(result.connections["retransmitted"].sum())}
            )
        found[mode] = {key: round(fmean(row[key] for row in rows), 3) for key in rows[0]}
    return found


@quiet_logs()
def main() -> None:
    parser = options_of("near", __doc__)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    found = measure(options.seeds)
    ecn, fcn = (found[mode] for mode in MODES)
    gains = {key: round(ecn[key] / fcn[key], 2) for key in ecn if key.endswith("ms")}
    write_results(options.results, {"seeds": options.seeds, **found, "ecn_to_fcn": gains})
    sys.stdout.write(options.results.read_text())


if __name__ == "__main__":
    main()
