"""The targets, against what the compiled programs say of themselves."""

import json

import pytest
from finsy.proto import p4i

from fcn.contract.constants import PipelineError, architecture_numbers, compiled_programs
from fcn.contract.names import FLOW_TABLES
from fcn.contract.pipeline import Pipeline, load_pipeline, load_target
from fcn.contract.targets import TARGETS, TOFINO1, TOFINO2, V1MODEL, Target, target_of


@pytest.mark.parametrize(
    ("arch", "target"), [("v1model", V1MODEL), ("tna", TOFINO1), ("t2na", TOFINO2)]
)
def test_target_is_known_by_its_architecture(arch: str, target: Target) -> None:
    assert target_of(p4i.P4Info(pkg_info=p4i.PkgInfo(arch=arch))) is target
    assert target in TARGETS


def test_unknown_architecture_is_refused() -> None:
    with pytest.raises(PipelineError, match="architecture 'psa'; the controller drives v1model"):
        target_of(p4i.P4Info(pkg_info=p4i.PkgInfo(arch="psa")))


def test_target_is_known_without_the_binary() -> None:
    assert load_target("p") is V1MODEL
    assert load_target("pe", compiled_programs() / "tna") is TOFINO1


TNA = compiled_programs() / "tna"
PIPELINES = [
    load_pipeline("pe"),
    load_pipeline("p"),
    load_pipeline("pe", TNA, binary=False),
    load_pipeline("p", TNA, binary=False),
]


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: f"{p.target.name} {p.name}")
def test_programs_are_as_their_target_says(pipeline: Pipeline) -> None:
    target, tables = pipeline.target, pipeline.schema.tables
    depth = tables["queue_level"].match_fields["queue_depth"]
    assert (1 << depth.bitwidth) - 1 == target.depth.maximum
    port = tables["port_role"].match_fields["ingress_port"]
    last = target.ports.front_panel[-1][-1]
    assert last < 1 << port.bitwidth <= 2 * last
    for table in FLOW_TABLES.values() if pipeline.name == "pe" else ():
        notifies = tables[table].idle_timeout_behavior.name == "NOTIFY_CONTROL"
        assert notifies is target.idle_timeout


def test_ports_of_the_target_are_those_of_the_sources() -> None:
    recorded = json.loads((compiled_programs() / "constants.json").read_text())["architectures"]
    for target in TARGETS:
        numbers = recorded[target.architecture]
        assert (target.ports.cpu, target.ports.recirculation) == (
            numbers["CPU_PORT"],
            numbers["RECIRC_PORT"],
        )


def test_only_v1model_has_clone_sessions() -> None:
    """They lead to the recirculation port; mirror sessions of chips belong to the driver."""
    once, twice = V1MODEL.clone_sessions
    port = V1MODEL.ports.recirculation
    assert once.replicas == [(port, 1)]
    numbers = architecture_numbers("v1model")
    instances = numbers["COPY_THAT_TELLS"], numbers["COPY_THAT_ASKS"]
    assert twice.replicas == [(port, instance) for instance in instances]
    assert TOFINO1.clone_sessions == TOFINO2.clone_sessions == ()
