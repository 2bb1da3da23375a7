"""The messages of the project as scapy layers, one module per protocol, and a Wireshark dissector.

roce      BTH, AETH and CNP (scapy's own), DETH, the opcodes the project speaks of
cm        the InfiniBand connection manager's MADs on queue pair 1
fast_cnp  the Fast CNP of a congested node
wire      numbers that are no standard protocol's, without scapy
icrc      the invariant CRC, computed apart from the data plane

docs/packets.md shows every layout. A new message is a module here, a protocol in wireshark/fcn.lua
and a section there. Nothing in this package imports another package of the project.
"""
