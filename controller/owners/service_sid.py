"""ServiceSid: SRv6 tunnels that end in a VRF (p4src/common/pe/service_sid.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class ServiceSid:
    """Service SIDs of the node (FCN-5)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def terminate(self, sid: IPv6Address, vrf: int) -> None:
        """Decapsulate packets to `sid` into a VRF: End.DT46 (RFC 8986 section 4.8)."""
        match = P4TableMatch(dst=sid)
        action = P4TableAction("end_dt46", vrf=vrf)
        self._intent.put(P4TableEntry("service_sid", match=match, action=action))
