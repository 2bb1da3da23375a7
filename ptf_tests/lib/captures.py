"""Captures of real traffic that tests replay."""

from pathlib import Path

SOFTROCE = Path(__file__).resolve().parents[1] / "data" / "softroce-rping-write-v4v6.pcap"
"""rping and a perftest write between two Linux SoftRoCE hosts, IPv4 then IPv6."""
