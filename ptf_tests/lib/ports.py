"""Switch ports of the test bed, the same for PE and P; the runner wires all of them to ptf."""

DC_PORT = 1
"""A customer's port on a PE; on a P it is one more core port."""
DC_PORT_2 = 2
CORE_PORT = 3
CORE_PORT_2 = 4
UNUSED_PORT = 5
"""Wired, but given no role by any test's configuration."""
ALL_PORTS = (DC_PORT, DC_PORT_2, CORE_PORT, CORE_PORT_2, UNUSED_PORT)
