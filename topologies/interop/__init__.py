"""Real RoCEv2 stacks across the WAN: SoftRoCE guests, rping and perftest, against the mapping."""
