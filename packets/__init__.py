"""The messages of the project as scapy layers, one module per protocol, and a Wireshark dissector.

roce         BTH, AETH and CNP (scapy's own), DETH, the opcodes the project uses
cm           the InfiniBand connection manager's MADs on queue pair 1
fast_cnp     the Fast CNP of a congested node
arn          the ARN of a congested node for its upstream neighbour
fantel       fast notifications of failure, congestion and load, behind UDP or ICMPv6
fantel_tlvs  their parameters
wire         numbers of this project's own protocols, importable without scapy
icrc         the invariant CRC, implemented independently of the data plane

docs/packets.md shows every layout and says how to add a message. Nothing in this package imports
another package of the project.
"""
