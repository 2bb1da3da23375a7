"""Runs the grids of the findings and writes docs/findings.md, plots, and the README's part of it.

`make findings`. Runs that are there already, in out/lab/findings, are not run again; numbers of
each grid are kept in bench/results/findings. With --document nothing is run: the
page is written of the numbers that are kept.
"""

from pathlib import Path

from fcn.bench.findings import cases, document, plots
from fcn.bench.findings.numbers import GRIDS, keep, read
from fcn.bench.harness import options_of
from fcn.controller.logs import quiet_logs
from fcn.lab.cli.sweep import sweep


@quiet_logs()
def main() -> None:
    parser = options_of("findings", __doc__, results=False)
    parser.add_argument("--grid", nargs="+", choices=GRIDS, default=GRIDS)
    parser.add_argument("--document", action="store_true", help="run nothing")
    parser.add_argument("--workers", type=int, help="processes; default: one a processor")
    parser.add_argument("--out", type=Path, default=Path("out/lab/findings"), help="of the runs")
    options = parser.parse_args()
    for name in () if options.document else options.grid:
        folder = options.out / name
        sweep(cases.grid_file(name, options.out), folder, options.workers, None)
        keep(name, folder / "runs.parquet")
    grids = {name: read(name) for name in GRIDS}
    document.write(grids)
    plots.draw(grids, document.DOCUMENT.parent)


if __name__ == "__main__":
    main()
