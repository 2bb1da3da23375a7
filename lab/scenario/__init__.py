"""What a scenario says: a network, its hosts, traffic, events, and what to measure."""
