"""ServiceSid: SIDs that belong to a VRF (p4src/forwarding/service_sid.p4)."""

from ipaddress import IPv6Address

from fcn.controller.owners.owner import Owner


class ServiceSid(Owner):
    """Service SIDs of the node (FCN-5) and its END.CON SIDs (SRF-4)."""

    def terminate(self, sid: IPv6Address, vrf: int) -> None:
        """Decapsulate packets to `sid` into a VRF: End.DT46 (RFC 8986 section 4.8)."""
        self._put("service_sid", {"dst": sid}, "end_dt46", vrf=vrf)

    def notify(self, sid: IPv6Address, vrf: int) -> None:
        """Take packets to `sid` for CNPs to senders in a VRF: END.CON (draft rocev2-fcn section
        4.2.2)."""
        self._put("service_sid", {"dst": sid}, "end_con", vrf=vrf)
