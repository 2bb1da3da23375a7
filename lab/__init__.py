"""The laboratory: networks of the real programs in virtual time (docs/laboratory.md)."""
