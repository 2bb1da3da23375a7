"""What the laboratory finds about the modes: grids, and docs/findings.md made of their tables."""
