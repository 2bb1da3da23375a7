"""What packets show of statements, true ones and those whose numbers others use (FCN-3 b)."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
from inference_simulator import Conditions, conditions
from inference_traffic import Kind
from statement_simulator import Said, by_agents, by_both, by_cm, reused_network, simulate
from verification_simulator import total


@pytest.mark.parametrize("seeds", [15, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_true_statements_are_never_disproved(seeds: int) -> None:
    """Whatever happens to packets and reports, and few become uncertain; verification_simulator.py
    does more seeds."""
    statements, disproved, uncertain = total(range(seeds))
    assert statements > 8 * seeds
    assert disproved == 0
    assert uncertain <= statements // 50


@pytest.mark.parametrize("seeds", [5, pytest.param(20, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("draw", [by_cm, by_agents, by_both])
def test_statements_are_right(draw: Callable[[random.Random], Said], seeds: int) -> None:
    """Messages lost, repeated, late, agents that know half; learning_table.py does more seeds."""
    right = 0
    for seed in range(seeds):
        rng = random.Random(seed)
        outcome = simulate(conditions(rng), draw(rng), seed)
        assert (outcome.wrong, outcome.ended) == (0, 0)
        right += outcome.right
    assert right > 10 * seeds


def test_statements_outlast_pauses() -> None:
    """A burst of 1 ms every three seconds, as in training: of most of it nothing is reported."""
    for seed in range(10):
        given = replace(
            conditions(random.Random(seed)),
            connections=4,
            bursts=(0.001, 3.0),
            churn=False,
            window=0.01,
            seconds=20.0,
        )
        outcome = simulate(given, Said(), seed)
        assert (outcome.wrong, outcome.ended) == (0, 0)


def test_a_queue_pair_that_sends_another_flow_is_not_inferred() -> None:
    """Found by learning_table.py: two true partners were known, by an agent, and not rivals."""
    rng = random.Random(8729)
    outcome = simulate(conditions(rng), by_both(random.Random(8729)), 8729)
    assert (outcome.wrong, outcome.ended) == (0, 0)
    assert outcome.right >= 73


@pytest.mark.parametrize(
    ("how", "ports", "kind"),
    [
        ("by CM", "one", Kind.WRITE),
        ("by CM, half of it seen", "queue pairs", Kind.READ),
        ("without CM", "per queue pair", Kind.WRITE),
        *(
            pytest.param(*given, marks=pytest.mark.exhaustive)
            for given in product(
                ["by CM", "by CM, half of it seen", "without CM"],
                ["queue pairs", "per queue pair", "one"],
                [Kind.WRITE, Kind.READ],
            )
        ),
    ],
)
def test_numbers_used_again_are_told_apart(how: str, ports: str, kind: str) -> None:
    """After DREQs nobody saw."""
    given = Conditions(kind=kind, ports=ports, message=16, window=0.05, seconds=20.0)
    outcome = simulate(given, Said(reuse=how), 1)
    assert (outcome.right, outcome.wrong) == (16, 0)


@pytest.mark.parametrize(
    ("how", "ports", "message", "seed"),
    [
        ("by CM, half of it seen", "per queue pair", 1 << 18, 1),
        ("by CM, half of it seen", "one", 1 << 18, 1),
        ("without CM", "per queue pair", 1 << 18, 1),
        ("without CM", "queue pairs", 1 << 14, 2),
    ],
)
def test_large_reads_of_numbers_used_again_are_right_or_unknown(
    how: str, ports: str, message: int, seed: int
) -> None:
    """READs of 64 MiB and 1 GiB: ports that changed, and what became of others between the hosts,
    are all there is to see. One response fits by chance."""
    given = Conditions(
        kind=Kind.READ, ports=ports, message=message, rate=2e5, window=0.02, seconds=30.0
    )
    assert simulate(given, Said(reuse=how), seed).wrong == 0


@pytest.mark.parametrize("seed", [6, 30, 58, 120, 779])
def test_numbers_used_again_are_right_or_unknown(seed: int) -> None:
    """Seeds of learning_table.py that were wrong, with one port or others than queue pairs give,
    PSNs that wrap or are equal, requests that nobody answers, or answers that wait behind READs for
    as many PSNs as lie between first ones."""
    assert simulate(*reused_network(seed), seed).wrong == 0
