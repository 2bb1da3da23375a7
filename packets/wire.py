"""Numbers of this project's own protocols, importable without scapy."""

FAST_CNP_PORT = 1021
"""UDP destination port of Fast CNPs by default: RFC 4727 experimental, until TBD1 is assigned."""

ARN_PORT = 1022
"""UDP destination port of ARN messages by default: RFC 4727 experimental."""
