"""Switch ports of the test bed, the same for PE and P; the runner connects all of them to ptf."""

from fcn.contract.pipeline import load_target

ALL_PORTS = load_target("pe").ports.first(5)
"""Front-panel ports of the target the programs under test are compiled for."""
DC_PORT, DC_PORT_2, CORE_PORT, CORE_PORT_2, UNUSED_PORT = ALL_PORTS
"""DC ports of a PE (core ports on a P), core ports, and a connected port that no test assigns a
role."""
