"""WAN laboratory: the real programs and the real controller in virtual time."""
