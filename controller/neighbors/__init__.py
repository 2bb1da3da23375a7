"""ARP and neighbour discovery on DC and core ports."""
