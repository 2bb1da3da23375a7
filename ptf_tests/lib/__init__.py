"""Shared parts of the packet tests: packets, P4Runtime client, node set-up, base class."""
