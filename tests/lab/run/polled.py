"""A scenario that lasts until the controller has read the counters of all nodes twice. Run as a
program it prints the digest of the run and one of all its tables."""

from small import signature, small

from fcn.controller.node.counters import INTERVAL
from fcn.lab.control.loop import NS
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario


def polled() -> Result:
    """One message, and then nothing until after the second poll."""
    duration = round(2.1 * INTERVAL * NS)
    traffic = [{"pattern": "messages", "from": ["h1"], "to": ["h3"], "size": "20kB"}]
    measure = {"interval": f"{duration // 20}ns"}
    return run_scenario(small(duration=f"{duration}ns", traffic=traffic, measure=measure))


if __name__ == "__main__":
    result = polled()
    seen = result.controller
    assert (seen.loc[seen["what"] == "Read", "time_ns"] > 0).any(), "the controller polls"
    print(*signature(result))
