"""Why TLS with a switch failed, in an operator's words."""

import pytest

from fcn.controller.node.session import _unreachable

FAILED = (
    "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:41733: Tls handshake "
    "failed (TSI_PROTOCOL_FAILURE): SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:"
    "CERTIFICATE_VERIFY_FAILED: {}: OK"
)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "certificate has expired",
            "certificate has expired: the switch's, or that of the CA in `tls`; renew it",
        ),
        (
            "certificate is not yet valid",
            "certificate is not yet valid: the switch's, or that of the CA in `tls`; are the "
            "clocks right?",
        ),
        (
            "unable to get local issuer certificate",
            "the switch's certificate is not one of the CA in `tls` (unable to get local issuer "
            "certificate)",
        ),
    ],
)
def test_a_certificate_of_a_switch_that_is_not_taken(said: str, reason: str) -> None:
    assert _unreachable(FAILED.format(said)) == reason


def test_a_switch_that_hangs_up() -> None:
    """As where it does not take the controller's certificate, because that has expired."""
    said = "failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:1: Socket closed"
    assert "is this controller's of its CA, and valid?" in _unreachable(said)
