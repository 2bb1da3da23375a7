"""The entries of a configuration in the switches of a simulation, without a running controller.

They are those of the controller's own code (`Provision`), written through the softswitch's
P4Runtime entities. Nothing is learned: flows are put by the caller (`Provision.flow_table`,
`Provision.flow_by_label`). `fcn.lab.control` runs the controller itself.
"""

from finsy.proto import p4i, p4r

from fcn.contract.pipeline import Pipeline as Compiled
from fcn.controller.config.model import Config
from fcn.controller.config.programs import program_of
from fcn.controller.owners.intent import Intent
from fcn.controller.provision.provision import Provision
from fcn.lab.errors import LabError
from fcn.softswitch.engine.control import EngineBase
from fcn.softswitch.p4rt.pipeline import Pipeline, PipelineConfig

_BATCH = 1000


def provision_of(config: Config, name: str) -> Provision:
    """The intent of a configured node, to which flows can be added."""
    return Provision(config, name, program_of(config, config.nodes[name]))


def write_entries(provision: Provision, engine: EngineBase) -> Pipeline:
    """Write a node's intent into an engine that holds nothing yet; the entities as P4Runtime reads
    them. Raises LabError when the engine does not take one."""
    return write_intent(provision.name, provision.intent, provision.pipeline, engine)


def write_intent(name: str, intent: Intent, compiled: Compiled, engine: EngineBase) -> Pipeline:
    """Write an intent for this program into the engine of node `name`, as write_entries() does."""
    pipeline = open_pipeline(compiled, engine)
    while updates := intent.take_updates(_BATCH):
        for update in updates:
            pipeline.write(p4r.Update.FromString(update.encode()), "")
        refused = intent.settle(updates, {})
        if refused:
            raise LabError(f"{name} did not take {refused[0].update}")
    return pipeline


def open_pipeline(compiled: Compiled, engine: EngineBase) -> Pipeline:
    """Takes P4Runtime's updates for an engine of this program; its messages go nowhere."""
    assert compiled.blob is not None, "load_pipeline loaded it"
    message = p4r.ForwardingPipelineConfig(p4_device_config=compiled.blob.read_bytes())
    p4info: p4i.P4Info = compiled.schema.p4info
    message.p4info.CopyFrom(p4info)
    config = PipelineConfig.parse(message)
    return Pipeline(config, engine, lambda _message: False, engine.now_ns)
