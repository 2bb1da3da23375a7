"""Programs for chips, with the port numbers of Tofino 1, which the networks of these tests have."""

import shutil
from pathlib import Path

from finsy.proto import p4i
from google.protobuf import text_format

from fcn.contract.constants import compiled_programs

LINK_PARTS = frozenset({"alternate", "bfd_session", "links_down", "links_up"})
"""Tables and counters of a P that watches links."""


def chip_programs(folder: Path, *, links: bool) -> Path:
    """Put them there; P of `fantel` watches links as that of Tofino 2, or does not."""
    shutil.copytree(compiled_programs() / "tna", folder)
    file = folder / "fantel" / "p.p4info.txtpb"
    info = text_format.Parse(file.read_text(), p4i.P4Info())
    info.pkg_info.arch = "tna"
    for parts in (info.tables, info.counters):
        kept = [part for part in parts if links or part.preamble.alias not in LINK_PARTS]
        del parts[:]
        parts.extend(kept)  # type: ignore[arg-type]
    file.write_text(text_format.MessageToString(info))
    return folder
