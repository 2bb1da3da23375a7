"""ARP and neighbour discovery on behalf of a PE's ports and of the WAN's."""
