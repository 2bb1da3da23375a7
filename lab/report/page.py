"""One HTML page about one run or several: everything is in the file, nothing is loaded."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

from fcn.lab.report.amounts import show
from fcn.lab.report.compare import differences
from fcn.lab.report.plots import Plot, overlaid, plots
from fcn.lab.report.remarks import remarks
from fcn.lab.report.tables import ReportTable, details, in_short, side_by_side, turned
from fcn.lab.result.model import Result

MOST_DETAILED = 8
"""Runs that are compared and each shown with its own plots, too: a second of drawing each."""

_TEMPLATE = Path(__file__).parent / "page.html"


def page(results: Mapping[str, Result], tables: Sequence[ReportTable] | None = None) -> str:
    """The page as text; results by the names under which they appear. Of more than MOST_DETAILED
    it has only what compares them.

    tables: of all of them, as compared() makes them, where they are made already.
    """
    tables = compared(results) if tables is None else tables
    parts = list(_compared(results, tables) if len(results) > 1 else _single(results, tables))
    title = "Laboratory: " + ", ".join(results)
    template = Template(_TEMPLATE.read_text("utf-8"))
    return template.substitute(title=escape(title), body="\n".join(parts))


def compared(results: Mapping[str, Result]) -> tuple[ReportTable, ...]:
    """The tables of several results, or of one."""
    figures = side_by_side(results)
    return (differences(results), figures) if len(results) > 1 else (figures,)


def many(results: Mapping[str, Result], tables: Sequence[ReportTable]) -> tuple[ReportTable, ...]:
    """What a terminal shows of many results, whose tables are those of compared()."""
    return (turned(tables[0]), in_short(results))


def _compared(results: Mapping[str, Result], tables: Sequence[ReportTable]) -> Iterator[str]:
    yield from map(_early, results.values())
    yield from map(_remark, remarks(results))
    yield from map(_table, tables)
    yield from map(_plot, overlaid(results))
    if len(results) > MOST_DETAILED:
        yield (
            f'<p class="note">Of more than {MOST_DETAILED} runs there is only what compares them; '
            "<code>fcn lab show FOLDER</code> shows one.</p>"
        )
        return
    for name, result in results.items():
        yield f"<h2>{escape(name)}</h2>"
        yield from _details(result)


def _single(results: Mapping[str, Result], tables: Sequence[ReportTable]) -> Iterator[str]:
    for result in results.values():
        yield _early(result)
        yield from map(_remark, remarks(results))
        yield from map(_table, tables)
        yield from _details(result)


def _details(result: Result) -> Iterator[str]:
    yield from map(_plot, plots(result))
    yield from map(_table, details(result))
    yield f"<h3>Scenario</h3><pre>{escape(result.about.text)}</pre>"


def _early(result: Result) -> str:
    about = result.about
    if about.finished:
        return ""
    return (
        f'<p class="early">{escape(about.label)} ended early, after '
        f"{escape(show(about.reached_ns, 'ns'))} of {escape(show(about.duration_ns, 'ns'))}: "
        "figures are of that time only.</p>"
    )


def _remark(text: str) -> str:
    return f'<p class="early">{escape(text)}.</p>'


def _plot(plot: Plot) -> str:
    title = escape(plot.title)
    return f'<h3>{title}</h3><img alt="{title}" src="data:image/png;base64,{plot.base64}">'


def _table(table: ReportTable) -> str:
    def cell(tag: str, column: int, text: str) -> str:
        kind = ' class="number"' if column in table.numbers else ""
        return f"<{tag}{kind}>{escape(text)}</{tag}>"

    def row(tag: str, cells: tuple[str, ...]) -> str:
        return "<tr>" + "".join(cell(tag, at, text) for at, text in enumerate(cells)) + "</tr>"

    rows = "\n".join(row("td", cells) for cells in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    if not table.rows:
        return f"<h3>{escape(table.title)}</h3>{note}"
    return (
        f'<h3>{escape(table.title)}</h3><div class="scroll"><table>\n'
        f"{row('th', table.columns)}\n{rows}\n</table></div>{note}"
    )
