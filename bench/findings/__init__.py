"""What the laboratory finds about the modes: grids of it, and docs/findings.md made of their tables."""
