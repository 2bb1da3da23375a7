"""Examples of the laboratory."""

from fcn.lab.examples.ecn.__main__ import experiment


def test_another_program_with_a_controller_of_its_own_marks_and_hosts_heed_it() -> None:
    with_ecn, without = experiment(), experiment(ecn=False)
    assert min(with_ecn.marked, with_ecn.cuts) > 0
    assert with_ecn.dropped == without.marked == without.cuts == 0
    assert with_ecn.most_packets < without.most_packets == 200, "what the queue holds"
    assert without.dropped > 0
    assert with_ecn.payload > without.payload > 0
    assert experiment() == with_ecn, "the same each time"
