"""PacketIn and PacketOut: conversion of P4Runtime metadata from and to the @controller_header."""

from collections.abc import Iterable

from finsy.proto import p4r

from fcn.softswitch.p4rt.errors import invalid_argument
from fcn.softswitch.p4rt.schema import PACKET_OUT, Field
from fcn.softswitch.p4rt.values import decode_uint, encode_uint


class ControllerHeader:
    """The bits of a packet_in or packet_out header, first field in the most significant bits;
    zeros fill the last octet, as in simple_switch_grpc."""

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self._fields = fields
        self._by_id = {field.id: field for field in fields}
        bits = sum(field.width for field in fields)
        self.size = (bits + 7) // 8
        self._padding = 8 * self.size - bits

    def decode(self, data: bytes) -> p4r.PacketIn:
        """PacketIn of a frame sent to the CPU port; ValueError when it is too short."""
        if len(data) < self.size:
            raise ValueError(f"packet-in of {len(data)} bytes, its header alone has {self.size}")
        bits = int.from_bytes(data[: self.size], "big")
        message = p4r.PacketIn(payload=data[self.size :])
        left = self.size * 8
        for field in self._fields:
            left -= field.width
            value = (bits >> left) & ((1 << field.width) - 1)
            message.metadata.add(metadata_id=field.id, value=encode_uint(value))
        return message

    def encode(self, message: p4r.PacketOut) -> bytes:
        """The frame of a PacketOut; INVALID_ARGUMENT when its metadata is not the P4Info's."""
        values = self._values(message.metadata)
        bits = 0
        for field in self._fields:
            bits = (bits << field.width) | values[field.id]
        return (bits << self._padding).to_bytes(self.size, "big") + message.payload

    def _values(self, metadata: Iterable[p4r.PacketMetadata]) -> dict[int, int]:
        values: dict[int, int] = {}
        for item in metadata:
            field = self._by_id.get(item.metadata_id)
            if field is None:
                raise invalid_argument(f"{PACKET_OUT} has no metadata {item.metadata_id}")
            if field.id in values:
                raise invalid_argument(f"{PACKET_OUT} metadata {field.name} is given twice")
            values[field.id] = decode_uint(item.value, field.width, field.name)
        missing = [field.name for field in self._fields if field.id not in values]
        if missing:
            raise invalid_argument(f"{PACKET_OUT} metadata {missing[0]} is missing")
        return values
