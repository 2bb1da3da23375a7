"""Certificates for a laboratory: CAs of its own, and who has what they sign (`fcn pki`)."""
