"""Protocols between our programs that are of none of them alone."""
