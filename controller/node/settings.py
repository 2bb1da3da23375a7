"""Features and thresholds of a node that an operator set by command: they hold over restarts, until
the file says something else of them than it did then. So the last word counts."""

import logging

from fcn.contract.depth import Depth
from fcn.controller.config.features import Feature, feature_names, parse_features
from fcn.controller.config.notation import format_depth, parse_depth
from fcn.controller.config.queue_depths import Queue, level_problem, queue_depths
from fcn.controller.provision.provision import Provision
from fcn.controller.store import Setting, Store, StoreError

LOG = logging.getLogger("fcn")

FEATURES, THRESHOLDS = "features", "thresholds"


def keep_features(store: Store, provision: Provision, features: frozenset[Feature]) -> None:
    """These are enabled from now on. Raises StoreError."""
    setting = Setting(FEATURES, _names(features), _names(provision.node.features))
    store.set(provision.name, setting)


def keep_thresholds(
    store: Store, provision: Provision, queue: Queue, depths: tuple[Depth, ...]
) -> None:
    """The levels of this queue begin there from now on. Raises StoreError."""
    setting = Setting(_name(queue), _depths(depths), _depths(_of_file(provision).get(queue, ())))
    store.set(provision.name, setting)


Past = tuple[Setting, str]
"""A setting that is in force no longer, and why."""


def recall(store: Store, provision: Provision) -> list[Past]:
    """What was set of the node is in force, but for what cannot be any more, or what the file has
    said something else of since; returns that."""
    past: list[Past] = []
    for setting in store.settings(provision.name):
        try:
            if setting.instead_of != _said_by_file(provision, setting.name):
                raise ValueError("the file says something else since then")
            _set(provision, setting)
        except ValueError as error:
            past.append((setting, str(error)))
    return past


def as_file(provision: Provision) -> None:
    """Nothing was set of the node."""
    provision.set_features(provision.node.features)
    provision.set_thresholds(_of_file(provision))


def rebase(store: Store, provision: Provision) -> None:
    """What was said of the node while another configuration was tried, and refused, was said in
    place of what this one says. Where that cannot be written it is not in force."""
    for setting in store.settings(provision.name):
        said = _said_by_file(provision, setting.name)
        try:
            store.set(provision.name, setting._replace(instead_of=said))
        except StoreError as error:
            LOG.warning("%s", error)


def drop(store: Store, node: str, past: list[Past]) -> None:
    """These are not kept any more. Where that cannot be written they are not in force either."""
    for setting, reason in past:
        shown = setting.value or "none"
        text = "%s of %s set by command (%s) are in force no longer: %s"
        LOG.warning(text, setting.name, node, shown, reason)
        try:
            store.unset(node, setting.name)
        except StoreError as error:
            LOG.warning("%s", error)


def _set(provision: Provision, setting: Setting) -> None:
    """Raises ValueError."""
    if setting.name == FEATURES:
        names = setting.value.split(",") if setting.value else []
        provision.set_features(parse_features(names, provision.node.role))
        return
    queue = _queue(setting.name)
    depths = tuple(map(parse_depth, setting.value.split(","))) if setting.value else ()
    if queue[0] not in {port.number for port in provision.node.ports}:
        raise ValueError(f"there is no port {queue[0]} any more")
    if problem := level_problem(provision.config, len(depths)):
        raise ValueError(problem)
    others = {key: value for key, value in provision.thresholds.items() if key != queue}
    provision.set_thresholds(others | ({queue: depths} if depths else {}))


def _said_by_file(provision: Provision, name: str) -> str:
    if name == FEATURES:
        return _names(provision.node.features)
    return _depths(_of_file(provision).get(_queue(name), ()))


def _of_file(provision: Provision) -> dict[Queue, tuple[Depth, ...]]:
    return queue_depths(provision.config, provision.node)


def _names(features: frozenset[Feature]) -> str:
    return ",".join(feature_names(features))


def _depths(depths: tuple[Depth, ...]) -> str:
    return ",".join(map(format_depth, depths))


def _name(queue: Queue) -> str:
    port, number = queue
    return f"{THRESHOLDS} of port {port} queue {number}"


def _queue(name: str) -> Queue:
    """The queue of a setting's name. Raises ValueError."""
    _, _, _, port, _, number = name.split(" ")
    return int(port), int(number)
