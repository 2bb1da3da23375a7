"""A PE in place of a P: what a PE on the way of others' tunnels does is what a P does."""

from typing import ClassVar, cast

from fcn.ptf_tests.lib.beds import DOMAIN, PTest
from fcn.ptf_tests.lib.p_entries import PTables
from fcn.ptf_tests.lib.pe_entries import PeTables


class OnAPe(PTest):
    """Mixed into a test of a P, first; all its ports are core ports."""

    program: ClassVar[str] = "pe"

    def make_tables(self) -> PTables:
        """Those that every node has are all that these tests use; the domain is trusted."""
        pe = PeTables(self.client)
        pe.trust(DOMAIN)
        return cast("PTables", pe)
