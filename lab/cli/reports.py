"""`fcn lab show` and `fcn lab compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fcn.contract.pages import PageFileError, check_page_file
from fcn.controller.cli.common import ended_by, marked, say
from fcn.controller.cli.common import out as console
from fcn.lab.errors import LabError

if TYPE_CHECKING:
    from fcn.lab.report.tables import ReportTable
    from fcn.lab.result.model import Result

Page = Annotated[Path | None, typer.Option("--page", help="HTML file to write.", dir_okay=False)]


def show(
    folder: Annotated[Path, typer.Argument(help="Folder of a result.")],
    page_file: Page = None,
) -> None:
    """Show the result of a run: tables here, plots in an HTML page (default: report.html in its
    folder)."""
    from fcn.lab.report.page import compared, page
    from fcn.lab.report.tables import details
    from fcn.lab.result.folder import REPORT_FILE

    file = _page_place(page_file or folder / REPORT_FILE)
    results = {folder.resolve().name: _load(folder)}
    tables = compared(results)
    for table in tables:
        _print(table)
    for result in results.values():
        for table in details(result):
            _print(table)
    _remark(results)
    _write(page(results, tables), file)


def compare(
    folders: Annotated[list[Path], typer.Argument(help="Folders of results, two or more.")],
    page_file: Page = None,
) -> None:
    """Compare runs: what differs in their scenarios, figures side by side, plots over each other in
    an HTML page (default: compare.html beside the first folder), which shows each by itself, too,
    unless they are many. Of many runs this shows some figures, a row for each."""
    from fcn.lab.report.page import compared, many, page
    from fcn.lab.report.tables import MOST_BESIDE

    if len(folders) < 2:
        raise typer.BadParameter("give two folders or more; `fcn lab show` shows one")
    names = names_of(folders)
    file = _page_place(page_file or folders[0].resolve().parent / "compare.html")
    results = {name: _load(folder) for name, folder in zip(names, folders, strict=True)}
    tables = compared(results)
    for table in tables if len(results) <= MOST_BESIDE else many(results, tables):
        _print(table)
    _remark(results)
    _write(page(results, tables), file)


def names_of(folders: list[Path]) -> list[str]:
    """The names of the folders; their paths where names are the same."""
    spelled: dict[Path, Path] = {}
    for folder in folders:
        first = spelled.setdefault(folder.resolve(), folder)
        if first is not folder:
            raise typer.BadParameter(f"the same folder is given twice, as {first} and {folder}")
    names = [folder.name for folder in spelled]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]


@ended_by(PageFileError)
def _page_place(file: Path) -> Path:
    """Where a page may be written; asked before results are read, which takes long."""
    check_page_file(file)
    return file


@ended_by(LabError)
def _load(folder: Path) -> "Result":
    from fcn.lab.result.folder import load

    return load(folder)


def _print(table: "ReportTable") -> None:
    from fcn.lab.report.tables import rich_table

    console.print(rich_table(table))


def _remark(results: "dict[str, Result]") -> None:
    from fcn.lab.report.remarks import remarks

    for remark in remarks(results):
        console.print(f"[yellow]note:[/] {marked(remark)}", highlight=False, soft_wrap=True)


def _write(text: str, file: Path) -> None:
    from fcn.lab.result.folder import write_page

    with ended_by(LabError, PageFileError):
        write_page(text, file)
    say(f"plots and tables: {file}")
