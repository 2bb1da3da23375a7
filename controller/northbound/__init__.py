"""What people and other systems are offered: the gRPC API, its client, metrics, events."""
