"""Checks of regions: each controller, and each node, is in one of them."""

from collections.abc import Iterator

from fcn.controller.config.document import KeyPath, listed
from fcn.controller.config.model import MAX_RIVALS, Config


def check_regions(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Without `regions` a node has none either."""
    regions, controllers = config.regions, config.controllers or {}
    seen: set[str] = set()
    if not regions and len(controllers) > MAX_RIVALS:
        yield (
            ("controllers",),
            f"{MAX_RIVALS} at most have the same switches; divide into `regions`",
        )
    for region, names in regions.items():
        for name in names:
            if name not in controllers:
                known = listed(controllers)
                yield ("regions", region), f"there is no controller {name!r}; there are: {known}"
            elif name in seen:
                yield ("regions", region), f"controller {name} is named twice; it has one region"
            seen.add(name)
        if not any(node.region == region for node in config.nodes.values()):
            yield ("regions", region), "no node says `region: …` of it; its controllers rule none"
    for name in controllers.keys() - seen if regions else ():
        yield ("controllers", name), "it is in no region of `regions`, and would rule nothing"
    for name, node in config.nodes.items():
        if regions and node.region is None:
            known = listed(regions)
            yield ("nodes", name), f"it needs a `region`, whose controllers rule it: {known}"
        elif node.region is not None and node.region not in regions:
            known = listed(regions)
            yield ("nodes", name, "region"), f"`regions` has no {node.region!r}; it has: {known}"
