"""Builds and checks committed generated files; not part of the installed package."""
