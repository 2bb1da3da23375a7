"""The terminal's view of a network: tables that are sorted, filtered and looked into."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Input, Static, TabbedContent, TabPane

from fcn.page import rows as r
from fcn.page.model import Flows, Frame, Picture

MOST_EVENTS = 500
"""Events that are kept."""

TABLES = (r.NODES, r.LINKS, r.FLOWS, r.PATHS, r.EVENTS)


class Said(Message):
    """What the watcher tells."""

    def __init__(self, what: Picture | Frame | Flows) -> None:
        super().__init__()
        self.what = what


class Story(ModalScreen[None]):
    """What is known of one row."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "dismiss", "Back")]

    def __init__(self, title: str, sentences: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._sentences = sentences

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="story"):
            yield Static(_plain(self._title, "bold"))
            yield Static(Text("\n").join(map(_plain, self._sentences)), id="sentences")
        yield Footer()


class Top(App[None]):
    """Shows what `watch` lets a watcher tell, which is started with the app and stopped with it."""

    TITLE = "fcn top"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #said { height: 1; padding: 0 1; }
    #said.problem { background: $error; color: $text; }
    #filter { display: none; height: 3; }
    #filter.shown { display: block; }
    .empty { color: $text-muted; padding: 0 1; }
    Story { align: center middle; }
    #story { width: 80%; height: auto; max-height: 80%; border: round $primary; padding: 1 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"table('{table.title}')", table.title)
            for key, table in zip("npfae", TABLES, strict=True)
        ),
        Binding("s", "sort", "Sort"),
        Binding("r", "reverse", "Reverse"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "clear", "All", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, api: str) -> None:
        super().__init__()
        self._api = api
        self._tables = {table.title: table for table in TABLES}
        self._sorted = {
            table.title: (table.sort, self._first(table, table.sort)) for table in TABLES
        }
        self._picture: Picture | None = None
        self._wanted = ""
        self._seen = 0.0
        self._events = 0

    @staticmethod
    def _first(table: r.Table, column: int) -> bool:
        return table.columns[column].most

    def compose(self) -> ComposeResult:
        yield Static(f"waiting for the controller at {self._api}", id="said", markup=False)
        with TabbedContent(id="tables"):
            for table in TABLES:
                with TabPane(table.title, id=f"pane-{table.title}"):
                    yield Static("", classes="empty", id=f"empty-{table.title}", markup=False)
                    yield DataTable(id=table.title, cursor_type="row", zebra_stripes=True)
        yield Input(placeholder="words that a row has; Escape: all rows", id="filter")
        yield Footer()

    def on_mount(self) -> None:
        for table in TABLES:
            self._draw(table.title)
        self._data("Nodes").focus()

    def tell(self, what: Picture | Frame | Flows) -> None:
        """To be called from any thread."""
        self.post_message(Said(what))

    def on_said(self, said: Said) -> None:
        """Show it; where nothing is known any more, the tables stay as they were."""
        if not self.is_running:
            return  # It ends, and its tables go one by one.
        match said.what:
            case Picture() as picture:
                self._picture = picture
            case Flows() as listed:
                self._fill("Flows", list(r.flows(listed)), f"{listed.total} flows")
            case Frame(problem="") as frame:
                self._show(frame)
            case Frame() as frame:
                self._say_problem(frame.problem)

    def _show(self, frame: Frame) -> None:
        self._seen = frame.time
        up = sum(node.state == "up" for node in frame.nodes)
        mode = f", notification {frame.notification}" if frame.notification else ""
        text = f"{self._api}: {up} of {len(frame.nodes)} nodes up{mode}, {_clock(frame.time)}"
        self._say(text, problem=False)
        self._fill("Nodes", list(r.nodes(frame)))
        if self._picture is not None:
            self._fill("Ports", list(r.links(frame, self._picture)))
        self._fill("Paths", list(r.paths(frame)), "no policies: one tunnel to each PE")
        events = [*self._tables["Events"].rows, *r.events(frame, self._events)]
        self._events += len(frame.events)
        self._fill("Events", events[-MOST_EVENTS:], "no events since this began")
        if frame.no_flows:
            self._fill("Flows", [], frame.no_flows)

    def _say_problem(self, problem: str) -> None:
        since = f"; below is what was at {_clock(self._seen)}" if self._seen else ""
        self._say(f"{problem}; asking again every second{since}", problem=True)

    def _say(self, text: str, *, problem: bool) -> None:
        said = self.query_one("#said", Static)
        said.update(_plain(text))
        said.set_class(problem, "problem")

    def _fill(self, title: str, rows: Sequence[r.Row], empty: str = "") -> None:
        self._tables[title] = replace(self._tables[title], rows=tuple(rows), empty=empty)
        self._draw(title)

    def _data(self, title: str) -> "DataTable[Text]":
        return self.query_one(f"#{title}", DataTable)

    def _draw(self, title: str) -> None:
        table, (column, descending) = self._tables[title], self._sorted[title]
        shown = r.ordered(table.rows, column, descending=descending, wanted=self._wanted)
        data = self._data(title)
        key, at = self._marked(data), data.cursor_row
        data.clear(columns=True)
        for number, each in enumerate(table.columns):
            sign = ("▼" if descending else "▲") if number == column else ""
            data.add_column(f"{each.title}{sign}", key=each.title)
        for row in shown:
            data.add_row(
                *(_plain(text, "bold red" if row.warns else "") for text in row.texts), key=row.key
            )
        keys = [row.key for row in shown]
        data.move_cursor(row=keys.index(key) if key in keys else min(at, max(0, len(keys) - 1)))
        none = table.empty if not table.rows else "no row has these words" if not shown else ""
        note = self.query_one(f"#empty-{title}", Static)
        note.update(_plain(none))
        note.display = bool(none)

    @staticmethod
    def _marked(data: "DataTable[Text]") -> str | None:
        if not data.row_count:
            return None
        return data.coordinate_to_cell_key(data.cursor_coordinate).row_key.value

    @property
    def _title(self) -> str:
        return self.query_one("#tables", TabbedContent).active.removeprefix("pane-")

    def action_table(self, title: str) -> None:
        self.query_one("#tables", TabbedContent).active = f"pane-{title}"
        self._data(title).focus()

    def action_sort(self) -> None:
        table = self._tables[self._title]
        column = (self._sorted[self._title][0] + 1) % len(table.columns)
        self._sorted[self._title] = (column, self._first(table, column))
        self._draw(self._title)

    def action_reverse(self) -> None:
        column, descending = self._sorted[self._title]
        self._sorted[self._title] = (column, not descending)
        self._draw(self._title)

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.add_class("shown")
        field.focus()

    def on_input_changed(self, changed: Input.Changed) -> None:
        """Show rows with these words only."""
        self._wanted = changed.value
        for title in self._tables:
            self._draw(title)

    def on_input_submitted(self) -> None:
        self._data(self._title).focus()

    def action_clear(self) -> None:
        field = self.query_one("#filter", Input)
        field.value = ""
        field.remove_class("shown")
        self._data(self._title).focus()

    def on_data_table_header_selected(self, selected: DataTable.HeaderSelected) -> None:
        """A click on a column sorts by it, a second one the other way round."""
        title = selected.data_table.id or ""
        column, descending = self._sorted[title]
        turned = not descending if column == selected.column_index else None
        first = self._first(self._tables[title], selected.column_index)
        self._sorted[title] = (selected.column_index, first if turned is None else turned)
        self._draw(title)

    def on_data_table_row_selected(self, selected: DataTable.RowSelected) -> None:
        """What is known of a row."""
        table = self._tables[selected.data_table.id or ""]
        row = next((each for each in table.rows if each.key == selected.row_key.value), None)
        if row is None:
            return
        shown = zip(table.columns, row.texts, strict=True)
        about = [f"{column.title}: {text}" for column, text in shown if text]
        self.push_screen(Story(row.key, [*about, *row.details]))


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def _plain(text: str, style: str = "") -> Text:
    """Without what a terminal obeys: switches and tenants have a say in texts."""
    if not text.isprintable():
        text = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return Text(text, style)
