"""Hook of mkdocs (mkdocs.yml): README.md is the first page, and what pages link to beside docs/ is
a part of the site."""

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "taking-part.md",
}
"""Pages of the site by files beside docs/."""

DECISIONS = "adr/README.md"
"""Gets links to all of them."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages beside docs/."""
    for name, page in BESIDE.items():
        text = _root(config).joinpath(name).read_text()
        files.append(File.generated(config, page, content=_linked(text, name, files, config)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links of a page that lead out of docs/."""
    uri = page.file.src_uri
    if uri in BESIDE.values():
        return markdown
    if uri == DECISIONS:
        decisions = sorted((_root(config) / "docs" / "adr").glob("[0-9]*.md"))
        titles = (file.read_text().partition("\n")[0].lstrip("# ") for file in decisions)
        links = [f"- [{title}]({file.name})" for title, file in zip(titles, decisions, strict=True)]
        markdown = "\n".join([markdown, *links])
    return _linked(markdown, f"docs/{uri}", files, config)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent


def _linked(text: str, name: str, files: Files, config: MkDocsConfig) -> str:
    """Links of a file of the repository as links of its page."""
    place = name.removeprefix("docs/") if name.startswith("docs/") else BESIDE[name]

    def link(match: re.Match[str]) -> str:
        image, label, target, anchor = match.groups()
        if re.match(r"[a-z]+:", target):
            return match.group()
        there = os.path.normpath(PurePosixPath(name).parent / target)
        if there.startswith("docs/"):
            page = there.removeprefix("docs/")
        elif there in BESIDE:
            page = BESIDE[there]
        elif (file := _root(config) / there).is_file():
            page = f"source/{there}"
            if page not in files.src_uris:
                files.append(File.generated(config, page, abs_src_path=str(file)))
        else:
            return label
        return (
            f"{image}[{label}]({os.path.relpath(page, PurePosixPath(place).parent)}{anchor or ''})"
        )

    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)
