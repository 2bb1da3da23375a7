"""Entries of tables: what a switch is to hold, and owners of those that are read back."""
