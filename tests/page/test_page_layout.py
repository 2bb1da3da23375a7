"""Where places are, and which ways lead between them."""

from math import dist

import pytest
from scripted_controller import grid_network, line_network, network

from fcn.contract.hops import shortest
from fcn.page.layout import FLATTEST, TALLEST, layout, neighbours
from fcn.page.picture import picture_of


def test_a_line_of_nodes_is_a_line() -> None:
    points, height = layout(["a", "b", "c", "d"], [("b", "c"), ("a", "b"), ("c", "d")])
    xs = [points[name][0] for name in "abcd"]
    assert sorted(xs) in (xs, xs[::-1])
    assert min(xs) == 0
    assert max(xs) == 1
    assert {y for _, y in points.values()} == {height / 2}
    assert height == FLATTEST


def test_neighbours_are_near_and_nobody_is_in_the_place_of_another() -> None:
    picture = picture_of(grid_network())
    at = {place.name: (place.x, place.y) for place in picture.places}
    assert len(at) == 64 + 16
    apart = [dist(at[a], at[b]) for a in at for b in at if a != b]
    linked = [dist(at[a], at[b]) for a, b in (line.ends for line in picture.lines)]
    assert min(apart) > 0.03
    assert max(linked) < 0.2
    assert picture.height <= TALLEST
    for x, y in at.values():
        assert 0 <= x <= 1
        assert 0 <= y <= picture.height + 1e-9


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_nodes_without_links_have_places(names: list[str]) -> None:
    points, _ = layout(names, [])
    assert len(set(points.values())) == len(names)


def test_shortest_ways() -> None:
    near = neighbours("abcde", [("a", "b"), ("b", "c"), ("a", "d"), ("d", "c"), ("a", "b")])
    assert near["a"] == ["b", "d"]
    assert shortest("a", "c", near) in (("a", "b", "c"), ("a", "d", "c"))
    assert shortest("a", "a", near) == ("a",)
    assert shortest("a", "e", near) == ()


def test_the_picture_has_the_links_of_the_file_and_the_hosts_of_each_pe() -> None:
    picture = picture_of(line_network())
    assert [(line.ends, line.ports) for line in picture.lines] == [
        (("pe1", "p1"), (2, 1)),
        (("p1", "p2"), (2, 1)),
        (("p2", "pe2"), (2, 2)),
        (("pe1", "pe1/dc"), (None, None)),
        (("pe2", "pe2/dc"), (None, None)),
    ]
    notes = {place.name: place.note for place in picture.places if place.role == "dc"}
    assert notes == {"pe1/dc": "h-pe1", "pe2/dc": "h-pe2"}


def test_many_hosts_are_counted_and_links_to_strangers_left_out() -> None:
    found = network({"pe1": "pe"}, [("pe1", 2, "elsewhere", 1)])
    for number in range(3, 6):
        found.nodes[0].ports.add(number=number, name=str(number), role="dc")
    picture = picture_of(found)
    assert [line.ends for line in picture.lines] == [("pe1", "pe1/dc")]
    assert picture.places[1].note == "4 ports"
