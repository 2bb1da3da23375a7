"""The `fcn` command."""
