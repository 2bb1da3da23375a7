"""Tests that p4testgen derives from the programs, and what runs them (docs/tofino.md)."""
