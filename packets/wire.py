"""Numbers of this project's own protocols, importable without scapy."""

FAST_CNP_PORT = 1021
"""UDP destination port of Fast CNPs by default: RFC 4727 experimental, until TBD1 is assigned."""

ARN_PORT = 1022
"""UDP destination port of ARN messages by default: RFC 4727 experimental."""

FANTEL_PORT = 61021
"""UDP destination port of FANTEL messages by default, until TBD is assigned.

RFC 4727's two are taken; this one is of the range that is never assigned (RFC 6335, section 6),
above the source ports Linux gives.
"""

FANTEL_ICMPV6_TYPE = 200
"""ICMPv6 type of FANTEL messages: private experimentation (RFC 4443, section 2.1)."""
