"""Mininet topologies, RoCEv2 hosts and the demo."""
