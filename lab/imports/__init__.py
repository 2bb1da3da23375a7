"""Topologies and flows of other simulators, as scenarios of the laboratory."""
