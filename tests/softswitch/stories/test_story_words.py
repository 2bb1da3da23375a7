"""Names and values of stories, and stories in their forms."""

from html.parser import HTMLParser

import pytest

from fcn.softswitch.stories.page import as_page
from fcn.softswitch.stories.story import (
    Cell,
    Change,
    Key,
    Lookup,
    Packet,
    Step,
    Story,
    from_json,
    to_json,
)
from fcn.softswitch.stories.text import as_text
from fcn.softswitch.stories.words import flattened, sources, value


def test_names_have_not_what_p4c_added() -> None:
    given = ["scalars", "_ethernet2", "_srv6_segment06", "_tunnel_mpls014", "_ipv417", "_ipv618"]
    expected = ["scalars", "ethernet", "srv6_segment0", "tunnel_mpls0", "ipv4", "ipv6"]
    assert list(flattened(given).values()) == expected


def test_members_of_the_metadata_have_their_struct() -> None:
    assert flattened(["pe_meta_t._base_role8"]) == {"pe_meta_t._base_role8": "meta.base_role"}
    assert flattened(["I.tmp_0"]) == {"I.tmp_0": "I.tmp_0"}


def test_values_are_written_as_what_they_are() -> None:
    assert value("dst_addr", 0x0A000001, 32) == "10.0.0.1"
    assert value("src", 1, 128) == "::1"
    assert value("dst", 0x112233445566, 48) == "11:22:33:44:55:66"
    assert value("ttl", 64, 8) == "64"
    assert value("now", 7, 48) == "0x7"
    assert value("number", 0x12345, 32) == "0x12345"


def test_what_p4c_noted_is_printed_as_one_line_and_nothing_else() -> None:
    def noted(info: object) -> dict[str, object]:
        return {"name": "n", "source_info": info}

    def first(info: object) -> tuple[str, str]:
        node = {"name": "ingress", "conditionals": [noted(info)], "tables": []}
        found = sources({"pipelines": [node], "actions": []})
        return found.texts["ingress/n"], found.places["ingress/n"]

    given = {"source_fragment": "a =\n  b \x1b[2J", "filename": "d/x.p4", "line": 7}
    assert first(given) == ("a = b ?[2J", "x.p4:7")
    for wrong in (None, 7, {}, {"source_fragment": 7, "filename": 7, "line": []}):
        assert first(wrong) == ("", "")


def _story() -> Story:
    lookup = Lookup(
        True, [Key("h.dst", "10.0.0.1", "10.0.0.0/24")], "I.go", {"port": "2"}, 5, "member"
    )
    table = Step("table", "ingress", "I.route", "", "x.p4:7", lookup=lookup)
    table.changes.append(Change("standard_metadata.egress_spec", "0", "2"))
    table.cells.append(Cell("register write", "I.r", 3, value="0x9"))
    silent = Step("condition", "ingress", "<h.isValid()>", "true")
    clone = Packet(2, "clone of ingress to session 7", ended=True)
    clone.steps.append(Step("end", "", "dropped", "the queue is full", time_ns=2000))
    steps = [silent, table, Step("copy", "", clone.how, copy=clone)]
    root = Packet(1, "received", 3, 1000, "aabb", steps, ended=True)
    return Story(root, node="pe1")


def test_a_story_survives_json() -> None:
    story = _story()
    assert from_json(to_json(story)) == story
    assert "\n" not in to_json(story)
    with pytest.raises(ValueError, match="Story"):
        from_json('{"packet": 7}')


def test_text_has_what_matters_and_on_request_all() -> None:
    text = as_text(_story(), 1)
    for part in (
        "story 1 at pe1", "received by port 3", "2 octets",
        "table I.route: hit, priority 5, I.go(port=2) of its member  (x.p4:7)",
        "key h.dst = 10.0.0.1  entry 10.0.0.0/24", "register write I.r[3] = 0x9",
        "standard_metadata.egress_spec: 0 -> 2", "+ packet 2:", "dropped (the queue is full)",
    ):  # fmt: skip
        assert part in text
    assert "isValid" not in text
    assert "if <h.isValid()>: true" in as_text(_story(), 1, full=True)


def test_a_story_that_is_not_complete_says_why() -> None:
    story = Story(Packet(1, "received", 1), False, "time is over")
    assert "not complete: time is over" in as_text(story, 1)
    assert "not complete: time is over" in as_page([story])


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_has_no_markup_of_the_program() -> None:
    page = as_page([_story()])
    assert "<h.isValid" not in page
    tags = _Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    assert "if <h.isValid()>: true" in tags.text
    assert "http" not in page
