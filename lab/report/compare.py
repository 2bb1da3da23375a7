"""What differs between the scenarios of runs, key by key."""

from collections.abc import Iterator, Mapping

from fcn.controller.config.document import plain_data
from fcn.lab.report.amounts import NOTHING
from fcn.lab.report.tables import ReportTable
from fcn.lab.result.model import Result

_OF_THE_RUN = ("mode", "seed")
"""Of the run, which may have been told others than the scenario's."""


def differences(results: Mapping[str, Result]) -> ReportTable:
    """The keys of the scenarios, and what is of the run, in which the runs differ.

    `a.b[1]` is key `b` of `a`, its second item.
    """
    settings = {name: _settings(result) for name, result in results.items()}
    keys = list(dict.fromkeys(key for each in settings.values() for key in each))
    rows = [
        (key, *values)
        for key in keys
        if len(set(values := [each.get(key, NOTHING) for each in settings.values()])) > 1
    ]
    note = "" if rows else "The runs have the same scenario, mode and seed."
    return ReportTable("What differs", ("setting", *results), tuple(rows), note)


def _settings(result: Result) -> dict[str, str]:
    about = result.about
    found = {
        "scenario": about.scenario,
        "mode": about.mode,
        "seed": str(about.seed),
        "network (nodes, links, hosts)": about.network.name,
        "version of fcn": about.fcn,
    }
    for what, text in (("", about.text), ("network", about.network_text)):
        if not text:
            continue
        try:
            document = plain_data(text)
        except ValueError:
            found[f"{what} text".strip()] = text
            continue
        found |= {key: value for key, value in _flat(what, document) if key not in _OF_THE_RUN}
    return found


def _flat(where: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(f"{where}.{key}" if where else str(key), inner)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for number, item in enumerate(value):
            yield from _flat(f"{where}[{number}]", item)
    elif isinstance(value, list):
        yield where, ", ".join(map(str, value))
    else:
        yield where, str(value)
