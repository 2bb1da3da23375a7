"""The commands of `fcn lab`."""
