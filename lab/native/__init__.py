"""C sources of the laboratory."""
