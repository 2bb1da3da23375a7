"""How tables are printed: lines of a terminal's width, or one line per row."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

_NUMERIC = frozenset(
    {
        "came up", "went down", "packets", "octets", "added", "removed", "changed", "packets/s",
        "utilization", "entries", "flows", "nbrs", "port", "level",
    }
)  # fmt: skip

_FOLDED = frozenset(
    {"switch", "features", "source", "destination", "via", "tunnel", "match", "before", "after"}
)
"""Columns that may take several lines; a number or name in two is misread."""
_FOLDED_WIDTH = 12
"""Characters of such a column, at least."""
_GAP = 2
"""Characters between columns."""
_WIDEST = 10_000
"""Characters of a cell, at most, where it need not fit a terminal."""


def table_of(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in _NUMERIC else "left",
            overflow="fold",
            no_wrap=column not in _FOLDED,
        )
    return table


def print_table(console: Console, table: Table, before: Sequence[int] = ()) -> list[int]:
    """A terminal gets lines of its width, anything else one line per row. `before`: the widths of
    the columns in the page before this one; returns those in this."""
    least = before or [0] * len(table.columns)
    if not console.is_terminal or _is_plain(console, table, least):
        return _print_lines(console, table, least)
    widest = console.options.update(max_width=_WIDEST)
    natural = [
        max([narrow, *(console.measure(each, options=widest).maximum for each in _cells(column))])
        for column, narrow in zip(table.columns, least, strict=True)
    ]
    least = [
        width if column.no_wrap else min(width, _FOLDED_WIDTH)
        for column, width in zip(table.columns, natural, strict=True)
    ]
    if sum(least) + _gaps(least) > console.width:
        _print_in_parts(console, table, natural, least)
        return natural
    whole = max(sum(natural) + _gaps(natural), console.measure(table.title or "").maximum)
    if whole <= console.width:
        for column, width in zip(table.columns, natural, strict=True):
            column.width = width
    usual = console.width
    console.width = min(whole, usual)
    console.print(table)
    console.width = usual
    return natural


def _is_plain(console: Console, table: Table, least: Sequence[int]) -> bool:
    """Whether a terminal has room for a table without colors."""
    columns = [list(column.cells) for column in table.columns]
    if table.show_header or not all(type(cell) is str for cells in columns for cell in cells):
        return False
    widths = [
        max(low, *(cell_len(str(cell)) for cell in cells))
        for low, cells in zip(least, columns, strict=True)
    ]
    return sum(widths) + _gaps(widths) <= console.width


def _print_lines(console: Console, table: Table, least: Sequence[int]) -> list[int]:
    """What rich would print of it without colors, at a tenth of the time; in tables of 100,000 rows
    that is what one waits for."""
    columns = [[_text(each) for each in _cells(column)] for column in table.columns]
    widths = [max(low, *map(cell_len, cells)) for low, cells in zip(least, columns, strict=True)]
    padded = [
        [" " * (width - cell_len(cell)) + cell for cell in cells]
        if column.justify == "right"
        else [cell + " " * (width - cell_len(cell)) for cell in cells]
        for column, cells, width in zip(table.columns, columns, widths, strict=True)
    ]
    if not table.show_header:
        padded = [cells[1:] for cells in padded]
    lines = [(" " * _GAP).join(row) for row in zip(*padded, strict=True)]
    if table.title:
        lines.insert(0, str(table.title).ljust(sum(widths) + _gaps(widths)))
    console.out("\n".join(lines), highlight=False)
    return widths


def _text(cell: RenderableType) -> str:
    if isinstance(cell, str):
        return Text.from_markup(cell).plain if "[" in cell else cell
    assert isinstance(cell, Text)
    return cell.plain


def _cells(column: Column) -> Iterator[RenderableType]:
    yield column.header
    yield from column.cells


def _gaps(widths: Sequence[int]) -> int:
    """Characters between columns of these widths."""
    return _GAP * (len(widths) - 1)


def _print_in_parts(
    console: Console, table: Table, natural: Sequence[int], least: Sequence[int]
) -> None:
    """As many columns as fit, and the others by their names below each row."""
    fitting = next(
        count
        for count in range(len(least), 0, -1)
        if count == 1 or sum(least[:count]) + _gaps(least[:count]) <= console.width
    )
    widths = list(least[:fitting])
    spare = console.width - sum(widths) - _gaps(widths)
    for index, width in enumerate(widths):
        more = min(max(spare, 0), natural[index] - width)
        widths[index], spare = width + more, spare - more
    for number, cells in enumerate(zip(*(column.cells for column in table.columns), strict=True)):
        columns = (column.copy() for column in table.columns[:fitting])
        row = Table(*columns, box=None, pad_edge=False, header_style="bold")
        row.show_header = number == 0 and table.show_header
        if number == 0:
            row.title, row.title_justify = table.title, table.title_justify
        for column, width in zip(row.columns, widths, strict=True):
            column.width = width
        row.add_row(*cells[:fitting])
        console.print(row)
        others = zip(table.columns[fitting:], cells[fitting:], strict=True)
        below = "  ".join(f"{column.header} {cell}" for column, cell in others)
        console.print(Padding(below, (0, 0, 0, _GAP)), highlight=False)
