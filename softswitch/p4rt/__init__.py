"""P4Runtime server of the softswitch.

The core (schema, entity stores, arbitration, digest lists) does not depend on gRPC; `service` and
`trafficmanager` are the gRPC services.
"""
