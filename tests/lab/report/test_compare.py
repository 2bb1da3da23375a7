"""What differs between the scenarios of runs."""

from lab_results import SCENARIO, about

from fcn.lab.report.amounts import NOTHING
from fcn.lab.report.compare import differences
from fcn.lab.result.model import Result


def rows(*results: Result) -> dict[str, tuple[str, ...]]:
    table = differences({str(number): result for number, result in enumerate(results)})
    return {row[0]: row[1:] for row in table.rows}


def test_equal_runs_differ_in_nothing_and_the_table_says_so() -> None:
    one = Result(about())
    assert rows(one, Result(about(wall_s=9.0))) == {}
    assert "same scenario" in differences({"a": one, "b": one}).note


def test_the_mode_and_seed_are_those_of_the_run() -> None:
    found = rows(Result(about()), Result(about(mode="ecn", seed=7)))
    assert found == {"mode": ("fcn", "ecn"), "seed": ("1", "7")}


def test_keys_of_the_scenarios_are_compared_by_their_place() -> None:
    other = SCENARIO.replace("64kB", "1MB").replace("[r*]", "[r1, r2]") + "hosts: {mtu: 4096}\n"
    found = rows(Result(about()), Result(about(text=other)), Result(about()))
    assert found == {
        "traffic[0].to": ("r*", "r1, r2", "r*"),
        "traffic[0].size": ("64kB", "1MB", "64kB"),
        "hosts.mtu": (NOTHING, "4096", NOTHING),
    }


def test_networks_of_the_same_name_are_compared_key_by_key() -> None:
    near, far = (f"links:\n  - {{delay: {length}}}\n" for length in ("10 km", "20 km"))
    found = rows(Result(about(network_text=near)), Result(about(network_text=far)))
    assert found == {"network.links[0].delay": ("10 km", "20 km")}


def test_a_text_that_is_no_yaml_is_compared_as_a_whole() -> None:
    found = rows(Result(about()), Result(about(text="a: [")))
    assert found["text"] == (NOTHING, "a: [")
    nested = "[" * 5000
    assert rows(Result(about()), Result(about(text=nested)))["text"] == (NOTHING, nested)


def test_values_are_read_as_the_laboratory_reads_them() -> None:
    """Not as YAML 1.1: `no` is text there is, 1:30 no number, and a bomb of aliases is refused."""
    one, other = (Result(about(text=f"title: {title}\n")) for title in ("no", "false"))
    assert rows(one, other) == {"title": ("no", "False")}
    assert rows(*(Result(about(text=f"title: {text}\n")) for text in ("1:30", "90"))) == {
        "title": ("1:30", "90")
    }
    lists = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 10))
    bomb = f"x0: &x0 [a, b]\n{lists}"
    assert rows(one, Result(about(text=bomb)))["text"] == (NOTHING, bomb)
