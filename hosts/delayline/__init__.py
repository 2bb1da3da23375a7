"""`fcn-delayline`: a cable of a given length between two interfaces.

Gives links between switches that have no propagation delay of their own (BMv2) one, on any kernel:
netem is missing from many.
"""

from pathlib import Path

from fcn.hosts.build import compile_cached


def fcn_delayline(*, sanitize: bool = False) -> Path:
    """Path of the compiled program; usage: fcn-delayline INTERFACE INTERFACE MICROSECONDS."""
    return compile_cached(
        "fcn-delayline", [Path(__file__).with_name("delayline.c")], sanitize=sanitize
    )
