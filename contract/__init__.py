"""What the compiled programs and the targets are: numbers, names, ports, units."""
