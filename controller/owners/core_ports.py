"""The ports that a chip's parser treats as core ports (p4src/tna/pe/parser.p4)."""

from finsy import P4Schema, P4ValueSetEntry
from finsy.p4values import encode_exact
from finsy.proto import p4r


class PortSet(P4ValueSetEntry):
    """A value set of ports, encoded here because finsy needs a match description that is missing.

    p4c-barefoot leaves the match of a value set out of the P4Info. For a set of bit<W> it is one
    exact field with ID 1 (P4Runtime specification, ValueSet in P4Info).
    """

    def encode(self, schema: P4Schema) -> p4r.Entity:
        """ValueSetEntry with one FieldMatch per port. Raises ValueError for an invalid port."""
        width = schema.tables["port_role"].match_fields["ingress_port"].bitwidth
        entity = p4r.Entity()
        entity.value_set_entry.value_set_id = schema.value_sets[self.value_set_id].id
        for member in self.members:
            field = entity.value_set_entry.members.add().match.add(field_id=1)
            field.exact.value = encode_exact(member.value, width)
        return entity
