"""Numbers and indices that are hashes of names: switches in the field hold them."""

from fcn.controller.config.cells import hashed, spread


def test_a_hash_stays_what_it_was() -> None:
    assert hashed("node", "p1") == 908588763
    assert hashed(17, "r1", 2) == hashed("17/r1/2")


def test_who_comes_later_gives_way() -> None:
    assert spread([("a", 3), ("b", 7), ("c", 11), ("d", 0)], 4) == {"a": 3, "b": 0, "c": 1, "d": 2}


def test_an_index_depends_on_none_that_comes_later() -> None:
    names = [(name, hashed(name)) for name in map(str, range(64))]
    few, all_ = spread(names[:40], 64), spread(names, 64)
    assert few == {name: all_[name] for name in few}
    assert set(all_.values()) == set(range(64))
