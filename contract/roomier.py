"""A compiled program with larger flow tables, for a switch that has the memory: the softswitch
takes any size, and so does BMv2, which takes the memory at once."""

import json
from pathlib import Path

from google.protobuf import text_format

from fcn.contract.constants import PipelineError
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.contract.pipeline import Pipeline

TABLES = frozenset({*FLOW_TABLES.values(), *LABEL_TABLES.values()})


def with_flow_tables(program: Pipeline, size: int, folder: Path) -> None:
    """Write the program with so many entries in each flow table to a folder. Raises
    PipelineError."""
    if program.blob is None or program.blob.suffix != ".json":
        raise PipelineError(f"{program.p4info} is of a chip, whose tables are where they fit")
    compiled = json.loads(program.blob.read_text())
    for pipeline in compiled["pipelines"]:
        for table in pipeline["tables"]:
            if table["name"] in TABLES:
                table["max_size"] = size
    described = type(program.schema.p4info)()
    described.CopyFrom(program.schema.p4info)
    for each in described.tables:
        if each.preamble.alias in TABLES:
            each.size = size
    folder.mkdir(parents=True, exist_ok=True)
    (folder / program.blob.name).write_text(json.dumps(compiled))
    (folder / program.p4info.name).write_text(text_format.MessageToString(described))
