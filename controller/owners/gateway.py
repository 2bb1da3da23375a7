"""Gateway: answers for a PE's addresses on its DC ports (p4src/forwarding/gateway.p4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from fcn.contract.names import GATEWAY_TABLES, NEIGHBOR_DIGESTS
from fcn.controller.config.notation import Address
from fcn.controller.owners.digests import enable_digests
from fcn.controller.owners.tables import Tables

MAX_LIST_SIZE = 64

_ACTIONS = {4: "answer_arp", 6: "answer_nd"}


@dataclass(frozen=True, slots=True)
class Asker:
    """A host that asked for its gateway (digest neighbor_*); in duplicate address detection
    `address` is 0.0.0.0 or ff02::1."""

    port: int
    vlan: int
    address: Address
    mac: int


class Gateway(Tables):
    """The data plane answers ARP and neighbour discovery, and reports who asks."""

    def answer(self, port: int, vlan: int, address: Address, mac: int) -> None:
        """Answer requests for `address` on a DC port (VLAN 0: untagged) with `mac`."""
        match = {"port": port, "vlan_id": vlan, "address": address}
        self.put(GATEWAY_TABLES[address.version], match, _ACTIONS[address.version], mac=mac)

    def report_askers(self) -> None:
        """Enable the digests of hosts."""
        enable_digests(self.intent, NEIGHBOR_DIGESTS.values(), MAX_LIST_SIZE)

    @staticmethod
    def asker(digest: str, item: Mapping[str, int]) -> Asker:
        """Decode an item of a digest (p4src/learning/digests.p4)."""
        address = IPv4Address if digest == NEIGHBOR_DIGESTS[4] else IPv6Address
        return Asker(item["port"], item["vlan_id"], address(item["address"]), item["mac"])
