"""`fcn-delayline`: forwards frames between two interfaces with a fixed delay.

It adds propagation delay to the links of switches that have none (BMv2), on any kernel: netem is
missing from many.
"""

from pathlib import Path

from fcn.hosts.build import compile_cached


def fcn_delayline(*, sanitize: bool = False) -> Path:
    """Path of the compiled program; usage: fcn-delayline INTERFACE INTERFACE MICROSECONDS."""
    return compile_cached(
        "fcn-delayline", [Path(__file__).with_name("delayline.c")], sanitize=sanitize
    )
