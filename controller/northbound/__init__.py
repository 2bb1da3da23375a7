"""Northbound interfaces: the gRPC API, its client, metrics, events."""
