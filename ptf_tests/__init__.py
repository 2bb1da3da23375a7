"""Packet tests of the data plane (PTF), the same suite on every target."""
