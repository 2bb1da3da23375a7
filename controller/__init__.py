"""P4Runtime control plane of fcn and its command line."""
