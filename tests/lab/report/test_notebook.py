"""The notebook of the documentation, run as Jupyter runs it; it is kept without outputs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[3] / "docs" / "laboratory.ipynb"
STARTUP_S = 600
"""How long a kernel may take to start on a busy machine."""


def code_cells(notebook: Any) -> Iterator[Any]:  # noqa: ANN401 - nbformat has no types
    return (cell for cell in notebook.cells if cell.cell_type == "code")


@pytest.fixture(scope="module")
def executed() -> Any:  # noqa: ANN401
    """The notebook with its outputs; a cell that fails raises what it printed."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, kernel_name="python3", startup_timeout=STARTUP_S)
    client.execute(cwd=str(NOTEBOOK.parent))
    return notebook


def test_it_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))


def output(notebook: Any, source: str, kind: str) -> str:  # noqa: ANN401
    """What the cell with this in it shows."""
    (cell,) = [cell for cell in code_cells(notebook) if source in cell.source]
    (shown,) = [each for each in cell.outputs if each.output_type == "execute_result"]
    text: str = shown.data[kind]
    return text


@pytest.mark.exhaustive
def test_its_runs_show_who_reacts(executed: Any) -> None:  # noqa: ANN401
    assert "receiver" in output(executed, 'reactions(results["ecn"])', "text/plain")
    with_fcn = output(executed, 'reactions(results["fcn"])', "text/plain")
    assert "ingress PE" in with_fcn
    assert "receiver" not in with_fcn


@pytest.mark.exhaustive
def test_its_plots_are_images(executed: Any) -> None:  # noqa: ANN401
    for cell in ("overlaid(results)[0]", 'plots(results["fcn"])[1]'):
        assert len(output(executed, cell, "image/png")) > 10_000
