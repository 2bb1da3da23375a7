"""Configurations as plain data: parsed, what is wrong with them, the entries of their nodes."""

from typing import Any

import yaml
from finsy.p4entity import decode_entity

from fcn.contract.pipeline import load_pipeline
from fcn.controller.config import Config, ConfigError, parse_config
from fcn.controller.provision.provision import Provision


def parsed(data: dict[str, Any]) -> Config:
    """The configuration of this data."""
    return parse_config(yaml.safe_dump(data))


def problems(data: dict[str, Any]) -> list[tuple[str, str]]:
    """(path, message) of every problem."""
    try:
        parsed(data)
    except ConfigError as error:
        return [(problem.where, problem.message) for problem in error.problems]
    return []


def table_entries(config: Config, node: str, table: str) -> list[Any]:
    """The entries of a table that a node should hold."""
    return written(Provision(config, node, load_pipeline(config.nodes[node].role)), table)


def written(provision: Provision, *tables: str) -> list[Any]:
    """The entries of these tables."""
    schema = provision.pipeline.schema
    wanted = {schema.tables[name].id for name in tables}
    entities = [update.entity for update in provision.intent.take_updates(100_000)]
    return [decode_entity(each, schema) for each in entities if each.table_entry.table_id in wanted]
