"""The documentation names files, headings and modules that exist."""

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.*-]+)+/?|[\w.-]+/")
MODULE = re.compile(r"fcn(?:\.\w+)+")

OTHERS = ("out/", "build/", "bf-p4c/", "ptf_tests/tests/FILE.py")
"""Not in the repository: results of runs, sources of p4c-barefoot, and a placeholder."""

SERVICES = ("fcn.softswitch.v1.Trace", "fcn.softswitch.v1.TrafficManager")
"""Names of gRPC services, which look like those of modules."""


def prose(page: Path) -> str:
    """The text of a page without its fenced blocks."""
    return FENCED.sub("", page.read_text())


def headings(page: Path) -> set[str]:
    """The anchors GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ +(.+?)\s*$", prose(page), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in kept}


def missing_links(page: Path) -> list[str]:
    """Relative links of a page whose file or heading does not exist."""
    missing = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in headings(target)):
            missing.append(link)
    return missing


def missing_paths(page: Path) -> list[str]:
    """Repository paths in backticks that do not exist; `*` stands for anything in a name."""
    paths = (code for code in CODE.findall(prose(page)) if PATH.fullmatch(code))
    return [
        path
        for path in paths
        if not path.startswith(OTHERS) and not any(ROOT.glob(path.rstrip("/")))
    ]


def missing_modules(page: Path) -> list[str]:
    """Modules of this project, or names in them, that cannot be imported."""
    missing = []
    for name in CODE.findall(prose(page)):
        if MODULE.fullmatch(name) and name not in SERVICES:
            try:
                pkgutil.resolve_name(name)
            except (ImportError, AttributeError):
                missing.append(name)
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_names_what_exists(page: Path) -> None:
    assert missing_links(page) == []
    assert missing_paths(page) == []
    assert missing_modules(page) == []


def test_what_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One two\n"
        "[a](page.md#one-two) [b](page.md#three) [c](away.md) [d](https://example.net/away)\n"
        "`hosts/roce` `hosts/*/build.py` `hosts/away/` `out/demo` `away/one.py` `make test`\n"
        "`fcn.packets.icrc` `fcn.packets.away` `fcn.packets.icrc.away`\n"
        "```\n[e](away.md) `away/two.py`\n```\n"
    )
    assert missing_links(page) == ["page.md#three", "away.md"]
    assert missing_paths(page) == ["hosts/away/", "away/one.py"]
    assert missing_modules(page) == ["fcn.packets.away", "fcn.packets.icrc.away"]


SHOWN_BY = re.compile(r"`([\w/.]+\.py)`(?:: ((?:`\w+`(?:, )?)+))?")


def test_what_shows_an_outage_exists() -> None:
    """Every test that the table of outages names, in the file it names."""
    text = (ROOT / "docs" / "operations.md").read_text()
    table = text[text.index("## When a part is away") : text.index("## When something is wrong")]
    named = [
        (file, name)
        for file, names in SHOWN_BY.findall(table)
        for name in re.findall(r"\w+", names)
    ]
    assert len(named) > 10
    for file, name in named:
        assert re.search(rf"^(?:async def|def|class) {name}\(", (ROOT / file).read_text(), re.M)
