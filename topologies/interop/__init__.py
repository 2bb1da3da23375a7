"""Real RoCEv2 stacks across the WAN: SoftRoCE guests, their transfers, the controller's mapping."""
