"""CorePorts: which ports a chip's parser takes for the WAN's (p4src/tna/pe_parser.p4)."""

from collections.abc import Iterable

from finsy import P4Schema, P4ValueSetEntry
from finsy.p4entity import P4ValueSetMember
from finsy.p4values import encode_exact
from finsy.proto import p4r

from fcn.contract.names import CORE_PORTS
from fcn.controller.owners.intent import Intent


class CorePorts:
    """The parser decides by port what is the underlay's; it cannot ask the table of port roles."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def admit(self, ports: Iterable[int]) -> None:
        """Exactly these ports lead into the WAN domain."""
        members = [P4ValueSetMember(port) for port in ports]
        self._intent.put(_PortSet(CORE_PORTS, members=members))


class _PortSet(P4ValueSetEntry):
    """A value set of ports, encoded here because its P4Info lacks what finsy encodes by.

    p4c-barefoot leaves out the match of a value set. Of a set of bit<W> it is one exact field with
    ID 1 (P4Runtime specification, ValueSet in P4Info).
    """

    def encode(self, schema: P4Schema) -> p4r.Entity:
        """ValueSetEntry with one FieldMatch per port. Raises ValueError for no port number."""
        width = schema.tables["port_role"].match_fields["ingress_port"].bitwidth
        entity = p4r.Entity()
        entity.value_set_entry.value_set_id = schema.value_sets[self.value_set_id].id
        for member in self.members:
            field = entity.value_set_entry.members.add().match.add(field_id=1)
            field.exact.value = encode_exact(member.value, width)
        return entity
