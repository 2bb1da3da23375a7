"""ServiceSid: SIDs that belong to a VRF (p4src/forwarding/service_sid.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class ServiceSid:
    """Service SIDs of the node (FCN-5) and its END.CON SIDs (SRF-4)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def terminate(self, sid: IPv6Address, vrf: int) -> None:
        """Decapsulate packets to `sid` into a VRF: End.DT46 (RFC 8986 section 4.8)."""
        self._put(sid, "end_dt46", vrf)

    def notify(self, sid: IPv6Address, vrf: int) -> None:
        """Take packets to `sid` for CNPs to senders in a VRF: END.CON (draft rocev2-fcn section
        4.2.2)."""
        self._put(sid, "end_con", vrf)

    def _put(self, sid: IPv6Address, name: str, vrf: int) -> None:
        match = P4TableMatch(dst=sid)
        action = P4TableAction(name, vrf=vrf)
        self._intent.put(P4TableEntry("service_sid", match=match, action=action))
